import * as fs from 'node:fs';
import * as path from 'node:path';
import { ToolError } from '../../agent/base/errors.ts';
import { StalePreviewError } from '../../agent/hold/preview/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import { hashOfLink } from '../../agent/hold/preview/fileChange.ts';
import type { FileContent } from '../../agent/hold/preview/workspace.ts';
import { makeFoldersAbove, readDiskFile, readOnly, type DiskWriteOptions } from './diskFile.ts';
import {
  errorCode,
  ifExists,
  moveToNew,
  removeTemporary,
  temporaryName,
  withTemporaryFile,
} from './temporaryFile.ts';

/**
 * Replaces the file or symbolic link at a path, or removes it for `null`, provided that it is the expected one. It is replaced as
 * a whole by one rename, and a link there is never followed. A file that replaces another one keeps its permission bits, but becomes
 * the user's own, and other hard links of the old one keep the old content.
 * @param expected the hash of the present content: see `Workspace.replace`.
 * @throws StalePreviewError if something else stands there; ToolError for a read-only file, unless it gets other bits.
 */
export function replaceOnDisk(
  file: string,
  shown: string,
  content: FileContent | null,
  expected: Sha256 | null,
  { mode, guard = () => undefined }: DiskWriteOptions = {},
): void {
  const found = foundAsExpected(file, shown, expected);
  if (found?.isFile() === true && (found.mode & 0o222) === 0 && mode === undefined) throw readOnly(shown);
  if (content === null) {
    guard();
    if (foundAsExpected(file, shown, expected)) fs.unlinkSync(file);
    return;
  }
  if (!found) makeFoldersAbove(file, shown);
  const move = (temporary: string): void => {
    guard();
    // Another program may have written it meanwhile: the disk takes its time for the temporary file.
    if (foundAsExpected(file, shown, expected)) fs.renameSync(temporary, file);
    else if (!moveToNew(temporary, file)) throw new StalePreviewError([shown]);
  };
  if (!('link' in content)) {
    const bits = mode ?? (found?.isFile() === true ? found.mode & 0o7777 : undefined);
    withTemporaryFile(file, content, { mode: bits, isDurable: true }, move);
  } else if (found) withTemporaryLink(file, content.link, move);
  else createLink(file, shown, content.link, guard);
}

/** The status of the entry that is there, if any. @throws StalePreviewError if it is not the expected one */
function foundAsExpected(file: string, shown: string, expected: Sha256 | null): fs.Stats | undefined {
  const found = ifExists(() => fs.lstatSync(file));
  const now = (): Sha256 | null => {
    if (!found) return null;
    if (found.isSymbolicLink()) return hashOfLink(fs.readlinkSync(file));
    const bytes = readDiskFile(file, shown);
    return bytes ? sha256(bytes) : null;
  };
  if (now() !== expected) throw new StalePreviewError([shown]);
  return found;
}

/** A link has its target from the start, so that it needs no temporary name. */
function createLink(file: string, shown: string, target: string, guard: () => void): void {
  guard();
  try {
    fs.symlinkSync(target, file);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new StalePreviewError([shown]);
    throw linkError(error);
  }
}

function withTemporaryLink(file: string, target: string, use: (temporary: string) => void): void {
  const temporary = path.join(path.dirname(file), temporaryName(path.basename(file)));
  try {
    fs.symlinkSync(target, temporary);
  } catch (error) {
    throw linkError(error);
  }
  try {
    use(temporary);
  } catch (error) {
    removeTemporary(temporary);
    throw error;
  }
}

/** Windows lets only users with a certain privilege make links. */
function linkError(error: unknown): unknown {
  if (process.platform !== 'win32' || errorCode(error) !== 'EPERM') return error;
  return new ToolError('Windows does not allow symbolic links here; Developer Mode allows them', {
    cause: error,
  });
}
