import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { copyOfGit } from '../sandbox/copiedGit.ts';

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
 * @param repository the folder that has it, relative to both.
 * @returns what must be shown, and the folders that the real objects are completed from.
 */
export async function privateGit(
  root: string,
  copy: string,
  repository: string,
): Promise<{ readonly shown: readonly ShownFolder[]; readonly readable: readonly string[] }> {
  const real = path.join(root, repository, '.git');
  const own = path.join(copy, repository, '.git');
  const shown: ShownFolder[] = [];
  await fs.mkdir(path.join(own, 'objects', 'info'), { recursive: true });
  await fs.mkdir(path.join(own, 'info'));
  for (const name of await fs.readdir(real)) {
    if (name === 'objects' || name === 'worktrees' || name.endsWith('.lock')) continue;
    if (SHOWN.includes(name)) {
      await fs.mkdir(path.join(own, name));
      shown.push({ from: path.join(real, name), at: path.posix.join(repository, '.git', name) });
    } else await copyOfGit(path.join(real, name), path.join(own, name));
  }
  const objects = path.join(real, 'objects');
  await fs.mkdir(path.join(own, REAL_OBJECTS));
  shown.push({ from: objects, at: path.posix.join(repository, '.git', REAL_OBJECTS) });
  // Relative to the folder of the objects.
  await fs.writeFile(path.join(own, 'objects', 'info', 'alternates'), `../${REAL_OBJECTS}\n`);
  await fs.appendFile(path.join(own, 'info', 'exclude'), `\n/${STATUS_FILE}\n`);
  const alternates = await fs.readFile(path.join(objects, 'info', 'alternates'), 'utf8').catch(() => '');
  return { shown, readable: alternates.split('\n').filter(line => path.isAbsolute(line)) };
}

/** The file in which the agent reads what was decided. It is in the view alone. */
export const STATUS_FILE = 'REDLINE.md';
