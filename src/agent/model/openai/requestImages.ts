import { isRecord } from '../../base/json.ts';
import { imagesOf } from '../images.ts';
import type { SessionMessage } from '../messages.ts';

/** Reads an image by its file; `undefined` if it is no longer there. */
export type ReadImage = (file: string) => Promise<Uint8Array | undefined>;

/** The most bytes of images in one request. Older ones are left out. */
const MAX_BYTES = 20 * 1_048_576;

/** The newest images of a conversation as data URLs, by their files. */
export async function loadImages(
  messages: readonly SessionMessage[],
  read: ReadImage | undefined,
): Promise<ReadonlyMap<string, string>> {
  const urls = new Map<string, string>();
  let bytes = 0;
  for (const { image } of messages.toReversed().flatMap(imagesOf)) {
    bytes += urls.has(image.file) ? 0 : image.bytes;
    if (bytes > MAX_BYTES) break;
    const content = await read?.(image.file);
    if (!content) continue;
    urls.set(image.file, `data:${image.type};base64,${Buffer.from(content).toString('base64')}`);
  }
  return urls;
}

/**
 * Whether a model takes images, as its entry in the server's list says: `architecture.input_modalities` (OpenRouter),
 * `capabilities.vision` (Mistral) or `capabilities` (llama.cpp). Undefined if it does not say.
 */
export function takesImages(entry: unknown): boolean | undefined {
  if (!isRecord(entry)) return undefined;
  const { architecture, capabilities } = entry;
  const modalities = isRecord(architecture) ? architecture['input_modalities'] : undefined;
  if (Array.isArray(modalities)) return modalities.includes('image');
  if (Array.isArray(capabilities))
    return capabilities.includes('multimodal') || capabilities.includes('vision');
  const vision = isRecord(capabilities) ? capabilities['vision'] : undefined;
  return typeof vision === 'boolean' ? vision : undefined;
}

/** Whether a refusal says that the model takes no images, and not only that one of them cannot be used. */
export function refusesImages(body: string): boolean {
  return (
    /(?:not support|that support|not an? )[^"]{0,40}(?:image|vision|multi-?modal)/i.test(body) ||
    /(?:image|vision|multi-?modal)[^"]{0,40}(?:not (?:supported|enabled|configured)|unsupported|only supported by)/i.test(
      body,
    ) ||
    /at most 0 image|unknown variant \W*image_url|mmproj/i.test(body)
  );
}

/** A copy of a body of a request in which the type and size of each image stand for its data. */
export function withoutImageData(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutImageData);
  if (!isRecord(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      name === 'url' && typeof value === 'string' ? typeAndSize(value) : withoutImageData(value),
    ]),
  );
}

function typeAndSize(url: string): string {
  const [, type, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? url : `[${type}, ${Buffer.byteLength(data, 'base64')} bytes]`;
}
