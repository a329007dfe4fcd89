import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { LedgerEntry } from '../ledger.ts';
import { isOpen } from '../preview.ts';
import type { PreviewStore, Revision } from '../previewStore.ts';
import { alreadyResolvedText, expiredText, outcomeText, revisionText } from './resolveTexts.ts';

/**
 * Collects the outcomes of some previews for an agent that waits for them, in words and in the order of events: every attempt
 * to resolve them or parts split off them, and what the user changed in them.
 */
export class OutcomeWatch implements Disposable {
  readonly #store: PreviewStore;
  readonly #owned = new DisposableStore();
  readonly #ids = new Set<string>();
  readonly #happened: string[] = [];
  readonly #over = Promise.withResolvers<void>();
  /** More previews may be added until someone waits, so until then having none open does not mean the end. */
  #isAwaited = false;

  constructor(store: PreviewStore) {
    this.#store = store;
    this.#owned.add(store.onDidResolve(entries => this.#followAttempts(entries)));
    this.#owned.add(store.onDidRevise(revision => this.#followRevision(revision)));
    this.#owned.add(store.onDidExpire(({ id }) => this.#followExpiry(id)));
  }

  /** Ids of those that can still be resolved, including split-off parts. */
  get open(): readonly string[] {
    return [...this.#ids].filter(id => {
      const preview = this.#store.get(id);
      return preview !== undefined && isOpen(preview);
    });
  }

  /** What has happened to them so far, in words; empty if nothing has. */
  get happened(): string {
    return this.#happened.join('\n');
  }

  /** Watches a preview that was just staged. */
  add(id: string): void {
    this.#ids.add(id);
  }

  /**
   * Settles with what happened once none of them can be resolved any more; at once if there is none. Call it after the last
   * {@link add}. Never rejects.
   */
  async outcome(): Promise<string> {
    this.#isAwaited = true;
    this.#check();
    await this.#over.promise;
    return this.happened;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #followAttempts(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) if (this.#ids.has(entry.previewId)) this.#happened.push(this.#textOf(entry));
    this.#check();
  }

  #followRevision({ preview, by, part, patch }: Revision): void {
    if (!this.#ids.has(preview.id)) return;
    if (part) this.#ids.add(part.id);
    if (by === 'user') this.#happened.push(revisionText(preview, by, patch));
  }

  #followExpiry(id: string): void {
    const preview = this.#ids.has(id) ? this.#store.get(id) : undefined;
    if (!preview) return;
    this.#happened.push(expiredText(preview));
    this.#check();
  }

  #textOf(entry: LedgerEntry): string {
    const preview = this.#store.get(entry.previewId);
    // Of the model's own votes, `outcomeText` speaks to that model, who is not the one waiting.
    return entry.actor === 'model' && preview
      ? alreadyResolvedText(preview, 'extension', entry)
      : outcomeText(entry, preview?.part ? { part: preview.part } : {});
  }

  #check(): void {
    if (this.#isAwaited && this.open.length === 0) this.#over.resolve();
  }
}
