import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../../base/async.ts';
import { isInside, realPath, realPlace } from '../../../base/system/realPath.ts';
import type { FileChange } from '../../preview/fileChange.ts';
import { standingApplies } from '../../preview/ledger.ts';
import type { Preview } from '../../preview/preview.ts';
import type { PreviewStore } from '../../preview/previewStore.ts';
import type { Git } from '../git.ts';

export interface AppliedFiles {
  readonly git: Git;
  /** Applied previews of files, in the order in which they were applied. */
  readonly previews: readonly Preview[];
  /** The absolute path of a file of a preview; `undefined` if that is unknown. */
  readonly fileOf: (preview: Preview, path: string) => string | undefined;
  /** The absolute paths of the files with unsaved changes in an editor. */
  readonly unsaved: readonly string[];
}

/** A change of a preview. Its paths are those of the repository. */
export interface Placed {
  readonly id: string;
  readonly change: FileChange;
}

/** Applied previews that nobody has undone, in the order of their applies. */
export function appliedPreviews(previews: PreviewStore): readonly Preview[] {
  return standingApplies(previews.ledger()).flatMap(({ previewId }) => {
    const preview = previews.get(previewId);
    return preview?.kind === 'files' && preview.state.kind === 'applied' ? [preview] : [];
  });
}

/** Changes to files of this repository. A rename across repositories counts as a creation or a deletion here. */
export async function changesIn({ git, previews, fileOf }: AppliedFiles): Promise<readonly Placed[]> {
  const found: Placed[] = [];
  for (const preview of previews) {
    const placeOf = async (at: string): Promise<string | undefined> => {
      const file = fileOf(preview, at);
      return file === undefined ? undefined : placeIn(git.root, file);
    };
    for (const change of preview.changes ?? []) {
      const at = await placeOf(change.path);
      const from = change.kind === 'rename' ? await placeOf(change.from) : undefined;
      for (const each of placedChanges(change, at, from)) found.push({ id: preview.id, change: each });
    }
  }
  return found;
}

function placedChanges(change: FileChange, at?: string, from?: string): readonly FileChange[] {
  if (change.kind !== 'rename') return at === undefined ? [] : [{ ...change, path: at }];
  const { before, after } = change;
  if (at !== undefined && from !== undefined) return [{ ...change, path: at, from }];
  if (at !== undefined) return [{ kind: 'create', path: at, before: null, after }];
  return from === undefined ? [] : [{ kind: 'delete', path: from, before, after: null }];
}

/**
 * Path in a repository of a file that need not exist, with links on the way to it resolved. `undefined` if it is outside the
 * repository, or inside a nested one such as a submodule.
 */
export async function placeIn(root: string, file: string): Promise<string | undefined> {
  const realRoot = await realPath(root);
  const real = path.join(await realPlace(path.dirname(file)), path.basename(file));
  if (!isInside(real, realRoot)) return undefined;
  const names = path.relative(realRoot, real).split(path.sep);
  for (let n = 1; n < names.length; n++)
    if (await succeeds(lstat(path.join(realRoot, ...names.slice(0, n), '.git')))) return undefined;
  return names.join('/');
}
