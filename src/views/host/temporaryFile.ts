import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { sha256 } from '../../agent/base/hash.ts';
import { orMissing } from './fsErrors.ts';

/**
 * Writes a file beside `target`, for `use` to put into its place. It does not outlive a failure; what a crash leaves,
 * {@link removeTemporaries} finds.
 * @param mode permission bits; left out: what the system gives to new files.
 */
export function withTemporary(
  target: string,
  bytes: Uint8Array,
  mode: number | undefined,
  use: (temporary: string) => void,
): void {
  const temporary = path.join(path.dirname(target), temporaryName(path.basename(target)));
  try {
    const handle = fs.openSync(temporary, 'wx', mode ?? 0o666);
    try {
      // Not left to the umask, which may take bits away that the file has.
      if (mode !== undefined && (fs.fstatSync(handle).mode & 0o7777) !== mode) fs.fchmodSync(handle, mode);
      writeFrom(handle, bytes, 0);
    } finally {
      fs.closeSync(handle);
    }
    use(temporary);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Says which file it is for, in a form that fits however long the file's name is. */
function temporaryName(name: string): string {
  return `.redline-${markOf(name)}-${randomUUID().slice(0, 8)}.tmp`;
}

function markOf(name: string): string {
  return sha256(Buffer.from(name)).slice(0, 12);
}

/** Removes the temporary files beside these that a process left which ended while it wrote. */
export function removeTemporaries(files: readonly string[]): void {
  const marksByFolder = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = path.dirname(orMissing(() => fs.realpathSync.native(file)) ?? file);
    const marks = marksByFolder.get(folder) ?? new Set();
    marksByFolder.set(folder, marks.add(markOf(path.basename(file))));
  }
  for (const [folder, marks] of marksByFolder) {
    for (const found of orMissing(() => fs.readdirSync(folder)) ?? []) {
      const mark = /^\.redline-([0-9a-f]{12})-[0-9a-f]{8}\.tmp$/.exec(found)?.[1];
      if (mark !== undefined && marks.has(mark)) fs.rmSync(path.join(folder, found), { force: true });
    }
  }
}

/** Writes `bytes` from `start` on to the same place in the file. */
export function writeFrom(handle: number, bytes: Uint8Array, start: number): void {
  let at = start;
  while (at < bytes.length) at += fs.writeSync(handle, bytes, at, bytes.length - at, at);
}
