import * as path from 'node:path';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import { ignoredOf } from './ignored.ts';
import type { Folders } from './pathNames.ts';
import type { PlainTree } from './plainTree.ts';
import { sizeIn, type Stamp } from './stamps.ts';

/** A Python environment, or a folder in which CMake, Meson or Autoconf has set up a build: its texts have the absolute path of the sources. */
const MARKER = /(^|\/)(pyvenv\.cfg|CMakeCache\.txt|build\.ninja|config\.status)$/;
/** Absolute paths in a form that cannot be rewritten. Without it, ninja builds anew. */
const LEFT_OUT = /(^|\/)\.ninja_deps$/;
/** What is larger, in bytes, is taken for data. */
const MAX_TEXT = 32_000_000;

/**
 * Those of the files that may lead to the workspace by its absolute path. In a copy, a program would find the files on disk by them,
 * and what is pending would not count.
 * @param root of the workspace, absolute
 * @param all files of the workspace
 * @param changed those that are asked for
 */
export async function boundFiles(
  root: string,
  all: Iterable<string>,
  changed: readonly string[],
): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  for (const at of all) if (MARKER.test(at)) folders.add(path.posix.dirname(at));
  if (folders.size === 0) return new Set();
  const inFolders = changed.filter(at => foldersAbove(at).some(folder => folders.has(folder)));
  return folders.has('.') ? new Set([...inFolders, ...(await ignoredOf(root, changed))]) : new Set(inFolders);
}

/**
 * Copies a file that may lead to the workspace by its absolute path, so that it leads to the copy.
 * @returns false if it does not, and is not copied
 */
export async function copyBound(
  at: string,
  stamp: Stamp,
  [real, copy]: readonly [real: PlainTree, copy: PlainTree],
  folders: readonly Folders[],
  keepsTime: boolean,
): Promise<boolean> {
  if (LEFT_OUT.test(at)) return true;
  const stat = sizeIn(stamp) <= MAX_TEXT ? await real.stat(at) : undefined;
  const bytes = stat?.isFile() ? await real.read(at, MAX_TEXT).catch(() => undefined) : undefined;
  if (!stat || !bytes || bytes.includes(0)) return false;
  const text = Buffer.from(bytes).toString('latin1');
  const moved = folders.reduce(inCopy, text);
  if (moved === text) return false;
  await copy.write(at, Buffer.from(moved, 'latin1'), stat.mode & 0o777, keepsTime ? stat.mtime : undefined);
  return true;
}

/** A text with the paths of a folder as those of its copy; one character for each byte. */
function inCopy(text: string, { root, copy }: Folders): string {
  const [from = [], to = []] = [root, copy].map(spellings);
  return from.reduce((moved, name, n) => {
    const [first = '', ...parts] = moved.split(name);
    // Another path may begin with this one.
    return parts.reduce((all, part) => all + (/^[\w.-]/.test(part) ? name : (to[n] ?? name)) + part, first);
  }, text);
}

/** How texts spell a path: as it is, with the escaped spaces of make and ninja, and with either slash of Windows, or two. */
function spellings(at: string): readonly string[] {
  const slashes = path.sep === '/' ? [at] : [at, at.replaceAll('\\', '/'), at.replaceAll('\\', '\\\\')];
  const escaped = at.includes(' ') ? [String.raw`\ `, '$ '] : [];
  return [...slashes, ...slashes.flatMap(each => escaped.map(space => each.replaceAll(' ', space)))].map(
    each => Buffer.from(each).toString('latin1'),
  );
}
