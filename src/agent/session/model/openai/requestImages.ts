import { isRecord } from '../../../base/json.ts';
import type { SessionMessage } from '../messages.ts';
import { loadImages, type ReadImage } from '../sentImages.ts';

/** The newest images of a conversation as data URLs, by their files. */
export async function loadImageUrls(
  messages: readonly SessionMessage[],
  read: ReadImage | undefined,
): Promise<ReadonlyMap<string, string>> {
  const images = await loadImages(messages, read);
  return new Map(
    [...images].map(([file, { type, data }]) => [
      file,
      `data:${type};base64,${Buffer.from(data).toString('base64')}`,
    ]),
  );
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
