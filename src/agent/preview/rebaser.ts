import type { Disposable } from '../base/disposable.ts';
import { DisposableStore } from '../base/disposable.ts';
import { detailOf, ToolError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { conflictPaths, hasConflict } from './conflictMarkers.ts';
import { changeOf, sideOfBytes, stepsOf, type FileChange, type FileSide } from './fileChange.ts';
import { isOpen, type Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { rebaseChange } from './rebaseChange.ts';
import type { Workspace } from './workspace.ts';

export interface RebaserOptions {
  readonly store: PreviewStore;
  readonly workspace: Pick<Workspace, 'read'>;
  readonly logger: Logger;
}

/** What a path holds beneath a preview, and the pending preview that makes it so, if one does. */
interface Base {
  readonly side: FileSide | null | 'unreadable';
  readonly from?: string;
}

function pathsOf({ changes }: Preview): string[] {
  return (changes ?? []).flatMap(stepsOf).map(step => step.path);
}

/**
 * Keeps pending previews on the ground: when what a preview was made on moves on (a file changed, a preview beneath it
 * was discarded, edited or rebased), its changes are moved onto what is there now if they do not overlap, as a new
 * revision; else it becomes stale. Works off one preview after the other, so that no two revisions are made at once.
 */
export class Rebaser implements Disposable {
  readonly #options: RebaserOptions;
  readonly #owned = new DisposableStore();
  readonly #due = new Set<string>();
  #work: Promise<void> | undefined;

  constructor(options: RebaserOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
  }

  /** Files changed, on disk or in an editor: looks at the previews that change them too. */
  filesChanged(paths: Iterable<string>): Promise<void> {
    const changed = new Set(paths);
    const touched = this.#options.store
      .list('oldestFirst')
      .filter(preview => pathsOf(preview).some(path => changed.has(path)));
    return this.check(touched.map(preview => preview.id));
  }

  /** Looks at these previews and at all that are made on them; settles when all of it is done. */
  check(ids: Iterable<string>): Promise<void> {
    for (const id of ids) this.#due.add(id);
    if (this.#due.size > 0) {
      this.#work ??= this.#workOff().finally(() => {
        this.#work = undefined;
      });
    }
    return this.#work ?? Promise.resolve();
  }

  /**
   * Moves a stale preview onto what is there now because a person asked for it, also where that takes a decision: a
   * conflict becomes markers in the proposal, which stays stale until they are gone; what replaces or deletes a file that
   * changed is shown anew as it would be now.
   * @returns the paths with conflicts.
   * @throws ToolError when a preview beneath it is stale itself, or a file cannot be read as text.
   */
  async rebaseNow(id: string): Promise<readonly string[]> {
    await this.check([]);
    const { store } = this.#options;
    const preview = store.get(id);
    if (preview?.state.kind !== 'pending' || !preview.changes) return [];
    const changes: FileChange[] = [];
    const dependsOn = new Set<string>();
    for (const change of preview.changes) {
      const path = change.kind === 'rename' ? change.from : change.path;
      const { side, from } = await this.#baseOf(preview, path, change.before);
      if (from !== undefined) dependsOn.add(from);
      if (side === 'unreadable') {
        throw new ToolError(
          from === undefined
            ? `${change.path} cannot be read as text any more.`
            : `${from} is stale and comes first.`,
        );
      }
      const rebased = await rebaseChange(change, side);
      const next = rebased.kind === 'clean' ? rebased.change : forced(change, side, rebased.marked);
      if (next) changes.push(next);
    }
    if (store.get(id) !== preview) throw new ToolError(`${id} changed in the meantime. Look at it again.`);
    if (changes.length === 0) {
      throw new ToolError(`The files already hold what ${id} proposes, or are gone. Discard it.`);
    }
    await store.revise(id, changes, [...dependsOn], 'rebase').catch(() => undefined);
    const paths = conflictPaths(changes);
    if (paths.length > 0) await store.markStale(id, paths).catch(() => undefined);
    return paths;
  }

  dispose(): void {
    this.#owned.dispose();
    this.#due.clear();
  }

  /** Whatever changes in a preview may move those that are made on it. */
  #follow(preview: Preview): void {
    if (preview.state.kind === 'applying') return;
    if (preview.state.kind === 'applied') void this.filesChanged(pathsOf(preview));
    const dependents = this.#options.store.dependentsOf(preview.id);
    if (dependents.length > 0) void this.check(dependents.map(dependent => dependent.id));
  }

  async #workOff(): Promise<void> {
    // What asked for the check may be in the middle of telling others; they hear of it first.
    await Promise.resolve();
    for (const id of this.#due) {
      this.#due.delete(id);
      try {
        await this.#rebase(id);
      } catch (error) {
        this.#options.logger.error(`Rebasing ${id} failed: ${detailOf(error)}`);
      }
    }
  }

  async #rebase(id: string): Promise<void> {
    const { store } = this.#options;
    const preview = store.get(id);
    if (preview?.state.kind !== 'pending' || !preview.changes) return;
    const stale: string[] = [];
    const changes: FileChange[] = [];
    const dependsOn = new Set<string>();
    /** What the changes before have made of their paths. */
    const own = new Map<string, FileSide | null>();
    const baseOf = async (path: string, expected: FileSide | null): Promise<Base['side']> => {
      const made = own.get(path);
      if (made !== undefined) return made;
      const base = await this.#baseOf(preview, path, expected);
      if (base.from !== undefined) dependsOn.add(base.from);
      return base.side;
    };
    for (const change of preview.changes) {
      const path = change.kind === 'rename' ? change.from : change.path;
      const base = await baseOf(path, change.before);
      const isFree = change.kind !== 'rename' || (await baseOf(change.path, null)) === null;
      const rebased = base === 'unreadable' || !isFree ? undefined : await rebaseChange(change, base);
      if (rebased?.kind !== 'clean' || (rebased.change && hasConflict(rebased.change))) {
        stale.push(change.path);
        continue;
      }
      if (rebased.change) changes.push(rebased.change);
      for (const step of stepsOf(rebased.change ?? change)) own.set(step.path, step.after);
    }
    // Meanwhile somebody may have resolved or revised it: then this was about something that is no more.
    const now = store.get(id);
    if (now?.state.kind !== 'pending' || now.revision !== preview.revision) return;
    const unchanged =
      changes.length === preview.changes.length &&
      changes.every((change, i) => change === preview.changes?.[i]);
    if (stale.length > 0 || changes.length === 0) {
      const paths = stale.length > 0 ? stale : preview.changes.map(change => change.path);
      if (paths.join('\n') !== now.state.stale.join('\n')) await store.markStale(id, paths);
    } else if (!unchanged || !this.#waitsFor(preview, dependsOn)) {
      await store.revise(id, changes, [...dependsOn], 'rebase');
    } else if (now.state.stale.length > 0) {
      await store.markStale(id, []);
    }
  }

  /** Whether these come before the preview already: it may stand on them through one that was discarded. */
  #waitsFor(preview: Preview, ids: ReadonlySet<string>): boolean {
    const blockers = new Set(this.#options.store.blockersOf(preview).map(({ id }) => id));
    return [...ids].every(id => blockers.has(id));
  }

  /** What a path holds beneath the preview as things are: from the nearest pending preview, else the file itself. */
  async #baseOf(preview: Preview, path: string, expected: FileSide | null): Promise<Base> {
    const below = this.#below(preview, path);
    if (below) return below;
    try {
      const bytes = await this.#options.workspace.read(path);
      return { side: bytes ? (sideOfBytes(bytes, expected?.encoding) ?? 'unreadable') : null };
    } catch (error) {
      if (error instanceof ToolError) return { side: 'unreadable' };
      throw error;
    }
  }

  #below(preview: Preview, path: string, seen = new Set<string>()): Base | undefined {
    const ids = [...preview.dependsOn].sort((a, b) => Number(b.slice(1)) - Number(a.slice(1)));
    for (const id of ids) {
      const below = this.#options.store.get(id);
      if (!below || seen.has(id)) continue;
      seen.add(id);
      const step = isOpen(below)
        ? (below.changes ?? []).flatMap(stepsOf).find(candidate => candidate.path === path)
        : undefined;
      if (step) {
        const isStale = below.state.kind === 'pending' && below.state.stale.length > 0;
        return { side: isStale ? 'unreadable' : step.after, from: id };
      }
      const deeper = this.#below(below, path, seen);
      if (deeper) return deeper;
    }
    return undefined;
  }
}

/** A change that conflicts with what is there, as a person is to see it: against what is there. */
function forced(
  change: FileChange,
  base: FileSide | null,
  marked: FileSide | undefined,
): FileChange | undefined {
  if (change.kind === 'rename' && base) return { ...change, before: base, after: marked ?? change.after };
  return changeOf(change.path, base, marked ?? change.after);
}
