import * as vscode from 'vscode';
import { detailOf } from '../../../agent/base/errors.ts';
import type { Logger } from '../../../agent/base/logger.ts';
import { ImageRefusal, type ImageFiles } from '../../../agent/session/conversation/storage/imageFiles.ts';
import { MAX_IMAGE_BYTES } from '../../../agent/session/model/messages.ts';
import type { ReadableFiles } from '../../../agent/hold/preview/workspace.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';
import type { AttachmentRef, WebviewMessage } from '../protocol.ts';

/** Stores images that the user pastes and attaches. If one cannot be stored, the user is told why. */
export class ImageAttachments {
  readonly #images: ImageFiles;
  readonly #workspace: ReadableFiles;
  readonly #logger: Logger;
  readonly #webview: () => vscode.Webview | undefined;

  /** @param webview the panel, if it is there */
  constructor(
    images: ImageFiles,
    workspace: ReadableFiles,
    logger: Logger,
    webview: () => vscode.Webview | undefined,
  ) {
    this.#images = images;
    this.#workspace = workspace;
    this.#logger = logger;
    this.#webview = webview;
  }

  /** The address of an image in the panel; empty if there is none. */
  srcOf(file: string): string {
    const path = this.#images.pathOf(file);
    const uri = path === undefined ? undefined : vscode.Uri.file(path);
    return (uri && this.#webview()?.asWebviewUri(uri).toString()) ?? '';
  }

  /** The reference to a pasted image; none if it cannot be taken. */
  async pasted({
    name,
    data,
    bytes,
  }: Extract<WebviewMessage, { type: 'pasteImage' }>): Promise<AttachmentRef[]> {
    const read = () => Promise.resolve(bytes > MAX_IMAGE_BYTES ? undefined : Buffer.from(data, 'base64'));
    const image = await this.#add(name, read);
    return image ? [{ path: name || '-', image }] : [];
  }

  /** Replaces a reference to an image file by one to a stored copy of it. */
  async withImage(ref: AttachmentRef): Promise<AttachmentRef> {
    if (ref.startLine !== undefined || !/\.(?:png|jpe?g|gif|webp)$/i.test(ref.path)) return ref;
    const image = await this.#add(ref.path, () => this.#workspace.read(ref.path));
    return image ? { path: ref.path, image } : ref;
  }

  async #add(name: string, read: () => Promise<Uint8Array | undefined>): Promise<AttachmentRef['image']> {
    try {
      const content = await read();
      if (!content) throw new ImageRefusal('tooLarge');
      const image = await this.#images.add(content);
      return { ...image, src: this.srcOf(image.file) };
    } catch (error) {
      this.#logger.warn(`An image was not attached: ${detailOf(error)}`);
      void showInfo(problemSentence(oneLine(name, 80), error));
      return undefined;
    }
  }
}

function problemSentence(name: string, error: unknown): string {
  const why = error instanceof ImageRefusal ? error.why : undefined;
  if (why === 'tooLarge') return vscode.l10n.t('{0} is larger than 5 MB and was not attached.', name);
  if (why === 'notAnImage')
    return vscode.l10n.t('{0} is not a PNG, JPEG, GIF or WebP image and was not attached.', name);
  return vscode.l10n.t('{0} could not be stored and was not attached.', name);
}
