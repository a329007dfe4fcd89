import * as path from 'node:path';
import { copyOfGit } from '../view/copiedGit.ts';
import type { PlainTree } from '../view/plainTree.ts';

/** A folder outside the copy that is shown in it, read-only. */
export interface ShownFolder {
  /** Absolute. */
  readonly from: string;
  /** The path at which it is shown, relative to the folder of the workspace: an empty folder in the copy. */
  readonly at: string;
}

/** The folder in the copy's `.git` that shows the objects of the real repository. */
export const REAL_OBJECTS = 'redline-objects';
/** Folders of `.git` that the view shows instead of copying them: they are large, and git only adds files. */
const SHOWN = ['modules', 'lfs'];

/**
 * Gives the copy a repository of its own, with a copy of branches, index and settings. It keeps its new objects, and reads
 * those of the real one. So commits in the copy stay there, and commits in the real one change nothing in it.
 * @param real the folder of the workspace
 * @param repository the folder that `.git` is in, relative to both.
 * @returns the folders that must be shown, and those of the real repository's alternate objects.
 */
export async function privateGit(
  root: string,
  real: PlainTree,
  copy: PlainTree,
  repository: string,
): Promise<{ readonly shown: readonly ShownFolder[]; readonly readable: readonly string[] }> {
  const git = path.posix.join(repository, '.git');
  const shown: ShownFolder[] = [];
  const show = async (name: string, at: string): Promise<void> => {
    await copy.makeFolders(`${git}/${at}`);
    shown.push({ from: path.join(root, git, name), at: `${git}/${at}` });
  };
  await copy.makeFolders(git, real);
  for await (const part of real.parts(git))
    for (const { name, isUtf8, kind } of part)
      if (name === 'objects' || name === 'worktrees' || name.endsWith('.lock') || !isUtf8) continue;
      else if (!SHOWN.includes(name)) await copyOfGit(`${git}/${name}`, real, copy);
      else if (kind === 'folder') await show(name, name);
  if ((await real.stat(`${git}/objects`))?.isDirectory()) await show('objects', REAL_OBJECTS);
  // Relative to the folder of the objects.
  await copy.write(`${git}/objects/info/alternates`, Buffer.from(`../${REAL_OBJECTS}\n`));
  const exclude = await copy.read(`${git}/info/exclude`);
  await copy.makeFolders(`${git}/info`);
  await copy.write(
    `${git}/info/exclude`,
    Buffer.from(`${Buffer.from(exclude ?? []).toString()}\n/${STATUS_FILE}\n`),
  );
  const alternates = await real.read(`${git}/objects/info/alternates`);
  const lines = Buffer.from(alternates ?? [])
    .toString()
    .split('\n');
  return { shown, readable: lines.filter(line => path.isAbsolute(line)) };
}

/** The file in which the agent reads the decisions. Only the view has it. */
export const STATUS_FILE = 'REDLINE.md';
