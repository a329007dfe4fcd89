import { TimeSlice } from '../../../base/async.ts';
import { Owner } from '../../../base/disposable.ts';
import { detailOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';
import { isWhole, type FileChange, type FileSide } from '../fileChange.ts';
import { emptiedFolders, stepsOf } from '../fileSteps.ts';
import { pathsOf, type Preview } from '../preview.ts';
import type { Base, BasesOptions } from './bases.ts';
import { hasConflict } from './conflictMarkers.ts';

/**
 * Keeps pending previews up to date with their bases. When a base changes (a file was edited, or a preview beneath was
 * discarded, edited or rebased), the preview is rebased as a new revision if the changes do not overlap, else it becomes
 * stale. Previews are processed one at a time, so that no two revisions are made at once.
 */
export class Rebaser extends Owner {
  readonly #options: BasesOptions & { readonly logger: Logger };
  readonly #queue = new Set<string>();
  readonly #slice = new TimeSlice();
  #work: Promise<void> | undefined;

  constructor(options: BasesOptions & { readonly logger: Logger }) {
    super();
    this.#options = options;
    this.own(options.store.onDidChange(preview => this.#follow(preview)));
  }

  /** Refreshes the previews that touch these files, which changed on disk or in an editor. */
  filesChanged(paths: Iterable<string>): Promise<void> {
    return this.refresh(this.#options.store.touching(paths).map(({ id }) => id));
  }

  /**
   * Rebases these previews, and those that build on them, where their bases have changed.
   * @returns settles once everything queued so far is done; never rejects.
   */
  refresh(ids: Iterable<string>): Promise<void> {
    for (const id of ids) this.#queue.add(id);
    if (this.#queue.size > 0) {
      this.#work ??= this.#processQueue().finally(() => {
        this.#work = undefined;
      });
    }
    return this.#work ?? Promise.resolve();
  }

  /** Rebases a stale preview at the user's request, once what is queued is done; see {@link rebaseNow}. */
  async rebaseNow(id: string): Promise<readonly string[]> {
    await this.refresh([]);
    const { rebaseNow } = await import('./rebaseNow.ts');
    return rebaseNow(this.#options, id);
  }

  override dispose(): void {
    super.dispose();
    this.#queue.clear();
  }

  /** A change of a preview may change the base of those that build on it. */
  #follow(preview: Preview): void {
    if (preview.state.kind === 'applying') return;
    if (preview.state.kind === 'applied') void this.filesChanged(pathsOf(preview));
    const dependents = this.#options.store.dependentsOf(preview.id);
    if (dependents.length > 0) void this.refresh(dependents.map(dependent => dependent.id));
  }

  async #processQueue(): Promise<void> {
    // The caller may be in the middle of firing an event: let its other listeners run first.
    await Promise.resolve();
    for (const id of this.#queue) {
      this.#queue.delete(id);
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
    if (preview?.kind !== 'files' || preview.state.kind !== 'pending') return;
    const [{ rebaseChange }, { Bases }] = await Promise.all([
      import('./rebaseChange.ts'),
      import('./bases.ts'),
    ]);
    const bases = new Bases(this.#options, preview);
    const stale: string[] = [];
    const changes: FileChange[] = [];
    const dependsOn = new Set<string>();
    /** What the earlier changes of this preview make of their paths. */
    const own = new Map<string, FileSide | null>();
    const emptied = emptiedFolders(preview.changes.flatMap(stepsOf));
    const baseOf = async (path: string, expected: FileSide | null, whole: boolean): Promise<Base['side']> => {
      const made = own.get(path);
      if (made !== undefined) return made;
      const base = await bases.of(path, expected, whole);
      if (base.from !== undefined) dependsOn.add(base.from);
      // A folder from which this preview removes files makes room for a new one. If others remain, the apply fails.
      const isEmptied = base.side === 'unreadable' && base.from === undefined && emptied.has(path);
      return isEmptied && expected === null ? null : base.side;
    };
    for (const change of preview.changes) {
      await this.#slice.turn();
      const path = change.kind === 'rename' ? change.from : change.path;
      const base = await baseOf(path, change.before, isWhole(change));
      const isFree = change.kind !== 'rename' || (await baseOf(change.path, null, isWhole(change))) === null;
      const rebased = base === 'unreadable' || !isFree ? undefined : await rebaseChange(change, base);
      if (rebased?.kind !== 'clean' || (rebased.change && hasConflict(rebased.change))) {
        stale.push(change.path);
        continue;
      }
      if (rebased.change) changes.push(rebased.change);
      for (const step of stepsOf(rebased.change ?? change)) own.set(step.path, step.after);
    }
    // If it was resolved or revised meanwhile, this result is outdated.
    const now = store.get(id);
    if (now?.state.kind !== 'pending' || now.revision !== preview.revision) return;
    const unchanged =
      changes.length === preview.changes.length &&
      changes.every((change, i) => change === preview.changes[i]);
    if (stale.length > 0 || changes.length === 0) {
      const paths = stale.length > 0 ? stale : preview.changes.map(change => change.path);
      if (paths.join('\n') !== now.state.stale.join('\n')) await store.markStale(id, paths);
    } else if (!unchanged || !this.#waitsFor(preview, dependsOn)) {
      await store.rebase(id, changes, [...dependsOn]);
    } else if (now.state.stale.length > 0) {
      await store.markStale(id, []);
    }
  }

  /** Whether the preview already depends on all of these, perhaps through others. */
  #waitsFor(preview: Preview, ids: ReadonlySet<string>): boolean {
    const blockers = new Set(this.#options.store.blockersOf(preview).map(({ id }) => id));
    return [...ids].every(id => blockers.has(id));
  }
}
