import * as path from 'node:path';
import { PathError, ToolError } from '../../../../base/errors.ts';
import type { ReadableFiles, Workspace } from '../../../../hold/preview/workspace.ts';
import type { FileInMemory, UnsavedFile } from '../worker/protocol.ts';
import { globBase, isGlob } from '../../../../hold/text/glob.ts';
import type { SearchRoot } from './walk.ts';

/** A workspace folder that can be searched. */
export interface SearchFolder {
  readonly name: string;
  /** The absolute path. */
  readonly fsPath: string;
  /** Globs that the user's settings exclude from searches. */
  readonly exclude: readonly string[];
}

/** The workspace as a search needs it, besides its files on disk. */
export interface SearchScope extends ReadableFiles {
  folders(): readonly SearchFolder[];
  /** Workspace paths of the files with unsaved changes. */
  unsaved(): readonly string[];
}

/**
 * The part of the workspace that `paths` select. Each is a file, a folder or a glob, relative to the workspace folder; if
 * several are open, it may begin with a folder's name.
 * @throws ToolError when a path is empty or leads outside the workspace.
 */
export async function searchRoots(
  paths: readonly string[],
  folders: readonly SearchFolder[],
  workspace: Workspace,
): Promise<SearchRoot[]> {
  if (folders.length === 0)
    throw new PathError('noWorkspace', 'No folder is open, so there are no files to search.');
  const selected = folders.map(() => new Set<string>());
  for (const each of paths) {
    const [index, relative] = splitFolder(await resolveInside(each, folders, workspace), folders);
    if (index === undefined) for (const set of selected) set.add(relative);
    else selected[index]?.add(relative);
  }
  const left = folders.map(({ fsPath }, n) =>
    handToInner(fsPath, folders, selected, selected[n] ?? new Set()),
  );
  return folders.flatMap(({ name, fsPath, exclude }, index) => {
    const own = [...(selected[index] ?? [])];
    const prefix = folders.length > 1 ? `${name}/` : '';
    const folder = slashed(fsPath).replace(/\/$/, '');
    return own.length === 0
      ? []
      : [{ folder, prefix, paths: own, exclude: [...exclude, ...(left[index] ?? [])] }];
  });
}

/**
 * Hands the selected paths of a folder on to the open folders inside it, which own their files.
 * @returns globs that leave these folders out of the outer one
 */
function handToInner(
  fsPath: string,
  folders: readonly SearchFolder[],
  selected: readonly Set<string>[],
  own: ReadonlySet<string>,
): readonly string[] {
  return folders.flatMap((other, index) => {
    const inside = slashed(path.relative(fsPath, other.fsPath));
    const inner = selected[index];
    if (inside === '' || /^\.\.(\/|$)/.test(inside) || path.isAbsolute(inside) || !inner) return [];
    let isWhole = true;
    for (const each of own)
      if (each === '' || `${inside}/`.startsWith(`${each}/`)) inner.add('');
      else if (/^\*\*(\/|$)/.test(each)) inner.add(each);
      else if (isGlob(each)) isWhole = false;
    return isWhole ? [inside.replace(/[^\p{L}\p{N}./_ -]/gu, '?')] : [];
  });
}

/**
 * Reads the files whose text is not the one on disk: unsaved or changed by a pending preview. Files that may not be read have no
 * bytes, so they are not searched.
 */
export async function readFilesInMemory(
  paths: readonly string[],
  workspace: ReadableFiles,
): Promise<FileInMemory[]> {
  const files: FileInMemory[] = [];
  for (const path of new Set(paths)) {
    try {
      files.push({ path, bytes: (await workspace.read(path)) ?? null });
    } catch (error) {
      // A file that cannot be edited is not searched either.
      if (!(error instanceof ToolError)) throw error;
      files.push({ path, bytes: null });
    }
  }
  return files;
}

/** Reads editors' unsaved content of files that are on disk, for the other names of these files. */
export async function readUnsaved(scope: SearchScope): Promise<UnsavedFile[]> {
  const paths = scope.unsaved();
  const places = await Promise.all(paths.map(path => scope.placeOf(path)));
  return (await readFilesInMemory(paths, scope)).flatMap(({ bytes }, n) => {
    const id = places[n]?.id;
    return id === undefined ? [] : [{ id, bytes }];
  });
}

/** Turns a path from the model into a workspace path or glob; empty for the whole workspace. */
async function resolveInside(
  path: string,
  folders: readonly SearchFolder[],
  workspace: Workspace,
): Promise<string> {
  const plain = slashed(path.trim())
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?<!\/)\/+$/, '');
  if (path.trim() === '') throw new ToolError('A path is empty. Use "." for the whole workspace.');
  if (plain === '.' || plain === '') {
    if (/^[/\\]/.test(path.trim()))
      throw new PathError('outside', `${path} is outside the workspace. Use "." for the whole workspace.`);
    return '';
  }
  const resolve = (existing: string): Promise<string> | string =>
    folders.length > 1 && folders.some(({ name }) => name === existing)
      ? existing
      : workspace.resolvePath(existing);
  if (!isGlob(plain)) return resolve(plain);
  const base = globBase(plain);
  if (plain.split('/').includes('..')) {
    throw new PathError('outside', `${path} contains "..". Use a glob relative to the workspace folder.`);
  }
  // Everything below a folder of the workspace is inside it: a link is either not followed, or `findFiles` checks where it leads.
  const resolved = base === '' ? '' : await resolve(base);
  return base === '' ? plain : resolved + plain.slice(base.length);
}

/** Splits a workspace path into the index of its folder and the rest; no index if it applies to every folder. */
function splitFolder(
  path: string,
  folders: readonly SearchFolder[],
): [index: number | undefined, relative: string] {
  if (folders.length < 2) return [0, path];
  const index = folders.findIndex(({ name }) => path === name || path.startsWith(`${name}/`));
  return index < 0 ? [undefined, path] : [index, path.slice((folders[index]?.name.length ?? 0) + 1)];
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}
