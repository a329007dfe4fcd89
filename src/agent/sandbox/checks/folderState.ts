import { createHash } from 'node:crypto';
import { lstat, type BigIntStats } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds, TimeSlice } from '../../base/async.ts';
import { entriesOf } from '../view/entries.ts';
import { isFolderIgnored } from '../view/ignored.ts';
import { fields, GitProgram } from '../../hold/external/gitProgram.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';

/** With more files than this there is no fingerprint, so a check's result is never current. */
const MAX_FILES = 200_000;
/** Parts that the lines are divided into; each is sorted in one go. */
const PARTS = 1024;
/** How many files are looked at concurrently. */
const AT_ONCE = 64;
/** Folders left out where git cannot list the ignored files: no check depends on them. */
const LEFT_OUT = new Set(['.git', 'node_modules']);

/**
 * Computes a fingerprint of all files in the folders, tracked or not, that git does not ignore. If there is no git, or it ignores
 * the folder itself, only `.git` and `node_modules` are left out. Two equal fingerprints mean that no file was made, removed,
 * written or replaced in between: each covers size, times, identity and permission bits.
 * @param except workspace paths that are left out
 * @returns `undefined` if it cannot be computed, because of too many files, for example
 */
export async function folderState(
  folders: readonly FolderRoot[],
  except: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let count = 0;
  const slice = new TimeSlice();
  // By the file's inode, so that its line is always in the same part.
  const parts = Array.from({ length: PARTS }, (): string[] => []);
  const describe = async (folder: string, prefix: string): Promise<void> => {
    const files = (await listedByGit(folder, signal)) ?? (await walk(folder));
    count += files.length;
    if (count > MAX_FILES) throw new Error('Too many files');
    const nested: string[] = [];
    for (let first = 0; first < files.length; first += AT_ONCE) {
      const some = files.slice(first, first + AT_ONCE);
      const names = some.map(listed => Buffer.from(listed.replace(/\/$/, ''), 'latin1'));
      const stats = await statsOf(names.map(name => below(folder, name)));
      await slice.turn();
      signal?.throwIfAborted();
      for (const [n, listed] of some.entries()) {
        const [file, stat] = [String(names[n]), stats[n]];
        if (except.has(prefix + file)) continue;
        // A nested repository, such as a submodule; one that is not checked out yet is an empty folder.
        if (stat?.isDirectory() && (await succeeds(fs.lstat(path.join(folder, file, '.git')))))
          nested.push(file);
        else
          parts[Number((stat?.ino ?? 0n) % BigInt(PARTS))]?.push(
            `${prefix}${listed}\0${stat ? identityOf(stat) : ''}`,
          );
      }
    }
    for (const file of nested) await describe(path.join(folder, file), `${prefix}${file}/`);
  };
  try {
    for (const { name, fsPath } of folders) await describe(fsPath, folders.length > 1 ? `${name}/` : '');
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
  const hash = createHash('sha256');
  for (const part of parts) {
    await slice.turn();
    hash.update(`${part.sort().join('\n')}\n`);
  }
  signal?.throwIfAborted();
  return hash.digest('hex');
}

/**
 * Stats of these paths; `undefined` for those that cannot be read. A disk that does not answer holds up nothing else. A promise for
 * each would cost several times as much as the system call.
 */
function statsOf(paths: readonly Buffer[]): Promise<readonly (BigIntStats | undefined)[]> {
  return new Promise(done => {
    const stats: (BigIntStats | undefined)[] = [];
    let left = paths.length;
    for (const [n, at] of paths.entries())
      lstat(at, { bigint: true }, (_, stat?: BigIntStats) => {
        stats[n] = stat;
        if (--left === 0) done(stats);
      });
  });
}

function identityOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(' ');
}

function below(folder: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder + path.sep), name]);
}

/**
 * Lists paths as `latin1`: one character for each byte.
 * @returns `undefined` if the folder is in no repository, or in one that ignores it, or there is no git
 */
async function listedByGit(folder: string, signal?: AbortSignal): Promise<readonly string[] | undefined> {
  const args = ['ls-files', '-z', '-co', '--exclude-standard', '--deduplicate'];
  try {
    const listed = fields(await new GitProgram(folder).run(args, { signal, encoding: 'latin1' }));
    return (await isFolderIgnored(folder)) ? undefined : listed;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

/** Like {@link listedByGit}. */
async function walk(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined && files.length <= MAX_FILES; at = waiting.pop()) {
    for await (const part of entriesOf(below(folder, Buffer.from(at, 'latin1'))))
      for (const { bytes, kind } of part) {
        const name = bytes.toString('latin1');
        if (!LEFT_OUT.has(name))
          (kind === 'folder' ? waiting : files).push(at === '' ? name : `${at}/${name}`);
      }
  }
  return files;
}
