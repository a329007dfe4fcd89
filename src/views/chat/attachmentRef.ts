import type { AttachmentRef } from './protocol.ts';

/** `cart.ts:3-8`: what a chip says. */
export function refLabel(ref: AttachmentRef): string {
  return ref.path.slice(ref.path.lastIndexOf('/') + 1) + lines(ref);
}

/** `src/cart.ts:3-8`. */
export function refName(ref: AttachmentRef): string {
  return ref.path + lines(ref);
}

function lines({ startLine, endLine }: AttachmentRef): string {
  if (startLine === undefined) return '';
  return endLine === undefined || endLine === startLine ? `:${startLine}` : `:${startLine}-${endLine}`;
}
