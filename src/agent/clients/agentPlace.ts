import { realpathSync } from 'node:fs';
import * as path from 'node:path';
import { safeName } from '../base/safeName.ts';
import { PathError } from '../base/errors.ts';
import { isInside } from '../base/system/realPath.ts';
import { exists } from '../hold/preview/meantPath.ts';
import type { FolderRoot, Workspace } from '../hold/preview/workspace.ts';
import { gitFoldersOf } from '../sandbox/view/bubblewrap.ts';
import { realPathOf } from './windowFiles.ts';

/** The place of an agent's folder among the folders of the window. */
interface Place {
  /** Its folder as a workspace path; empty for the workspace folder itself. Workspace paths begin with it. */
  readonly prefix: string;
  /** The workspace folder, if the agent's folder is in another worktree of the same repository. */
  readonly otherThan: string | undefined;
}

/**
 * The workspace as an agent names its files: a relative path means the folder in which the agent works.
 * @param cwd that folder, as a real path
 * @param readsOnly the call changes nothing: then a path that Redline has shown, which begins at the workspace folder, counts too
 */
export function seenFrom(
  cwd: string,
  workspace: Workspace,
  folders: () => readonly FolderRoot[],
  readsOnly: boolean,
): Workspace {
  return {
    ...workspace,
    resolvePath: async (input, options) => {
      const resolve = (named: string): Promise<string> => workspace.resolvePath(named, options);
      const isThere = async (named: string): Promise<boolean> => {
        const at = await resolve(named).catch(() => undefined);
        return at !== undefined && exists(workspace, at);
      };
      if (!isRelative(input)) return resolve(input);
      const { prefix, otherThan } = await placeOf(cwd, folders());
      if (otherThan !== undefined && !readsOnly)
        throw new PathError(
          'outside',
          `You work in another worktree, ${safeName(cwd)}, and changes for the checkout ${safeName(otherThan)} go to its user. Nothing was staged. Give the absolute path of the file that you mean.`,
        );
      const own = path.posix.join(prefix, input);
      if (prefix === '' || (await isThere(own))) return resolve(own);
      if (!(await isThere(input))) return resolve(own);
      if (readsOnly) return resolve(input);
      throw new PathError(
        'outside',
        `${safeName(input)} is in the workspace folder, not in ${safeName(prefix)}, where you work. Relative paths mean your folder. Nothing was staged. Give an absolute path.`,
      );
    },
  };
}

/** False for an absolute path of any system, a path in the home folder, a URL, or text in quotes. */
function isRelative(input: string): boolean {
  return !/^\s*(?:[/\\~$%"'`<“‘]|[a-z][a-z0-9+.-]*:)/i.test(input);
}

async function placeOf(cwd: string, folders: readonly FolderRoot[]): Promise<Place> {
  const roots = await Promise.all(
    folders.map(async ({ name, fsPath }) => ({ name, root: await realPathOf(fsPath) })),
  );
  const [own] = roots
    .filter(({ root }) => isInside(cwd, root))
    .toSorted((a, b) => b.root.length - a.root.length);
  const [first] = roots;
  const from = own ?? (roots.length === 1 ? first : undefined);
  if (!from) return { prefix: '', otherThan: undefined };
  const relative = path.relative(from.root, cwd).replaceAll(path.sep, '/');
  return {
    prefix: roots.length === 1 ? relative : path.posix.join(from.name, relative),
    otherThan: own && isOtherWorktree(cwd, own.root) ? own.root : undefined,
  };
}

function isOtherWorktree(cwd: string, root: string): boolean {
  for (let at = cwd; at !== root && isInside(at, root); at = path.dirname(at)) {
    const [common] = gitFoldersOf(at);
    if (common !== undefined) return [realGit(root), ...gitFoldersOf(root)].includes(common);
  }
  return false;
}

function realGit(root: string): string | undefined {
  try {
    return realpathSync.native(path.join(root, '.git'));
  } catch {
    return undefined;
  }
}
