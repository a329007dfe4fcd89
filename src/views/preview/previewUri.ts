import { posix } from 'node:path';
import * as vscode from 'vscode';
import { PathError } from '../../agent/base/errors.ts';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';

/** The proposal, or what it was made on; `deleted` is the base of a file that has no other side to be shown with. */
export type PreviewSide = 'base' | 'proposal' | 'deleted';

/** What a preview document's URI says. It never holds state: that lives in the store. */
export interface PreviewAddress {
  readonly previewId: string;
  readonly side: PreviewSide;
  /** The path of the file's own URI, or of the readable document of an opaque preview. */
  readonly path: string;
}

/**
 * Where a change's file lives; its path is the path of the preview document.
 * @throws PathError for what is in no open folder
 */
export type FileUris = (workspacePath: string) => vscode.Uri;

/**
 * The path of a file's preview documents. One whose folder is not open has one too: what was proposed for it can still be
 * looked at.
 */
export function documentPath(path: string, files: FileUris): string {
  try {
    return files(path).path;
  } catch (error) {
    if (error instanceof PathError) return posix.normalize(`/${path}`);
    throw error;
  }
}

/** The document of one change. */
export function changeUri(
  previewId: string,
  change: FileChange,
  side: PreviewSide,
  files: FileUris,
): vscode.Uri {
  return previewUri({ previewId, side, path: documentPath(change.path, files) });
}

/**
 * The readable document that stands for a preview without file changes. It looks like Markdown, in a language of its own: in
 * that of VS Code the links of its text, which others wrote, would run commands.
 */
export function opaqueUri(preview: Preview, side: PreviewSide): vscode.Uri {
  return previewUri({ previewId: preview.id, side, path: `/${preview.id}.redline-document` });
}

export function parsePreviewUri(uri: vscode.Uri): PreviewAddress | undefined {
  if (uri.scheme !== PREVIEW_SCHEME) return undefined;
  const side = uri.query === 'base' || uri.query === 'deleted' ? uri.query : 'proposal';
  return { previewId: uri.authority, side, path: uri.path };
}

function previewUri({ previewId, side, path }: PreviewAddress): vscode.Uri {
  return vscode.Uri.from({
    scheme: PREVIEW_SCHEME,
    authority: previewId,
    path,
    query: side === 'proposal' ? '' : side,
  });
}
