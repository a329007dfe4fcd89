import * as path from 'node:path';
import { copyOfGit } from '../view/copiedGit.ts';
import type { PlainTree } from '../view/plainTree.ts';

/** A folder outside the copy that is shown in it, read-only. */
export interface ShownFolder {
  /** Absolute. */
  readonly from: string;
  /** Where it is shown, relative to the folder of the workspace; it is an empty folder in the copy. */
  readonly at: string;
}

/** Where the objects of the real repository are shown in its copy. */
const REAL_OBJECTS = 'redline-objects';
/** What of `.git` is not copied but shown: it is large, and what it holds is only added to. */
const SHOWN = ['modules', 'lfs'];

/**
 * Makes a repository of the copy's own: branches, index and settings are copied, new objects are its own, and those of the real
 * one are read. So what is committed in the copy stays there, and what is committed in the real one changes nothing in it.
 * @param real the folder of the workspace
 * @param repository the folder that has it, relative to both.
 * @returns what must be shown, and the folders that the real objects are completed from.
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

/** The file in which the agent reads what was decided. It is in the view alone. */
export const STATUS_FILE = 'REDLINE.md';
