import * as vscode from 'vscode';
import type { SentImage } from '../../agent/model/sentImages.ts';

/** What later versions of VS Code have for images than the one that the types are of. Any of it may be missing. */
interface ImageApi {
  readonly LanguageModelDataPart?: {
    image(data: Uint8Array, mimeType: string): vscode.LanguageModelInputPart;
  };
}

interface WithCapabilities {
  readonly capabilities?: { readonly supportsImageToText?: boolean };
}

const { LanguageModelDataPart: DataPart } = vscode as ImageApi;

/** Whether the model says that it takes images, and this VS Code can pass them on. */
export function takesImages(model: vscode.LanguageModelChat): boolean {
  const { capabilities } = model as WithCapabilities;
  return DataPart !== undefined && capabilities?.supportsImageToText === true;
}

/** The image as a part of a message. @throws if this VS Code cannot pass images on, see `takesImages`. */
export function imagePart({ type, data }: SentImage): vscode.LanguageModelInputPart {
  if (!DataPart) throw new Error('This version of VS Code passes no images on to models.');
  return DataPart.image(data, type);
}
