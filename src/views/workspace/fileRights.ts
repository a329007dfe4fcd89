import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { StalePreviewError } from '../../agent/hold/preview/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import type { FileRights, FolderRoot } from '../../agent/hold/preview/workspace.ts';
import { makeFoldersAbove, readDiskFile } from './diskFile.ts';
import { assertRealPathInside } from './realPaths.ts';
import { errorCode, ifExists } from './temporaryFile.ts';
import { diskPathOf, locate } from './workspacePaths.ts';

/** Like `Workspace.addName`, on disk. @throws StalePreviewError if there is a file of that name. */
export function addNameOnDisk(
  path: string,
  name: string,
  expected: Sha256,
  roots: readonly FolderRoot[],
): boolean {
  const [from, to] = [locate(path, roots), locate(name, roots)];
  assertRealPathInside(path, from);
  assertRealPathInside(name, to);
  const [file, other] = [diskPathOf(from), diskPathOf(to)];
  if (ifExists(() => fs.lstatSync(file))?.isFile() !== true) return false;
  const bytes = readDiskFile(file, path);
  if (!bytes || sha256(bytes) !== expected) return false;
  makeFoldersAbove(other, name);
  try {
    fs.linkSync(file, other);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new StalePreviewError([name]);
    return false; // a disk without links, another disk, or a file of someone else: a new file is made
  }
  // Set the times of a new file: build tools that compare times must not take the new name for an old one.
  const now = new Date();
  attempt(() => fs.utimesSync(other, now, now));
  return true;
}

/** How many files are passed to one call of a program, and how long it may take, in milliseconds. */
const AT_ONCE = 500;
const PATIENCE = 10_000;

/**
 * Like `Workspace.rightsOf`, on disk. Windows has none of these; access control lists are read on Linux if `getfacl` is installed.
 * @param patience how long that may take, in milliseconds; for tests.
 */
export async function rightsOnDisk(
  paths: readonly string[],
  roots: readonly FolderRoot[],
  patience = PATIENCE,
): Promise<Readonly<Record<string, FileRights>>> {
  const [user, userGroup] = [process.geteuid?.(), process.getegid?.()];
  if (user === undefined || paths.length === 0) return {};
  const files = new Map(paths.map(path => [path, diskPathOf(locate(path, roots))]));
  const lists = await listsOf([...files.values()], patience);
  const rights: Record<string, FileRights> = {};
  for (const [path, file] of files) {
    const found = ifExists(() => fs.lstatSync(file));
    if (found?.isFile() !== true) continue;
    const acl = lists.get(file);
    const { uid: owner, gid: group } = found;
    if (acl === undefined && owner === user && group === userGroup) continue;
    rights[path] = { owner, group, acl };
  }
  return rights;
}

/** The access control lists of the files that have one. */
async function listsOf(files: readonly string[], patience: number): Promise<ReadonlyMap<string, string>> {
  const lists = new Map<string, string>();
  if (process.platform !== 'linux') return lists;
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const args = ['--absolute-names', '--numeric', '--skip-base', '--', ...some];
    const told = await run('getfacl', args, '', patience);
    for (const block of told.split('\n\n')) {
      const name = /^# file: (.*)$/m.exec(block)?.[1];
      if (name !== undefined) lists.set(unescaped(name), block.replace(/^#.*\n/gm, '').trim());
    }
  }
  return lists;
}

/** Like `Workspace.giveRights`, on disk. */
export async function giveRightsOnDisk(
  rights: Readonly<Record<string, FileRights>>,
  roots: readonly FolderRoot[],
): Promise<void> {
  const given = Object.entries(rights).flatMap(([path, own]) => {
    const file = attempt(() => diskPathOf(locate(path, roots))); // its folder may have been closed
    const found = file === undefined ? undefined : attempt(() => fs.lstatSync(file));
    return file !== undefined && found?.isFile() === true ? [{ file, found, ...own }] : [];
  });
  for (const { file, found, owner, group } of given) {
    if (found.gid !== group) attempt(() => fs.lchownSync(file, found.uid, group));
    if (found.uid !== owner) attempt(() => fs.lchownSync(file, owner, group));
  }
  const lists = given.flatMap(({ file, acl }) =>
    acl === undefined ? [] : `# file: ${escaped(file)}\n${acl}\n\n`,
  );
  if (lists.length > 0) await run('setfacl', ['--restore=-'], lists.join(''));
  // Changing the owner clears the special bits, and an access control list sets bits of its own.
  for (const { file, found } of given) attempt(() => fs.chmodSync(file, found.mode & 0o7777));
}

/** Output of a system program; empty if the program is missing or takes too long. */
function run(program: string, args: readonly string[], input: string, timeout = PATIENCE): Promise<string> {
  const limits = { maxBuffer: 64 * 1024 * 1024, timeout, killSignal: 'SIGKILL' } as const;
  return new Promise(resolve => {
    const child = execFile(program, args, limits, (error, told) => resolve(error?.killed ? '' : told));
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Ignores failures: an ordinary user may not change everything. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // the file stays the user's own
  }
}

/** A name as these programs write it: bytes outside plain ASCII as octal numbers. */
function escaped(name: string): string {
  return [...Buffer.from(name)]
    .map(byte =>
      /[\w./-]/.test(String.fromCharCode(byte)) && byte < 0x80
        ? String.fromCharCode(byte)
        : `\\${byte.toString(8).padStart(3, '0')}`,
    )
    .join('');
}

function unescaped(name: string): string {
  const bytes = Buffer.from(name);
  const plain: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const octal =
      bytes[at] === 0x5c ? /^[0-7]{3}/.exec(bytes.toString('latin1', at + 1, at + 4))?.[0] : undefined;
    plain.push(octal === undefined ? (bytes[at] ?? 0) : parseInt(octal, 8));
    if (octal !== undefined) at += 3;
  }
  return Buffer.from(plain).toString();
}
