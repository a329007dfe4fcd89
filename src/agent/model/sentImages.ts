import { imagesOf } from './images.ts';
import type { ImageFile, SessionMessage } from './messages.ts';

/** Reads an image by its file; `undefined` if it is no longer there. */
export type ReadImage = (file: string) => Promise<Uint8Array | undefined>;

/** An image of a request. */
export interface SentImage {
  readonly type: ImageFile['type'];
  readonly data: Uint8Array;
}

/** The most bytes of images in one request. Older ones are left out. */
const MAX_BYTES = 20 * 1_048_576;

/** The newest images of a conversation, by their files. */
export async function loadImages(
  messages: readonly SessionMessage[],
  read: ReadImage | undefined,
): Promise<ReadonlyMap<string, SentImage>> {
  const images = new Map<string, SentImage>();
  let bytes = 0;
  for (const { image } of messages.toReversed().flatMap(imagesOf)) {
    bytes += images.has(image.file) ? 0 : image.bytes;
    if (bytes > MAX_BYTES) break;
    const data = await read?.(image.file);
    if (data) images.set(image.file, { type: image.type, data });
  }
  return images;
}

/** Whether a refusal says that the model takes no images, and not only that one of them cannot be used. */
export function refusesImages(text: string): boolean {
  return (
    /(?:not support|that support|not an? )[^"]{0,40}(?:image|vision|multi-?modal)/i.test(text) ||
    /(?:image|vision|multi-?modal)[^"]{0,40}(?:not (?:supported|enabled|configured)|unsupported|only supported by)/i.test(
      text,
    ) ||
    /at most 0 image|unknown variant \W*image_url|mmproj/i.test(text)
  );
}
