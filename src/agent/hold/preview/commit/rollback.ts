import { forEachLimited } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import { contentOf, type Blobs } from '../blobs.ts';
import { bytesOfSide, isText, isWhole, type FileStep } from '../fileChange.ts';
import { emptiedFolders } from '../fileSteps.ts';
import { hashOf, heldReader, type Held } from './held.ts';
import type { Workspace } from '../workspace.ts';
import type { RollbackInfo } from './rollbackInfo.ts';

/** Result of a rollback, as paths. Files that already held the old content are not listed. */
export interface RollbackReport {
  /** Files that hold the old content again. */
  readonly restored: readonly string[];
  /** Files that hold neither the old content nor anything the commit wrote: they were changed since, and were left alone. */
  readonly foreign: readonly string[];
  /** Files that could not be restored because of a file system error. */
  readonly failed: readonly string[];
}

/**
 * Restores the content that files held before these steps. Only files that hold the written content, completely or in part, are
 * touched. Folders that the commit created and temporary files are removed.
 */
export async function rollBack(
  files: Workspace,
  steps: readonly FileStep[],
  { modes, newFolders, folderModes = {}, editors = [], rights = {} }: RollbackInfo,
  blobs: Blobs,
): Promise<RollbackReport> {
  const restored: string[] = [];
  const foreign: string[] = [];
  const failed: string[] = [];
  const paths = steps.map(step => step.path);
  const emptied = emptiedFolders(steps);
  // An editor takes a change as a whole: other content on disk was saved before it, and other content in the editor was typed.
  const mayBeTorn = async (held: Held, step: FileStep): Promise<boolean> =>
    !editors.includes(step.path) &&
    isTornWrite(held, step) &&
    (await files.placeOf(step.path)).isUnsaved !== true;
  const read = heldReader(files, steps);
  const restore = async (step: FileStep): Promise<void> => {
    const { path, before, after } = step;
    const held = await read(step);
    const now = hashOf(held);
    if (now === (before?.hash ?? null)) {
      const mode = before && after ? modes[path] : undefined;
      if (mode === undefined || (await files.placeOf(path)).mode === mode) return;
    } else if (now !== (after?.hash ?? null) && !(await mayBeTorn(held, step)))
      return void foreign.push(path);
    const mode = before ? modes[path] : REMOVABLE; // the commit may have made it read-only
    if (isWhole(step)) await files.replace(path, before && (await contentOf(before, blobs)), now, mode);
    else await files.write(path, before && isText(before) ? bytesOfSide(before) : null, now, mode);
    restored.push(path);
  };
  // Created files are removed first, and their new folders after them: a folder may now stand where a file was.
  for (const phase of [steps.filter(step => !step.before), steps.filter(step => step.before)]) {
    await forEachLimited(phase, 8, async step => {
      try {
        await restore(step);
      } catch (error) {
        // The folder that the file was to replace still stands.
        if (error instanceof ToolError && !step.before && emptied.has(step.path)) return;
        // A folder now stands there, for example, or the file was changed at this very moment.
        (error instanceof ToolError ? foreign : failed).push(step.path);
      }
    });
    // Leftovers may stay, but nothing may keep the next phase from restoring files.
    await files.tidy(paths, newFolders).catch(() => undefined);
    await files.makeFolders(folderModes).catch(() => undefined);
  }
  await files.giveRights(
    Object.fromEntries(restored.flatMap(path => (rights[path] ? [[path, rights[path]]] : []))),
  );
  return { restored: restored.sort(), foreign: foreign.sort(), failed: failed.sort() };
}

/** Bits with which a file can be removed. */
const REMOVABLE = 0o600;

/** How much operating systems write at once, and how much a disk does, in bytes. */
const BLOCK = 4096;
const SECTOR = 512;

/**
 * Whether a file holds the remains of an interrupted write of this step, or of a power cut after it: nothing, or block by block the
 * old bytes, the new ones or zeros, where one block may hold the new bytes up to where the write ended, or some sectors of the old
 * ones up to where its rollback did. A file that was created or replaced as a whole may only be empty or full of zeros, or cut if it
 * is a new text. A deleted file may be there again, written in part, if its rollback was interrupted.
 */
export function isTornWrite(now: Held, { before: own, after: left, origin, moved }: FileStep): boolean {
  const [before, after] = [own ?? origin?.side, left ?? moved ?? own];
  if (!now || 'link' in now || !after) return false;
  if (hashOf(now) === after.hash) return true; // under the old name, too
  if (now.length === 0) return true;
  if (!isText(after) || (before && !isText(before))) return isZero(now);
  const [old, next] = [before ? bytesOfSide(before) : new Uint8Array(), bytesOfSide(after)];
  const shared = Math.min(old.length, next.length);
  const isCut = now.length < shared && now.length % BLOCK !== 0;
  if (isCut || now.length > Math.max(old.length, next.length)) return false;
  let torn = 0;
  let end = 0;
  for (let start = 0; start < now.length; start = end) {
    end = Math.min(now.length, (Math.floor(start / BLOCK) + 1) * BLOCK);
    // Growing and shrinking are separate writes, so the content past the end of the shorter one starts a block of its own.
    if (start < shared) end = Math.min(end, shared);
    const block = now.subarray(start, end);
    if (isAt(block, old, start) || isAt(block, next, start) || isZero(block)) continue;
    if (!isPart(block, start, next, old, 1) && !isPart(block, start, old, next, SECTOR)) return false;
    if (++torn > 1) return false;
  }
  return true;
}

/** Whether a block has bytes of one text up to a multiple of `unit`, and then those of another, or zeros. */
function isPart(block: Uint8Array, at: number, of: Uint8Array, then: Uint8Array, unit: number): boolean {
  const differs = block.findIndex((byte, index) => byte !== of[at + index]);
  const length = differs - ((at + differs) % unit);
  const rest = block.subarray(length);
  return length > 0 && (isAt(rest, then, at + length) || isZero(rest));
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte === 0);
}

function isAt(block: Uint8Array, whole: Uint8Array, at: number): boolean {
  return Buffer.compare(block, whole.subarray(at, at + block.length)) === 0;
}
