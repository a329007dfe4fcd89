import { askedImages, imagesOf } from './images.ts';
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

/**
 * How servers refuse one of the images of a request:
 * - Anthropic, also by way of Copilot: "image dimensions exceed max allowed size: 8000 pixels", for many images 2000, "image exceeds
 *   5 MB maximum" (https://platform.claude.com/docs/en/build-with-claude/vision), "Could not process image";
 * - OpenAI: "You uploaded an unsupported image", `invalid_image_format`, "Invalid image data"; Gemini: "Unable to process input image";
 * - vLLM: "At most 1 image(s) may be provided"; llama.cpp: "Failed to load image", "failed to process image".
 */
const REFUSED_IMAGE =
  /image[^"]{0,60}(?:exceed|too (?:large|big|many)|larger than|not valid|invalid|could not|cannot|corrupt|does not match|decode)|(?:could not|unable to|failed to|cannot|at most \d+|too many|invalid|unsupported|corrupt(?:ed)?)[^"]{0,30}image/i;

/** Whether a refusal says that an image cannot be used, because of its size, its form or the number of images. */
export function refusesAnImage(text: string): boolean {
  return !refusesImages(text) && REFUSED_IMAGE.test(text);
}

/**
 * The images that a model's server has refused. They are left out of each later request, since the server would refuse them again
 * every time. No server says reliably which image it means.
 */
export class RefusedImages {
  readonly #refusals = new Map<string, unknown>();

  /** The images that have not been refused, by their files. */
  accepted<T>(images: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
    return new Map([...images].filter(([file]) => !this.#refusals.has(file)));
  }

  /** The refusal of an image of the prompt that waits for its answer; `undefined` if none was refused. */
  refusalOfAsked(messages: readonly SessionMessage[]): unknown {
    const asked = askedImages(messages).find(({ image }) => this.#refusals.has(image.file));
    return asked && this.#refusals.get(asked.image.file);
  }

  /**
   * Learns from a refusal of some of the images: the older ones are suspected first, then those of the prompt that waits for its
   * answer. Suspecting those clears the older ones.
   * @param accepted all images that could have been sent.
   */
  learn(
    refusal: unknown,
    sent: ReadonlyMap<string, unknown>,
    accepted: ReadonlyMap<string, unknown>,
    messages: readonly SessionMessage[],
  ): void {
    const asked = new Set(askedImages(messages).map(({ image }) => image.file));
    const older = [...sent.keys()].filter(file => !asked.has(file));
    for (const file of older.length > 0 ? older : sent.keys()) this.#refusals.set(file, refusal);
    if (older.length > 0) return;
    for (const file of accepted.keys()) if (!asked.has(file)) this.#refusals.delete(file);
  }
}
