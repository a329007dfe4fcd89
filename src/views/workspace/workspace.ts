import * as vscode from 'vscode';
import { TimeSlice } from '../../agent/base/async.ts';
import { ToolError } from '../../agent/base/errors.ts';
import { StalePreviewError, UnsavedEditorError } from '../../agent/hold/preview/errors.ts';
import type { Sha256 } from '../../agent/base/hash.ts';
import { realPlaceSync } from '../../agent/base/system/realPath.ts';
import type { Look, ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';
import type {
  FileContent,
  FileListing,
  FilePlace,
  FolderRoot,
  ResolveOptions,
  Workspace,
  WrittenTo,
} from '../../agent/hold/preview/workspace.ts';
import type { TextEncoding } from '../../agent/hold/text/encodings.ts';
import { excludeMatcher, globMatcher } from '../../agent/hold/text/glob.ts';
import type { SearchFolder } from '../../agent/session/tools/ast/scope/searchScope.ts';
import { bytesOfDocument, dirtyDocument, isDirtyInOtherEditor } from './dirtyDocument.ts';
import { readDiskFile, whileOthersHaveIt, writeDiskFile } from './diskFile.ts';
import { makeFoldersOnDisk, placeOnDisk, tidyDisk } from './diskFolders.ts';
import { encodingOfUri } from './fileEncoding.ts';
import { excludedGlobs } from './excludedGlobs.ts';
import type { Looks } from './findings.ts';
import type { OwnProtections } from './protectedFiles.ts';
import {
  assertNewNamesVisible,
  belowOpenFolder,
  diskPathOf,
  formerPlaces,
  isThere,
  locate,
  withUniqueNames,
  workspacePathOf,
  type WorkspaceLocation,
} from './workspacePaths.ts';

const realPaths = () => import('./realPaths.ts');
const fileRights = () => import('./fileRights.ts');

/**
 * The workspace that is open in VS Code. A file is read and written through Node's file system, but through its document if
 * that has unsaved changes.
 */
export class VsCodeWorkspace implements Workspace, ResolvingFiles {
  readonly #roots: () => readonly Root[];
  #looks: Looks | undefined;
  readonly #protections: () => OwnProtections;
  /** Yields after this many calls in a row. */
  readonly #slice = new TimeSlice();

  /**
   * @param protections places that are protected besides the built-in ones.
   * @param folders the open folders; only those with the scheme `file` are used.
   */
  constructor(
    protections: () => OwnProtections,
    folders: () => readonly vscode.WorkspaceFolder[] = () => vscode.workspace.workspaceFolders ?? [],
  ) {
    this.#protections = protections;
    this.#roots = () => rootsOf(folders());
  }

  async resolvePath(input: string, options?: ResolveOptions): Promise<string> {
    const { resolvePath } = await realPaths();
    return resolvePath(input, this.#roots(), options);
  }

  /**
   * Like `resolvePath`, but judged by the text of the path alone: symlinks are not followed.
   * @throws PathError when it leads outside the workspace, into a protected place, or to a new name that cannot be seen.
   */
  pathOf(input: string): string {
    const location = this.#locate(input);
    assertNewNamesVisible(location);
    return workspacePathOf(location, this.#roots());
  }

  /** The URI of a workspace path. */
  uriOf(path: string): vscode.Uri {
    return uriAt(this.#locate(path));
  }

  /** The open folders, with the names that workspace paths begin with and the globs that settings exclude from searches. */
  folders(): readonly SearchFolder[] {
    return this.#roots().map(({ name, uri, fsPath }) => ({ name, fsPath, exclude: excludedGlobs(uri) }));
  }

  /** The open folders without the parts that only searches need. */
  folderRoots(): readonly FolderRoot[] {
    return this.#roots().map(({ name, fsPath }) => ({ name, fsPath }));
  }

  formerPlaces(paths: readonly string[], roots: readonly FolderRoot[]): ReadonlyMap<string, string> {
    return formerPlaces(paths, roots, this.folderRoots());
  }

  /**
   * Workspace paths of files with unsaved changes in a document: by their real places, since searches follow no links and a
   * document may have been opened by any name, such as one through a link to the open folder.
   */
  unsaved(): readonly string[] {
    const folders = this.folderRoots();
    const paths = vscode.workspace.textDocuments.flatMap(({ isDirty, uri }) => {
      if (!isDirty || uri.scheme !== 'file') return [];
      try {
        return [this.pathOf(belowOpenFolder(realPlaceSync(uri.fsPath), folders))];
      } catch {
        return []; // outside the open folders, or one of git's own files, such as a commit message
      }
    });
    return [...new Set(paths)];
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const at = this.#locate(path);
    const uri = uriAt(at);
    const document = dirtyDocument(uri);
    if (document) return bytesOfDocument(document, path);
    if (isDirtyInOtherEditor(uri)) throw new UnsavedEditorError(path);
    await this.#slice.turn();
    const file = diskPathOf(at);
    let real = file;
    const bytes = await whileOthersHaveIt(path, () => readDiskFile(file, path, found => (real = found)));
    if (real !== file) (await realPaths()).assertInside(path, at, real);
    return bytes;
  }

  async encodingOf(path: string): Promise<TextEncoding> {
    return encodingOfUri(this.uriOf(path));
  }

  async lineEndingAt(path: string): Promise<'\n' | '\r\n'> {
    const at = this.#locate(path);
    const { lineEndingOfNewFile } = await import('./newLineEnding.ts');
    return lineEndingOfNewFile({
      file: diskPathOf(at),
      root: at.folder.fsPath,
      setting: vscode.workspace.getConfiguration('files', uriAt(at)).get('eol', 'auto'),
      isTrusted: vscode.workspace.isTrusted,
    });
  }

  async write(
    path: string,
    bytes: Uint8Array | null,
    expected: Sha256 | null,
    mode?: number,
  ): Promise<WrittenTo> {
    const { assertRealPathInside } = await realPaths();
    const at = this.#locate(path);
    const uri = uriAt(at);
    const document = dirtyDocument(uri);
    if (document) {
      assertRealPathInside(path, at);
      const isModeKept = mode === undefined || placeOnDisk(path, this.#roots()).mode === mode;
      const { editDirtyDocument } = await import('./editDirtyDocument.ts');
      await editDirtyDocument(document, path, bytes, expected, isModeKept);
      return 'editor';
    }
    const guard = (): void => {
      if (dirtyDocument(uri)) throw new StalePreviewError([path]);
      if (isDirtyInOtherEditor(uri)) throw new UnsavedEditorError(path);
    };
    await this.#slice.turn();
    await whileOthersHaveIt(path, () => {
      assertRealPathInside(path, at);
      writeDiskFile(diskPathOf(at), path, bytes, expected, { mode, guard });
    });
    return 'disk';
  }

  async replace(
    path: string,
    content: FileContent | null,
    expected: Sha256 | null,
    mode?: number,
  ): Promise<void> {
    const { replaceOnDisk } = await import('./diskReplace.ts');
    const { assertRealFolderInside } = await realPaths();
    const at = this.#locate(path);
    const uri = uriAt(at);
    const guard = (): void => {
      if (dirtyDocument(uri))
        throw new ToolError(`${path} has unsaved changes. It must be saved or reverted first.`);
      if (isDirtyInOtherEditor(uri)) throw new UnsavedEditorError(path);
    };
    await this.#slice.turn();
    guard();
    assertRealFolderInside(path, at);
    replaceOnDisk(diskPathOf(at), path, content, expected, { mode, guard });
  }

  async isProtected(paths: readonly string[], look?: Look): Promise<boolean> {
    const { isProtectedOnDisk } = await import('./protectedFiles.ts');
    const { Looks } = await import('./findings.ts');
    const recent = (this.#looks ??= new Looks()).of(look);
    return isProtectedOnDisk(paths, this.#roots(), this.#protections(), recent);
  }

  async placeOf(path: string): Promise<FilePlace> {
    await this.#slice.turn();
    const isUnsaved = dirtyDocument(this.uriOf(path)) !== undefined;
    return { ...placeOnDisk(path, this.#roots()), ...(isUnsaved ? { isUnsaved } : {}) };
  }

  async rightsOf(paths: readonly string[]): ReturnType<Workspace['rightsOf']> {
    return (await fileRights()).rightsOnDisk(paths, this.#roots());
  }

  async giveRights(rights: Parameters<Workspace['giveRights']>[0]): Promise<void> {
    await (await fileRights()).giveRightsOnDisk(rights, this.#roots());
  }

  async addName(path: string, name: string, expected: Sha256): Promise<boolean> {
    await this.#slice.turn();
    const uris = [path, name].map(each => this.uriOf(each));
    if (uris.some(uri => dirtyDocument(uri) !== undefined || isDirtyInOtherEditor(uri))) return false;
    return (await fileRights()).addNameOnDisk(path, name, expected, this.#roots());
  }

  async makeFolders(modes: Readonly<Record<string, number>>): Promise<void> {
    makeFoldersOnDisk(modes, this.#roots());
  }

  async tidy(paths: readonly string[], folders: readonly string[]): Promise<void> {
    await this.#slice.turn();
    tidyDisk(paths, folders, this.#roots());
  }

  async sync(paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const { syncOnDisk } = await import('./diskSync.ts');
    return syncOnDisk(paths, this.#roots());
  }

  list(glob: string, limit: number, signal: AbortSignal, planned?: readonly string[]): Promise<FileListing> {
    return this.#list(glob, limit, signal, notIgnoredIn, { planned });
  }

  /** Like `list`, but also without the files that `search.exclude` hides; with all files if `ignored` ones are wanted, too. */
  listForSearch(glob: string, limit: number, signal: AbortSignal, ignored = false): Promise<FileListing> {
    const all = (_: Root, found: readonly string[]): Promise<readonly string[]> => Promise.resolve(found);
    return this.#list(glob, limit, signal, ignored ? all : visibleToSearchIn, { isAll: ignored });
  }

  /** The given workspace paths without those that are hidden from searches. The files need not exist. */
  async visibleToSearch(paths: readonly string[]): Promise<readonly string[]> {
    const roots = this.#roots();
    const located = paths.map(path => this.#locate(path));
    const seen = await Promise.all(
      roots.map(async root => {
        const own = located.filter(({ folder }) => folder.name === root.name);
        const relatives = own.map(({ relative }) => relative);
        return (await visibleToSearchIn(root, relatives)).map(relative =>
          workspacePathOf({ folder: root, relative }, roots),
        );
      }),
    );
    return seen.flat();
  }

  #locate(path: string): WorkspaceLocation<Root> {
    return locate(path, this.#roots());
  }

  async #list(
    glob: string,
    limit: number,
    signal: AbortSignal,
    visible: (folder: Root, found: readonly string[]) => Promise<readonly string[]>,
    {
      isAll = false,
      planned = [],
    }: { readonly isAll?: boolean; readonly planned?: readonly string[] | undefined },
  ): Promise<FileListing> {
    const cancel = new vscode.CancellationTokenSource();
    const onAbort = (): void => cancel.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const roots = this.#roots();
      let isCut = false;
      const { findIn } = await import('./findFiles.ts');
      const matches = await globMatcher(planned.length > 0 ? [glob] : []);
      const made = planned.map(path => this.#locate(path)).filter(({ relative }) => matches(relative));
      const found = await Promise.all(
        roots.map(async folder => {
          const own = made.flatMap(at => (at.folder.name === folder.name ? at.relative : []));
          const onDisk = await findIn(folder, glob, isAll, cancel.token);
          isCut ||= onDisk.isCut;
          const relatives = await visible(folder, [...onDisk.files, ...own]);
          return relatives.map(relative => {
            const location = { folder, relative };
            return { path: workspacePathOf(location, roots), file: diskPathOf(location) };
          });
        }),
      );
      const paths: string[] = [];
      for (const { path, file } of found.flat().sort((a, b) => (a.path < b.path ? -1 : 1))) {
        await this.#slice.turn();
        // A file in a folder inside another one is found in both. If a name has line breaks, VS Code takes each line for a separate
        // file.
        if (paths.length <= limit && paths.at(-1) !== path && (isThere(file) || planned.includes(path)))
          paths.push(path);
      }
      return { paths: paths.slice(0, limit), truncated: isCut || paths.length > limit };
    } finally {
      signal.removeEventListener('abort', onAbort);
      cancel.dispose();
    }
  }
}

interface Root extends FolderRoot {
  readonly uri: vscode.Uri;
}

function rootsOf(folders: readonly vscode.WorkspaceFolder[]): readonly Root[] {
  const roots = folders
    .filter(folder => folder.uri.scheme === 'file')
    .map(({ name, uri }) => ({ name, uri, fsPath: uri.fsPath }));
  return withUniqueNames(roots);
}

function uriAt({ folder, relative }: WorkspaceLocation<Root>): vscode.Uri {
  return vscode.Uri.joinPath(folder.uri, relative);
}

/** The given files of a folder without those that settings or ignore files hide from searches. */
async function visibleToSearchIn(folder: Root, files: readonly string[]): Promise<readonly string[]> {
  const isExcluded = await excludeMatcher(excludedGlobs(folder.uri));
  return notIgnoredIn(
    folder,
    files.filter(relative => !isExcluded(relative)),
  );
}

async function notIgnoredIn(folder: Root, files: readonly string[]): Promise<readonly string[]> {
  const { withoutIgnored } = await import('../../agent/session/tools/ast/scope/ignoreRules.ts');
  return withoutIgnored(folder.fsPath, files);
}
