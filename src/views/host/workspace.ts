import * as vscode from 'vscode';
import { StalePreviewError } from '../../agent/base/errors.ts';
import type { Sha256 } from '../../agent/base/hash.ts';
import type { TextEncoding } from '../../agent/base/textCodec.ts';
import type { FileListing, FilePlace, Workspace, WrittenTo } from '../../agent/preview/workspace.ts';
import type { AstFolder } from '../../agent/tools/ast/scope.ts';
import { DiskFolders } from './diskFolders.ts';
import { bytesOfDocument, dirtyDocument, editDirtyDocument } from './dirtyDocument.ts';
import { encodingOfUri } from './encodings.ts';
import { withoutIgnored } from './gitIgnore.ts';
import { locate, withOwnNames, workspacePathOf, type FolderRoot } from './workspacePaths.ts';

/** The most files that a glob is matched against before .gitignore is asked. */
const MAX_FOUND = 50_000;

/** The workspace as VS Code has it open. Folders on disk are read and written through Node's file system. */
export class VsCodeWorkspace implements Workspace {
  readonly #disk = new DiskFolders(roots);

  async resolvePath(input: string): Promise<string> {
    return this.#disk.resolvePath(input);
  }

  /**
   * As `resolvePath`, judged by the text of the path alone.
   * @throws PathError when it leads outside, or into a protected place.
   */
  pathOf(input: string): string {
    const folders = roots();
    return workspacePathOf(locate(input, folders), folders);
  }

  /** The URI of a workspace path. */
  uriOf(path: string): vscode.Uri {
    const { folder, relative } = locate(path, roots());
    return vscode.Uri.joinPath(folder.uri, relative);
  }

  /** The folders as a search by structure sees them. */
  folders(): readonly AstFolder[] {
    return roots().map(({ name, uri, fsPath }) => ({ name, fsPath, exclude: excludedGlobs(uri) }));
  }

  /** Workspace paths of documents with changes that are not saved. */
  unsaved(): readonly string[] {
    return vscode.workspace.textDocuments.flatMap(({ isDirty, uri }) => {
      if (!isDirty || uri.scheme !== 'file' || !vscode.workspace.getWorkspaceFolder(uri)) return [];
      try {
        return [this.pathOf(uri.fsPath)];
      } catch {
        return []; // git's own, such as the message of a commit
      }
    });
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const uri = this.uriOf(path);
    const document = dirtyDocument(uri);
    return document ? bytesOfDocument(document, path) : this.#disk.read(path);
  }

  async encodingOf(path: string): Promise<TextEncoding> {
    return encodingOfUri(this.uriOf(path));
  }

  async write(
    path: string,
    bytes: Uint8Array | null,
    expected: Sha256 | null,
    mode?: number,
  ): Promise<WrittenTo> {
    const uri = this.uriOf(path);
    const document = dirtyDocument(uri);
    if (document) {
      this.#disk.resolvePath(path);
      await editDirtyDocument(document, path, bytes, expected);
      return 'editor';
    }
    const guard = (): void => {
      if (dirtyDocument(uri)) throw new StalePreviewError([path]);
    };
    await this.#disk.write(path, bytes, expected, { mode, guard });
    return 'disk';
  }

  placeOf(path: string): Promise<FilePlace> {
    return this.#disk.placeOf(path);
  }

  tidy(paths: readonly string[], folders: readonly string[]): Promise<void> {
    return this.#disk.tidy(paths, folders);
  }

  async list(glob: string, limit: number, signal: AbortSignal): Promise<FileListing> {
    const cancel = new vscode.CancellationTokenSource();
    const onAbort = (): void => cancel.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const folders = roots();
      const found = await Promise.all(folders.map(folder => listFolder(folder, glob, folders, cancel.token)));
      const paths = found.flat().sort();
      return { paths: paths.slice(0, limit), truncated: paths.length > limit };
    } finally {
      signal.removeEventListener('abort', onAbort);
      cancel.dispose();
    }
  }
}

interface Root extends FolderRoot {
  readonly uri: vscode.Uri;
}

function roots(): readonly Root[] {
  const folders = (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(({ name, uri }) => ({ name, uri, fsPath: uri.fsPath }));
  return withOwnNames(folders);
}

/** Globs that the person's settings leave out of searches. */
function excludedGlobs(folder: vscode.Uri): string[] {
  return ['files', 'search'].flatMap(section => {
    const globs = vscode.workspace
      .getConfiguration(section, folder)
      .get<Record<string, unknown>>('exclude', {});
    return Object.keys(globs).filter(glob => globs[glob] === true);
  });
}

async function listFolder(
  folder: Root,
  glob: string,
  folders: readonly Root[],
  token: vscode.CancellationToken,
): Promise<string[]> {
  const pattern = new vscode.RelativePattern(folder.uri, glob);
  const found = await vscode.workspace.findFiles(pattern, undefined, MAX_FOUND, token);
  const prefix = folder.uri.path.endsWith('/') ? folder.uri.path : `${folder.uri.path}/`;
  const relatives = found
    .map(uri => uri.path.slice(prefix.length))
    .filter(relative => !/(^|\/)\.git(\/|$)/.test(relative));
  const kept = await withoutIgnored(folder.fsPath, relatives);
  return kept.map(relative => workspacePathOf({ folder, relative }, folders));
}
