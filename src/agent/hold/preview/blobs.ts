import { ToolError } from '../../base/errors.ts';
import { sha256, type Sha256 } from '../../base/hash.ts';
import { bytesOfSide, isLink, isText, type BinarySide, type FileSide } from './fileChange.ts';
import { MAX_FILE_BYTES, type FileContent } from './workspace.ts';

/**
 * Contents of binary files, which previews name by hash. The store keeps them beside the log, never in it, and removes those
 * that nothing names.
 */
export interface Blobs {
  /**
   * Keeps bytes. A log entry may name them once this has settled.
   * @throws ToolError if there are too many of them; any error of the file system.
   */
  put(bytes: Uint8Array): Promise<BinarySide>;
  /** @throws ToolError if they are gone or damaged; any error of the file system. */
  get(side: BinarySide): Promise<Uint8Array>;
}

/** Keeps contents as long as the process runs. */
export class MemoryBlobs implements Blobs {
  protected readonly bytes = new Map<Sha256, Uint8Array>();

  async put(bytes: Uint8Array): Promise<BinarySide> {
    const side = binarySide(bytes);
    this.bytes.set(side.hash, bytes);
    return side;
  }

  async get({ hash }: BinarySide): Promise<Uint8Array> {
    const bytes = this.bytes.get(hash);
    if (!bytes) throw contentGone(hash);
    return bytes;
  }
}

/** Keeps contents in memory until they are moved to a storage. */
export class UnstoredBlobs extends MemoryBlobs {
  #stored: Blobs | undefined;

  override async put(bytes: Uint8Array): Promise<BinarySide> {
    return (await this.#stored?.put(bytes)) ?? super.put(bytes);
  }

  override async get(side: BinarySide): Promise<Uint8Array> {
    return (await this.#stored?.get(side).catch(() => undefined)) ?? super.get(side);
  }

  /** @throws any error of the file system; then they are in memory, too */
  async moveTo(stored: Blobs): Promise<void> {
    for (const bytes of this.bytes.values()) await stored.put(bytes);
    this.#stored = stored;
  }
}

/** @throws ToolError if the file is larger than previews can hold. */
export function binarySide(bytes: Uint8Array): BinarySide {
  if (bytes.length > MAX_FILE_BYTES)
    throw new ToolError('A binary file over 5 MB, the limit for files here, cannot be held back.');
  return { hash: sha256(bytes), size: bytes.length };
}

export function contentGone(hash: Sha256): ToolError {
  return new ToolError(
    `the content of the binary file with the SHA-256 ${hash.slice(0, 12)}… is gone from Redline's storage, or damaged`,
  );
}

/** The content that a side writes to a file. @throws as {@link Blobs.get} */
export async function contentOf(side: FileSide, blobs: Blobs): Promise<FileContent> {
  if (isLink(side)) return { link: side.link };
  return isText(side) ? bytesOfSide(side) : blobs.get(side);
}
