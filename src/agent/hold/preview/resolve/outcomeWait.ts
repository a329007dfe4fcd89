import type { Disposable } from '../../../base/disposable.ts';
import { FeedCursor, type Fact } from '../feed.ts';
import { isOpen, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import { alreadyResolvedText, factText } from './resolveTexts.ts';

/** Waits for the outcomes of some previews, and of parts split off them, for an agent that does nothing else meanwhile. */
export class OutcomeWait implements Disposable {
  readonly #store: PreviewStore;
  readonly #ids = new Set<string>();
  readonly #cursor: FeedCursor;

  constructor(store: PreviewStore) {
    this.#store = store;
    this.#cursor = new FeedCursor(
      store,
      (fact, preview) =>
        this.#isOurs(preview) &&
        (fact.kind === 'attempt' ||
          fact.kind === 'expiry' ||
          (fact.kind === 'revision' && fact.by === 'user')),
    );
  }

  /** Ids of the previews that can still be resolved, including split-off parts. */
  get open(): readonly string[] {
    return [...this.#store.open]
      .filter(preview => isOpen(preview) && this.#isOurs(preview))
      .map(({ id }) => id);
  }

  /** Events so far, in words and in order; empty if nothing has happened. */
  get happened(): string {
    return this.#cursor.untold.map(fact => this.#textOf(fact)).join('\n');
  }

  /** Waits for a preview that was just staged, too. */
  add(id: string): void {
    this.#ids.add(id);
  }

  /**
   * Settles with the events once none of the previews can be resolved any more; at once if there is none. Call it after the last
   * {@link add}. Never rejects.
   */
  async outcome(): Promise<string> {
    while (this.open.length > 0)
      await new Promise<void>(resolve => {
        const listening = this.#cursor.onDidHappen(() => {
          listening.dispose();
          resolve();
        });
      });
    return this.happened;
  }

  dispose(): void {
    this.#cursor.dispose();
  }

  #isOurs({ id, part }: Preview): boolean {
    const whole = part && this.#store.get(part.previewId);
    if (whole && this.#isOurs(whole)) this.#ids.add(id); // the whole may be forgotten before its part is decided
    return this.#ids.has(id);
  }

  #textOf(fact: Fact): string {
    const preview = this.#cursor.previewOf(fact);
    if (!preview) return '';
    // For the model's own votes, `outcomeText` speaks to that model, which is not the one waiting.
    return fact.kind === 'attempt' && fact.entry.actor === 'model'
      ? alreadyResolvedText(preview, 'extension', fact.entry)
      : factText(fact, preview);
  }
}
