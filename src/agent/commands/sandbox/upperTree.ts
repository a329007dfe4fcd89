import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { messageWithoutPaths } from '../../base/errors.ts';
import { findAt, isMissing, PlainFolder, type Effects } from './effects.ts';
import { ignoredOf } from './ignored.ts';
import type { MountedFolder } from './bubblewrap.ts';

/** A folder of the workspace with the state of its overlay. */
export interface Layer extends MountedFolder {
  /** How its workspace paths begin. */
  readonly prefix: string;
  readonly upper: string;
}

/** What a command may have changed: where, as a path relative to the folder, and the parts of it that git ignores. */
interface Changed {
  readonly paths: readonly string[];
  readonly ignored: readonly string[];
}

/** The folders of the upper tree that lead to a path in it, with the permission bits of the real ones. Follows no link. */
export async function makeFolders(
  { root, upper }: Pick<Layer, 'root' | 'upper'>,
  relative: string,
): Promise<void> {
  if (relative === '.') return;
  await makeFolders({ root, upper }, path.dirname(relative));
  const folder = path.join(upper, relative);
  const there = await fs.lstat(folder).catch(() => undefined);
  if (there?.isDirectory()) return;
  if (there) await removeTree(folder);
  // Another one may make it at the same time.
  await fs.mkdir(folder, { recursive: true });
  const real = await fs.lstat(path.join(root, relative)).catch(() => undefined);
  if (real?.isDirectory()) await fs.chmod(folder, real.mode & 0o777);
}

/**
 * Walks an upper tree, level by level, so that git is asked once for each. Nothing below what is ignored is looked at.
 * @param lower what the overlay covers, if that is not the folder itself
 */
export async function changedPaths(
  layer: Layer,
  merged: string,
  effects: Effects,
  lower = layer.root,
): Promise<Changed> {
  const paths: string[] = [];
  const ignored: string[] = [];
  const real = new PlainFolder(lower);
  let level = [''];
  while (level.length > 0 && !effects.isTooMuch) {
    const found: { readonly path: string; readonly isFolder: boolean }[] = [];
    const seen = new Set<string>();
    for (const folder of level) {
      for (const name of await namesIn(path.join(layer.upper, folder), effects, layer.prefix + folder)) {
        if (name === '.git') continue;
        const at = folder === '' ? name : `${folder}/${name}`;
        const stat = await fs.lstat(path.join(layer.upper, at)).catch(() => undefined);
        seen.add(at);
        found.push({ path: at, isFolder: stat?.isDirectory() === true });
      }
      // Where the folder was made anew, what was in it is gone without a trace.
      const now = new Set(await namesIn(path.join(merged, folder)));
      const names = (await real.isFolder(folder)) ? await namesIn(path.join(lower, folder)) : [];
      for (const name of names) {
        const at = folder === '' ? name : `${folder}/${name}`;
        if (name === '.git' || now.has(name) || seen.has(at)) continue;
        found.push({ path: at, isFolder: false });
      }
    }
    const hidden = await ignoredOf(layer.root, found.map(asAsked));
    const next: string[] = [];
    for (const one of found) {
      if (hidden.has(asAsked(one))) {
        if (await isThere(path.join(layer.upper, one.path))) ignored.push(one.path);
        continue;
      }
      const [was, is] = [await real.find(one.path), await findAt(path.join(merged, one.path))];
      // What was a folder and is none any more has lost all that was in it.
      if (was?.kind === 'folder' && is?.kind !== 'folder')
        paths.push(...(await filesBelow(layer.root, one.path, lower)));
      if (is?.kind !== 'folder' || (was && was.kind !== 'folder')) paths.push(one.path);
      if (one.isFolder && is?.kind === 'folder') next.push(one.path);
    }
    level = next;
  }
  return { paths, ignored };
}

/** A slash at the end tells git that it is a folder, also if there is none on disk. */
function asAsked({ path: at, isFolder }: { readonly path: string; readonly isFolder: boolean }): string {
  return isFolder ? `${at}/` : at;
}

/** The files in a folder that is gone, without those that git ignores. @param root where git is asked */
async function filesBelow(root: string, folder: string, lower: string): Promise<readonly string[]> {
  const files: string[] = [];
  let level = [folder];
  while (level.length > 0) {
    const names = (
      await Promise.all(
        level.map(async at => (await namesIn(path.join(lower, at))).map(name => `${at}/${name}`)),
      )
    ).flat();
    const hidden = await ignoredOf(root, names);
    level = [];
    for (const at of names.filter(name => !hidden.has(name) && !name.endsWith('/.git'))) {
      if ((await findAt(path.join(lower, at)))?.kind === 'folder') level.push(at);
      else files.push(at);
    }
  }
  return files;
}

/** The names in a folder, without those that are not UTF-8, which are told to `effects`; none if there is no such folder. */
async function namesIn(folder: string, effects?: Effects, shown = ''): Promise<readonly string[]> {
  let names: Buffer[];
  try {
    names = await fs.readdir(folder, { encoding: 'buffer' });
  } catch (error) {
    if (isMissing(error)) return [];
    effects?.leaveOut({ path: shown, why: 'unreadable', detail: messageWithoutPaths(error) });
    return [];
  }
  return names.flatMap(bytes => {
    const name = bytes.toString();
    if (Buffer.from(name).equals(bytes)) return [name];
    effects?.leaveOut({ path: shown === '' ? name : `${shown}/${name}`, why: 'path' });
    return [];
  });
}

async function isThere(at: string): Promise<boolean> {
  return fs.lstat(at).then(
    () => true,
    () => false,
  );
}

/** A folder that forbids writing cannot be moved into another one. */
export async function allowMoving(at: string): Promise<void> {
  const stat = await fs.lstat(at);
  if (stat.isDirectory() && (stat.mode & 0o700) !== 0o700) await fs.chmod(at, 0o700);
}

/** Removes a tree in which folders may forbid it, as the kernel's work folder does. */
export async function removeTree(at: string): Promise<void> {
  const open = async (folder: string): Promise<void> => {
    const stat = await fs.lstat(folder).catch(() => undefined);
    if (!stat?.isDirectory()) return;
    if ((stat.mode & 0o700) !== 0o700) await fs.chmod(folder, 0o700);
    for (const entry of await fs.readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory()) await open(path.join(folder, entry.name));
  };
  try {
    await fs.rm(at, { recursive: true, force: true });
  } catch (error) {
    // Something that is no folder stands above it.
    if (isMissing(error)) return;
    await open(at);
    await fs.rm(at, { recursive: true, force: true, maxRetries: 3 });
  }
}
