import { escapeInvisible } from '../../plainText.ts';
import { MAX_ATTACHMENTS, type AttachmentRef } from '../protocol.ts';

/** `cart.ts:3-8`, the label of a chip. */
export function attachmentLabel(ref: AttachmentRef): string {
  return escapeInvisible(ref.path.slice(ref.path.lastIndexOf('/') + 1)) + lineSuffix(ref);
}

/** `src/cart.ts:3-8`, with the whole path. */
export function attachmentName(ref: AttachmentRef): string {
  return escapeInvisible(ref.path) + lineSuffix(ref);
}

/**
 * Key that identifies an attachment. A label cannot, because plain characters in one may look like an escaped character in another.
 * Two references to the same lines of one file have the same key.
 */
function attachmentKey({ path, startLine, endLine = startLine, image }: AttachmentRef): string {
  return JSON.stringify(image ? [image.file] : [path, startLine, endLine]);
}

/** The references without duplicates: a later one takes the place of an earlier one. */
export function withoutDuplicates(refs: readonly AttachmentRef[]): readonly AttachmentRef[] {
  return [...new Map(refs.map(ref => [attachmentKey(ref), ref])).values()];
}

/** The attached files, then those named in the text, without duplicates and without lines of files that are attached whole. */
export function withNamed(
  refs: readonly AttachmentRef[],
  named: readonly AttachmentRef[],
): readonly AttachmentRef[] {
  const attached = new Set(refs.map(attachmentKey));
  const more = named.filter(
    ref =>
      !attached.has(attachmentKey(ref)) &&
      !refs.some(({ path, startLine }) => path === ref.path && !startLine),
  );
  return [...refs, ...more].slice(0, MAX_ATTACHMENTS);
}

function lineSuffix({ startLine, endLine }: AttachmentRef): string {
  if (startLine === undefined) return '';
  return endLine === undefined || endLine === startLine ? `:${startLine}` : `:${startLine}-${endLine}`;
}
