import { posix } from 'node:path';
import * as vscode from 'vscode';
import { PathError } from '../../agent/base/errors.ts';
import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';

/** The proposal or its base; `deleted` is the base of a file that the preview deletes, which has no proposal side. */
export type PreviewSide = 'base' | 'proposal' | 'deleted';

/** The parts of a preview document's URI. State is never among them; it lives in the store. */
export interface PreviewAddress {
  readonly previewId: string;
  readonly side: PreviewSide;
  /** The path of the file's own URI, or of the document of an opaque preview. */
  readonly path: string;
  /** The image itself, not the text that describes it. */
  readonly isImage?: boolean;
}

/**
 * The URI of a workspace file. Its preview documents have the same path.
 * @throws PathError if the file is in no open folder
 */
export type FileUris = (workspacePath: string) => vscode.Uri;

/**
 * The path of a file's preview documents. A file whose folder is not open has one too, so that its previews can still
 * be viewed.
 */
export function documentPath(path: string, files: FileUris): string {
  try {
    return files(path).path;
  } catch (error) {
    if (error instanceof PathError) return posix.normalize(`/${path}`);
    throw error;
  }
}

/** The preview document of one side of a change. */
export function changeUri(
  previewId: string,
  change: FileChange,
  side: PreviewSide,
  files: FileUris,
): vscode.Uri {
  return previewUri({ previewId, side, path: documentPath(change.path, files) });
}

/** The image of one side of a change. @param mark `imageMark`, which comes after the name of a proposed one */
export function imageUri(
  previewId: string,
  change: FileChange,
  side: PreviewSide,
  files: FileUris,
  mark: string,
): vscode.Uri {
  const path = documentPath(change.path, files);
  return previewUri({ previewId, side, path: side === 'proposal' ? path + mark : path, isImage: true });
}

/** The URI of a change in a row: for the URI of the document itself, VS Code would draw a lock in place of the letter. */
export function rowUri(previewId: string, change: FileChange, files: FileUris): vscode.Uri {
  const shown = changeUri(previewId, change, change.after ? 'proposal' : 'deleted', files);
  return shown.with({ query: `${shown.query}&row` });
}

/** The document of a file's proposal. @param path that of {@link documentPath}. */
export function proposalUri(previewId: string, path: string): vscode.Uri {
  return previewUri({ previewId, side: 'proposal', path });
}

/**
 * The readable document of a preview without file changes. It is Markdown under a language id of its own: under VS Code's
 * `markdown`, links in its text, which others wrote, could run commands.
 */
export function opaqueUri(preview: Preview, side: PreviewSide): vscode.Uri {
  // VS Code shows the name above the text. Menus use it to tell whether it is a plan, which can be edited.
  return previewUri({ previewId: preview.id, side, path: `/${preview.kind}.redline-document` });
}

export function parsePreviewUri(uri: vscode.Uri): PreviewAddress | undefined {
  if (uri.scheme !== PREVIEW_SCHEME) return undefined;
  const [named = '', image] = uri.query.split('&');
  const side = named === 'base' || named === 'deleted' ? named : 'proposal';
  const { authority: previewId, path } = uri;
  if (image !== 'image') return { previewId, side, path };
  return { previewId, side, path: side === 'proposal' ? path.replace(IMAGE_MARK, '') : path, isImage: true };
}

/** The `imageMark` at the end of the name of a proposed image, with its number. */
export const IMAGE_MARK = / \(Redline(?: ([1-9]\d*))?\)\.\w+$/;

function previewUri({ previewId, side, path, isImage }: PreviewAddress): vscode.Uri {
  const query = side === 'proposal' ? '' : side;
  return vscode.Uri.from({
    scheme: PREVIEW_SCHEME,
    authority: previewId,
    path,
    query: isImage ? `${query}&image` : query,
  });
}
