import { createHash, randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { replaceFile } from '../../../base/system/replaceFile.ts';
import { imageTypeOf, imageTypes } from '../../model/images.ts';
import { MAX_IMAGE_BYTES, type ImageFile } from '../../model/messages.ts';

/** The folder of images whose prompt is not sent yet. */
const DRAFTS = 'drafts';
/** How long an image of a prompt that was never sent is kept, in milliseconds: a week. */
const DRAFT_MS = 7 * 24 * 60 * 60 * 1000;
const FILE = /^[\w-]+\.images\/[0-9a-f]{64}\.(?:png|jpg|gif|webp)$/;

/** Why an image cannot be attached. */
export class ImageRefusal extends Error {
  override readonly name = 'ImageRefusal';
  readonly why: 'tooLarge' | 'notAnImage';

  constructor(why: 'tooLarge' | 'notAnImage') {
    super(why);
    this.why = why;
  }
}

/** The folder of a session's images. It is beside the session's log, and is deleted with it. */
export function imageFolderOf(sessionId: string): string {
  return `${sessionId}.images`;
}

/**
 * The images that users attach to prompts. They are files beside the logs of the sessions, named by their content, so that
 * the logs stay small.
 */
export class ImageFiles {
  /** The folder of the sessions. */
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Stores an image for a prompt that is not sent yet. @throws ImageRefusal; any error of the file system. */
  async add(bytes: Uint8Array): Promise<ImageFile> {
    if (bytes.length > MAX_IMAGE_BYTES) throw new ImageRefusal('tooLarge');
    const type = imageTypeOf(bytes);
    if (!type) throw new ImageRefusal('notAnImage');
    const hash = createHash('sha256').update(bytes).digest('hex');
    const file = `${imageFolderOf(DRAFTS)}/${hash}.${imageTypes[type]}`;
    await this.#forgetOldDrafts();
    await this.#write(file, temporary => writeFile(temporary, bytes));
    return { file, type, bytes: bytes.length };
  }

  /** Makes an image belong to a session. @returns undefined if it is no longer there. */
  async keep(image: ImageFile, sessionId: string): Promise<ImageFile | undefined> {
    const source = this.pathOf(image.file);
    const bytes = await this.read(image.file);
    // The webview named the type, so it is checked again.
    const type = bytes && imageTypeOf(bytes);
    if (source === undefined || !bytes || !type) return undefined;
    const file = `${imageFolderOf(sessionId)}/${path.basename(source)}`;
    if (file !== image.file) await this.#write(file, temporary => copyFile(source, temporary));
    return { file, type, bytes: bytes.length };
  }

  /** The bytes of an image; `undefined` if it is not there. */
  async read(file: string): Promise<Uint8Array | undefined> {
    const full = this.pathOf(file);
    return full === undefined ? undefined : readFile(full).catch(() => undefined);
  }

  /** The path of an image's file; `undefined` for anything that is not the name of one. */
  pathOf(file: string): string | undefined {
    return FILE.test(file) ? path.join(this.folder, file) : undefined;
  }

  /** Another window or call may be writing the same image, so the file gets its name only once it is complete. */
  async #write(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
    const full = path.join(this.folder, file);
    await mkdir(path.dirname(full), { recursive: true });
    const temporary = `${full}.${randomUUID()}.tmp`;
    try {
      await write(temporary);
      await replaceFile(temporary, full);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async #forgetOldDrafts(now = Date.now()): Promise<void> {
    const folder = path.join(this.folder, imageFolderOf(DRAFTS));
    for (const name of await readdir(folder).catch(() => [])) {
      const file = path.join(folder, name);
      const stats = await stat(file).catch(() => undefined);
      if (stats && now - stats.mtimeMs > DRAFT_MS) await rm(file, { force: true });
    }
  }
}
