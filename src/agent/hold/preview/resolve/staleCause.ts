import * as path from 'node:path';
import { StalePreviewError } from '../errors.ts';
import { sha256 } from '../../../base/hash.ts';
import { isLink, type FileChange } from '../fileChange.ts';
import { stepsOf } from '../fileSteps.ts';
import { lostBeneath } from '../lostBeneath.ts';
import type { Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { Workspace } from '../workspace.ts';

/** Limits of the search: files to look for, files of one name to read, and milliseconds to spend. */
const MAX_LOOKED_FOR = 20;
const MAX_READ = 50;
const TIME_LIMIT_MS = 2_000;

type Files = Pick<Workspace, 'read' | 'list'>;

/**
 * Returns the error with its cause, if that is anything but changed files: the preview that proposed them was not applied, or they
 * were moved. Never rejects.
 * @param group the previews that were to be applied together
 */
export async function withItsCause(
  { paths }: StalePreviewError,
  group: readonly Preview[],
  store: PreviewStore,
  files: Files,
): Promise<StalePreviewError> {
  const lost = lostBeneath(group, paths, id => store.get(id));
  if (lost.length > 0) return new StalePreviewError(paths, lost);
  const changes = group.flatMap(each => each.changes ?? []);
  return new StalePreviewError(paths, [], await movedFiles(files, changes, paths));
}

/**
 * New places of files that someone has moved since these changes were made: the only place with a file of the same name and bytes.
 * Files without such a place, or with several, are left out. Never rejects: an unreadable file is not found.
 * @param paths of the changes, whose files are not as they were
 */
async function movedFiles(
  files: Files,
  changes: readonly FileChange[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = new Set(paths);
  const limit = AbortSignal.timeout(TIME_LIMIT_MS);
  const moved = new Map<string, string>();
  try {
    for (const { path: from, before } of changes.flatMap(stepsOf)) {
      if (!before || isLink(before) || !asked.has(from) || moved.size >= MAX_LOOKED_FOR) continue;
      if (await files.read(from)) continue;
      const name = path.posix.basename(from);
      const glob = `**/${name.replace(/[^\p{L}\p{N}._ -]/gu, '?')}`;
      const found: string[] = [];
      for (const at of (await files.list(glob, MAX_READ, limit)).paths) {
        limit.throwIfAborted();
        if (path.posix.basename(at) !== name) continue;
        const bytes = await files.read(at);
        if (bytes && sha256(bytes) === before.hash) found.push(at);
      }
      const [only] = found;
      if (only !== undefined && found.length === 1) moved.set(from, only);
    }
  } catch {
    // The files found so far are reported.
  }
  return moved;
}
