import { deferred } from '../base/deferred.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { LedgerEntry } from './ledger.ts';
import { isOpen } from './preview.ts';
import type { PreviewStore, Revision } from './previewStore.ts';
import { alreadyResolvedText, expiredText, outcomeText, revisionText } from './resolveTexts.ts';

/**
 * What becomes of some previews, for an agent that waits for it: each attempt to resolve them, or a part that was split off
 * them, and what a person changed in them, in words and in the order in which it happened.
 */
export class OutcomeWatch implements Disposable {
  readonly #store: PreviewStore;
  readonly #owned = new DisposableStore();
  readonly #ids = new Set<string>();
  readonly #happened: string[] = [];
  readonly #over = deferred();
  /** Before anybody waits, more may be added: that none is open then says nothing. */
  #isAwaited = false;

  constructor(store: PreviewStore) {
    this.#store = store;
    this.#owned.add(store.onDidResolve(entries => this.#followAttempts(entries)));
    this.#owned.add(store.onDidRevise(revision => this.#followRevision(revision)));
    this.#owned.add(store.onDidExpire(({ id }) => this.#followExpiry(id)));
  }

  /** Those that can still be resolved, parts among them. */
  get open(): readonly string[] {
    return [...this.#ids].filter(id => {
      const preview = this.#store.get(id);
      return preview !== undefined && isOpen(preview);
    });
  }

  /** What became of them so far, in words; empty where nothing has happened. */
  get happened(): string {
    return this.#happened.join('\n');
  }

  /** Watches a preview that was just staged. */
  add(id: string): void {
    this.#ids.add(id);
  }

  /**
   * Settles when none of them can be resolved any more; at once, where there is none. To be called when all were added.
   * Never rejects.
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
    // The words for the model's own votes are said to the model itself.
    return entry.actor === 'model' && preview
      ? alreadyResolvedText(preview, 'extension', entry)
      : outcomeText(entry, preview?.part);
  }

  #check(): void {
    if (this.#isAwaited && this.open.length === 0) this.#over.resolve();
  }
}
