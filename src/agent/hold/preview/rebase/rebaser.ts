import { TimeSlice } from '../../../base/async.ts';
import { Owner } from '../../../base/disposable.ts';
import { detailOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';
import { pathsOf, type Preview } from '../preview.ts';
import type { BasesOptions } from './bases.ts';

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
    // Its files may have changed since they were read, while nothing was pending.
    this.own(options.store.onDidStage(({ id }) => void this.refresh([id])));
  }

  /** Refreshes the previews that touch these files, which changed on disk or in an editor. */
  filesChanged(paths: Iterable<string>): Promise<void> {
    return this.refresh(this.#options.store.open.touching(paths).map(({ id }) => id));
  }

  /**
   * Rebases these previews, and those that build on them, where their bases have changed.
   * @returns settles once everything queued so far is done; never rejects.
   */
  refresh(ids: Iterable<string>): Promise<void> {
    for (const id of ids) this.#queue.add(id);
    if (this.#queue.size > 0) this.#work ??= this.#processQueue();
    return this.#work ?? Promise.resolve();
  }

  /** Rebases a stale preview at the user's request, once the queue is done; see {@link rebaseNow}. */
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
    const dependents = this.#options.store.open.dependentsOf(preview.id);
    if (dependents.length > 0) void this.refresh(dependents.map(dependent => dependent.id));
  }

  async #processQueue(): Promise<void> {
    // The caller may be in the middle of firing an event: let its other listeners run first.
    await Promise.resolve();
    for (const id of this.#queue) {
      this.#queue.delete(id);
      try {
        const { rebasePreview } = await import('./rebasePreview.ts');
        await rebasePreview(this.#options, id, this.#slice);
      } catch (error) {
        this.#options.logger.error(`Rebasing ${id} failed: ${detailOf(error)}`);
      }
    }
    this.#work = undefined; // at once, so that nothing joins a queue that has ended
  }
}
