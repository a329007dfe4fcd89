import { PathError, ToolError } from '../../base/errors.ts';
import type { Workspace } from '../../preview/workspace.ts';
import { globBase, isGlob } from './glob.ts';
import type { SeenFile } from './protocol.ts';
import type { SearchRoot } from './walk.ts';

/** A workspace folder as a search sees it. */
export interface AstFolder {
  readonly name: string;
  /** The absolute path. */
  readonly fsPath: string;
  /** Globs of what the person does not want to see in searches. */
  readonly exclude: readonly string[];
}

/** What a search has to know of the workspace beside its files on disk. */
export interface AstScope {
  folders(): readonly AstFolder[];
  /** Workspace paths of files whose text as the person sees it is not the one on disk. */
  unsaved(): readonly string[];
}

/**
 * The part of the workspace that paths select: files, folders and globs, relative to the workspace folder, or beginning
 * with a folder's name where several are open.
 * @throws ToolError when a path is empty or leads outside.
 */
export async function rootsOf(
  paths: readonly string[],
  folders: readonly AstFolder[],
  workspace: Pick<Workspace, 'resolvePath'>,
): Promise<SearchRoot[]> {
  if (folders.length === 0)
    throw new PathError('noWorkspace', 'No folder is open, so there are no files to search.');
  const selected = folders.map(() => new Set<string>());
  for (const path of paths) {
    const [index, relative] = split(await inside(path, folders, workspace), folders);
    if (index === undefined) for (const set of selected) set.add(relative);
    else selected[index]?.add(relative);
  }
  return folders.flatMap(({ name, fsPath, exclude }, index) => {
    const own = [...(selected[index] ?? [])];
    const prefix = folders.length > 1 ? `${name}/` : '';
    return own.length === 0
      ? []
      : [{ folder: slashed(fsPath).replace(/\/$/, ''), prefix, paths: own, exclude }];
  });
}

/** The texts of files that are not on disk as they are seen, as far as they may be read. */
export async function seenFiles(scope: AstScope, workspace: Pick<Workspace, 'read'>): Promise<SeenFile[]> {
  const files: SeenFile[] = [];
  for (const path of scope.unsaved()) {
    try {
      files.push({ path, bytes: (await workspace.read(path)) ?? null });
    } catch (error) {
      // What cannot be edited is not searched either.
      if (!(error instanceof ToolError)) throw error;
      files.push({ path, bytes: null });
    }
  }
  return files;
}

/** The path as a workspace path or glob; empty for everything. */
async function inside(
  path: string,
  folders: readonly AstFolder[],
  workspace: Pick<Workspace, 'resolvePath'>,
): Promise<string> {
  const plain = slashed(path.trim())
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/+$/, '');
  if (path.trim() === '') throw new ToolError('A path is empty. Use "." for the whole workspace.');
  if (plain === '.' || plain === '') {
    if (/^[/\\]/.test(path.trim())) throw new PathError('outside', `${path} is outside the workspace.`);
    return '';
  }
  const resolve = (existing: string): Promise<string> | string =>
    folders.length > 1 && folders.some(({ name }) => name === existing)
      ? existing
      : workspace.resolvePath(existing);
  if (!isGlob(plain)) return resolve(plain);
  const base = globBase(plain);
  if (plain.split('/').includes('..')) {
    throw new PathError('outside', `${path} leads upwards. Use a glob relative to the workspace folder.`);
  }
  // What lies below a folder inside the workspace is inside, as links are not followed.
  const resolved = base === '' ? '' : await resolve(base);
  return base === '' ? plain : resolved + plain.slice(base.length);
}

/** The folder that a workspace path names and the rest of it; no folder where it means all of them. */
function split(path: string, folders: readonly AstFolder[]): [index: number | undefined, relative: string] {
  if (folders.length < 2) return [0, path];
  const index = folders.findIndex(({ name }) => path === name || path.startsWith(`${name}/`));
  return index < 0 ? [undefined, path] : [index, path.slice((folders[index]?.name.length ?? 0) + 1)];
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}
