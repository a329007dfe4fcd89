import { isOpen, type Preview } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { ResolveOrder } from '../../hold/preview/resolveSettings.ts';
import type { DirectiveHandle } from './toolChoiceQueue.ts';

/** A request to the model to resolve a preview, and its progress. */
export interface Asked {
  /** The preview's directive while it is queued or in flight. */
  handle?: DirectiveHandle;
  /** Whether a directive is to be queued, as soon as the preview can be resolved and the model may vote on it. */
  due: boolean;
  /** The turn in which it was asked. After a failed apply, another vote in that turn does not count as an answer. */
  readonly turn: number;
  /**
   * Whether the model has voted; then it is not asked again. A vote that was only held up does not count: see
   * {@link AskedPreviews.noteBlocked}.
   */
  answered: boolean;
  /** How many forced turns passed without an answer. */
  unanswered: number;
  /** The last turn in which a vote on it was refused because of something that the model could do something about first. */
  blockedIn?: number;
  /** How many applies failed. */
  readonly failures: number;
}

/** The previews that the model was asked to resolve, and their answers so far. */
export class AskedPreviews {
  readonly #store: PreviewStore;
  readonly #recordsVotes: () => boolean;
  readonly #asked = new Map<string, Asked>();
  #turn = 0;

  /** @param recordsVotes whether a preview can be voted on once those it builds on are recommended, even if not applied. */
  constructor(store: PreviewStore, recordsVotes: () => boolean) {
    this.#store = store;
    this.#recordsVotes = recordsVotes;
  }

  /** A turn begins. Requests from here on reach the model in the next turn. */
  beginTurn(): void {
    this.#turn++;
  }

  get ids(): readonly string[] {
    return [...this.#asked.keys()];
  }

  has(id: string): boolean {
    return this.#asked.has(id);
  }

  get(id: string): Asked | undefined {
    return this.#asked.get(id);
  }

  add(id: string, { due, failures }: Pick<Asked, 'due' | 'failures'>): void {
    this.#asked.set(id, { due, turn: this.#turn, answered: false, unanswered: 0, failures });
  }

  /**
   * Whether the model has yet to answer, and its answer would still matter: the preview can be resolved, and the user did
   * not edit it.
   * @param before previews that the same vote resolves first.
   */
  isWanted(preview: Preview, { answered }: Asked, before: readonly Preview[] = []): boolean {
    const { state, editedByUser } = preview;
    if (state.kind !== 'pending' || state.recommendation !== undefined || state.stale.length > 0)
      return false;
    if (answered || editedByUser === true) return false;
    const blockers = this.#store.open.blockersOf(preview);
    return blockers.every(each => before.includes(each) || this.#isVotedFor(each));
  }

  #isVotedFor({ id, state }: Preview): boolean {
    if (!this.has(id) || state.kind !== 'pending' || state.stale.length > 0) return false;
    return state.recommendation?.action === 'apply' && this.#recordsVotes();
  }

  /**
   * The first preview in this order for which a directive is due.
   * @param isAlways treats every preview that wants an answer as due.
   */
  nextDue(order: ResolveOrder, isAlways: boolean): readonly [Preview, Asked] | undefined {
    for (const preview of this.#store.list(order)) {
      const asked = this.#asked.get(preview.id);
      if (asked && (isAlways || asked.due) && this.isWanted(preview, asked)) return [preview, asked];
    }
    return undefined;
  }

  /** All previews that want an answer and can be resolved now, one after the other, oldest first. */
  allWanted(): readonly Preview[] {
    const wanted: Preview[] = [];
    for (const preview of this.#store.list('oldestFirst')) {
      const asked = this.#asked.get(preview.id);
      if (asked && this.isWanted(preview, asked, wanted)) wanted.push(preview);
    }
    return wanted;
  }

  /** The preview whose directive is queued or in flight. */
  get forced(): Preview | undefined {
    for (const [id, { handle }] of this.#asked) if (handle) return this.#store.get(id);
    return undefined;
  }

  /** The model votes on the preview, so it needs no more directives. One in flight that ran the vote ends by itself. */
  noteVote(id: string): void {
    const asked = this.#asked.get(id);
    if (!asked || (asked.failures > 0 && asked.turn === this.#turn)) return;
    asked.answered = true;
    asked.due = false;
    withdraw(asked);
  }

  /**
   * The vote was refused because others must be applied first, the preview is stale, or the model must see the diff, so it does not
   * count as an answer.
   * @param due whether a directive is due after that.
   */
  noteBlocked(id: string, due: boolean): void {
    const asked = this.#asked.get(id);
    if (!asked) return;
    asked.answered = false;
    asked.blockedIn = this.#turn;
    asked.due ||= due;
  }

  /**
   * A forced turn passed without an answer; a vote that was refused in it is one.
   * @returns for how many turns that was so
   */
  noteUnanswered(asked: Asked): number {
    if (asked.blockedIn !== this.#turn) asked.unanswered++;
    return asked.unanswered;
  }

  /** The state of a preview has changed, which also affects the previews that build on it. */
  follow(preview: Preview): void {
    this.#followOne(preview);
    for (const dependent of this.#store.open.dependentsOf(preview.id)) this.#followOne(dependent);
  }

  /** Removes the directives of all previews. @param due whether they are to be queued again later. */
  withdrawAll({ due }: { readonly due: boolean }): void {
    for (const asked of this.#asked.values()) {
      asked.due = due;
      withdraw(asked);
    }
  }

  forget(id: string): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked) withdraw(asked);
  }

  forgetAllBut(isKept: (id: string) => boolean): void {
    for (const id of [...this.#asked.keys()]) if (!isKept(id)) this.forget(id);
  }

  /** While a preview cannot be resolved, its directive is withdrawn and due again later. */
  #followOne(preview: Preview): void {
    const asked = this.#asked.get(preview.id);
    if (!asked) return;
    if (!isOpen(preview)) return this.forget(preview.id);
    if (!asked.handle || this.isWanted(preview, asked)) return;
    asked.due = true;
    withdraw(asked);
  }
}

function withdraw(asked: Asked): void {
  const { handle } = asked;
  delete asked.handle;
  handle?.remove();
}
