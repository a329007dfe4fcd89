import type { Attachment, ImageFile, SessionMessage } from './messages.ts';

/** The supported image types, each with its file extension. */
export const imageTypes = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
} as const;

export type ImageType = keyof typeof imageTypes;

/** The type of an image by its first bytes; `undefined` if it is not a supported image. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  return /^RIFF[^]{4}WEBP/.test(head) ? 'image/webp' : undefined;
}

/** An image of a prompt or of a result. */
export type MessageImage = Pick<Attachment, 'image'> & { readonly image: ImageFile };

/** The images of a message. */
export function imagesOf(message: SessionMessage): readonly MessageImage[] {
  if (message.role === 'tool') return message.image ? [{ image: message.image }] : [];
  if (message.role !== 'user') return [];
  return (message.attachments ?? []).filter(
    (one): one is Attachment & MessageImage => one.image !== undefined,
  );
}

/** Whether the last prompt has images and has not been answered yet. */
export function asksAboutImages(messages: readonly SessionMessage[]): boolean {
  return askedImages(messages).length > 0;
}

/** The images of the last prompt, unless it has been answered. */
export function askedImages(messages: readonly SessionMessage[]): readonly MessageImage[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const prompt = messages[at];
  const isAnswered = messages
    .slice(at + 1)
    .some(message => message.role === 'assistant' && message.stopReason !== 'error');
  return prompt === undefined || isAnswered ? [] : imagesOf(prompt);
}
