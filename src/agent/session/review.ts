import type { SteeringMessage } from '../model/messages.ts';
import { PLAN_SOURCE } from '../preview/authority.ts';
import type { LedgerEntry } from '../preview/ledger.ts';
import { isOpen, type Preview } from '../preview/preview.ts';
import type { RevisedBy } from '../preview/previewLog.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { expiredText, outcomeText, revisionText } from '../preview/resolveTexts.ts';

/**
 * What a conversation has to do with previews: those that it knows of, those that were staged since the last prompt,
 * and what the model is to be told of them with its next request.
 */
export class Review {
  readonly #store: Pick<PreviewStore, 'get'>;
  readonly #known = new Set<string>();
  /** Staged since the last prompt: once they are resolved, the session may go on by itself. */
  readonly #current = new Set<string>();
  readonly #topics = new Map<string, SteeringMessage>();
  #inbox: SteeringMessage[] = [];

  constructor(store: Pick<PreviewStore, 'get'>) {
    this.#store = store;
  }

  /** A preview was staged in this conversation. */
  staged(id: string): void {
    this.#known.add(id);
    this.#current.add(id);
  }

  /** A preview of this conversation that the review need not wait for: from before this process, or brought back. */
  remember(id: string): void {
    this.#known.add(id);
  }

  /** A part was split off: the review waits for it if it waits for what it is a part of. */
  split(id: string, part: string): void {
    if (this.#current.has(id)) this.staged(part);
    else this.remember(part);
  }

  knows(id: string): boolean {
    return this.#known.has(id);
  }

  /** The conversation has nothing to do with a preview any more, and nothing is to be told of it. */
  forget(id: string): void {
    this.#known.delete(id);
    this.#current.delete(id);
    this.#inbox = this.#inbox.filter(({ previewIds }) => !previewIds.includes(id));
  }

  /** Whether the next request is to say this. */
  isToTell(text: string): boolean {
    return this.#inbox.some(message => message.text === text);
  }

  /** What was staged so far is no longer waited for: a newer prompt, Stop, Discard All. */
  end(): void {
    this.#current.clear();
  }

  /** Forgets everything: another conversation begins. */
  clear(): void {
    this.#known.clear();
    this.#current.clear();
    this.#topics.clear();
    this.#inbox = [];
  }

  /** Whether a preview of this conversation can still be resolved. */
  get hasOpen(): boolean {
    return [...this.#known].some(id => this.#isOpen(id));
  }

  /**
   * Whether outcomes of the current review wait to be told, and nothing is left to resolve. A plan that was decided on
   * waits for nothing else.
   */
  get isOver(): boolean {
    const told = this.#inbox.flatMap(({ kind, previewIds }) => (kind === 'outcome' ? previewIds : []));
    const current = told.filter(id => this.#current.has(id));
    const isPlan = (id: string): boolean => this.#store.get(id)?.sourceToolName === PLAN_SOURCE;
    return current.some(isPlan) || (current.length > 0 && !this.hasOpen);
  }

  /**
   * Something for the model's next request.
   * @param topic takes the place of what was said on the same topic and not sent yet.
   */
  tell(message: SteeringMessage, topic?: string): void {
    if (topic !== undefined) {
      const earlier = this.#topics.get(topic);
      this.#inbox = this.#inbox.filter(candidate => candidate !== earlier);
      this.#topics.set(topic, message);
    }
    this.#inbox.push(message);
  }

  /** What became of a preview, if this conversation knows it. */
  tellOutcome(message: SteeringMessage): void {
    if (message.previewIds.some(id => this.#known.has(id))) this.tell(message);
  }

  /** The model saw an older revision. Of several rebases that were not told yet only the last one is. */
  tellRevision(preview: Preview, by: RevisedBy, patch?: string): void {
    const text = revisionText(preview, by, patch);
    const message: SteeringMessage = { role: 'steering', kind: 'revision', text, previewIds: [preview.id] };
    this.tell(message, by === 'rebase' ? `rebase ${preview.id}` : undefined);
  }

  /** What the person must see although no request follows. */
  takeNotices(): readonly SteeringMessage[] {
    const notices = this.#inbox.filter(message => message.kind === 'notice');
    this.#inbox = this.#inbox.filter(message => message.kind !== 'notice');
    return notices;
  }

  /**
   * What the next request is to say, once: all outcomes in one message, one reminder for each preview, and none of what
   * was resolved before it could be sent.
   * @param hold keeps reminders back, while the model cannot do what they ask for: in Manual and in plan mode.
   */
  takeMessages(hold = false): readonly SteeringMessage[] {
    const held = this.#inbox.filter(({ kind }) => hold && kind === 'resolve-reminder');
    const said = this.#inbox.filter(message => !held.includes(message));
    const messages = said.filter(
      ({ kind, previewIds, text }, at) =>
        kind !== 'resolve-reminder' ||
        (previewIds.some(id => this.#isOpen(id)) && said.findLastIndex(m => m.text === text) === at),
    );
    this.#inbox = held;
    const outcomes = messages.filter(message => message.kind === 'outcome');
    const [first] = outcomes;
    if (!first) return messages;
    const joined: SteeringMessage = {
      ...first,
      text: outcomes.map(message => message.text).join('\n'),
      previewIds: outcomes.flatMap(message => message.previewIds),
    };
    return messages.flatMap(message =>
      message === first ? [joined] : message.kind === 'outcome' ? [] : [message],
    );
  }

  #isOpen(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && isOpen(preview);
  }
}

/** Whether the model has the outcome as the result of its own call. */
function wasHeard({ actor, interrupted }: LedgerEntry): boolean {
  return actor === 'model' && interrupted !== true;
}

/** Tells the model how a resolution ended that it did not see. */
function outcomeMessage(entry: LedgerEntry, store: Pick<PreviewStore, 'get'>): SteeringMessage {
  const { previewId } = entry;
  const text = outcomeText(entry, store.get(previewId)?.part);
  return { role: 'steering', kind: 'outcome', text, previewIds: [previewId] };
}

/** What became of previews, for the model. */
export type Outcomes = readonly SteeringMessage[];

/** The same for all of them that it did not hear. */
export function outcomeMessages(entries: readonly LedgerEntry[], store: Pick<PreviewStore, 'get'>): Outcomes {
  return entries.filter(entry => !wasHeard(entry)).map(entry => outcomeMessage(entry, store));
}

/** Tells the model that nobody can apply a preview any more. */
export function expiryMessage(preview: Preview): SteeringMessage {
  const text = expiredText(preview);
  return { role: 'steering', kind: 'outcome', text, previewIds: [preview.id] };
}
