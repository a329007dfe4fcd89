import * as path from 'node:path';
import { TimeSlice } from '../../base/async.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import { ignoredOf } from './ignored.ts';
import type { CopiedLinks, Folders } from './pathNames.ts';
import { timeIn, type PlainTree } from './plainTree.ts';
import { sizeIn, type Stamp } from './stamps.ts';

/**
 * Files that mark a Python environment, or a build of CMake, Meson or Autoconf: texts there hold the absolute path of the sources.
 */
const MARKER = /(^|\/)(pyvenv\.cfg|CMakeCache\.txt|build\.ninja|config\.status)$/;
/** Absolute paths in a form that cannot be rewritten. Without it, ninja builds anew. */
const LEFT_OUT = /(^|\/)\.ninja_deps$/;
/** Settings of git, which may name the working tree: git in the copy would write into that. */
const GIT_SETTINGS = /(^|\/)\.git\/(.*\/)?config(\.worktree)?$/;
/** Larger files, in bytes, count as data. */
const MAX_TEXT = 32_000_000;

/**
 * The files that may lead to the workspace by its absolute path. From a copy, they would lead a program to the files on disk,
 * without the pending changes.
 * @param root of the workspace, absolute
 * @param all files of the workspace
 * @param changed the files that are asked about
 */
export async function boundFiles(
  root: string,
  all: Iterable<string>,
  changed: readonly string[],
): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  const slice = new TimeSlice();
  for (const at of all) {
    await slice.turn();
    if (MARKER.test(at)) folders.add(path.posix.dirname(at));
  }
  const inFolders = changed.filter(
    at => GIT_SETTINGS.test(at) || (folders.size > 0 && foldersAbove(at).some(folder => folders.has(folder))),
  );
  return folders.has('.') ? new Set([...inFolders, ...(await ignoredOf(root, changed))]) : new Set(inFolders);
}

/** Copies a file or link of the workspace into its copy, so that its paths lead there. @param isBound see {@link boundFiles} */
export async function copyFile(
  at: string,
  stamp: Stamp,
  [real, copy]: readonly [real: PlainTree, copy: PlainTree],
  links: CopiedLinks,
  { isBound, keepsTime }: { readonly isBound: boolean; readonly keepsTime: boolean },
): Promise<void> {
  if (isBound && LEFT_OUT.test(at)) return;
  const stat = isBound && sizeIn(stamp) <= MAX_TEXT ? await real.stat(at) : undefined;
  const bytes = stat?.isFile() ? await real.read(at, MAX_TEXT).catch(() => undefined) : undefined;
  const text = Buffer.from(bytes ?? []).toString('latin1');
  const moved = text.includes('\0') ? text : links.folders.reduce(inCopy, text);
  if (!stat || moved === text)
    return void (await copy.copy(at, real, { keepsTime, targetOf: each => links.inCopy(each) }));
  const time = keepsTime ? timeIn(stat) : undefined;
  await copy.write(at, Buffer.from(moved, 'latin1'), stat.mode & 0o777, { time });
}

/** Replaces a folder's paths in a text by those of its copy; one character for each byte. */
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
