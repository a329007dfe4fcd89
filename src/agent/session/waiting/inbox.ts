import type { SteeringMessage } from '../model/messages.ts';
import type { Fact } from '../../hold/preview/feed.ts';
import { isOpen, type Preview } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import { isMoot, waitsForAttempt } from '../../hold/preview/resolve/moot.ts';
import { changeSetText, factText } from '../../hold/preview/resolve/resolveTexts.ts';

/** The messages that the next request will tell the model, in the order of events. */
export class Inbox {
  readonly #store: PreviewStore;
  readonly #topics = new Map<string, SteeringMessage>();
  /** The facts behind messages whose wording depends on the state of the preview when they are sent. */
  readonly #facts = new WeakMap<SteeringMessage, Fact>();
  #messages: SteeringMessage[] = [];

  constructor(store: PreviewStore) {
    this.#store = store;
  }

  /**
   * Adds the message that tells a fact. Of several unsent rebases of a preview, only the last one is told, and a passing stale
   * state is not.
   */
  addFact(message: SteeringMessage, fact: Fact): void {
    const unsent = fact.kind === 'fresh' ? this.#unsentStale(fact) : undefined;
    if (unsent) return this.#remove(unsent);
    const isRebase = fact.kind === 'revision' && fact.by === 'rebase';
    const added = this.#add(message, isRebase ? `rebase ${fact.previewId}` : undefined);
    this.#facts.set(added, fact);
  }

  #unsentStale({ previewId }: Fact): SteeringMessage | undefined {
    return this.#messages.findLast(message => {
      const fact = this.#facts.get(message);
      return fact?.previewId === previewId && fact.kind === 'stale';
    });
  }

  #remove(message: SteeringMessage): void {
    this.#messages = this.#messages.filter(candidate => candidate !== message);
  }

  add(message: SteeringMessage): void {
    this.#add(message);
  }

  /** @param topic an unsent message on the same topic is replaced, and its facts count as told with the new one. */
  #add(message: SteeringMessage, topic?: string): SteeringMessage {
    if (topic === undefined) {
      this.#messages.push(message);
      return message;
    }
    const earlier = this.#messages.find(candidate => candidate === this.#topics.get(topic));
    const tells = [...(earlier?.tells ?? []), ...(message.tells ?? [])];
    const latest = tells.length > 0 ? { ...message, tells } : message;
    this.#messages = [...this.#messages.filter(candidate => candidate !== earlier), latest];
    this.#topics.set(topic, latest);
    return latest;
  }

  /** The unsent messages. */
  get messages(): readonly SteeringMessage[] {
    return this.#messages;
  }

  /** The unsent messages of one kind. */
  ofKind(kind: SteeringMessage['kind']): readonly SteeringMessage[] {
    return this.#messages.filter(message => message.kind === kind);
  }

  /**
   * Drops messages about previews that do not concern the conversation, and messages that tell nothing new.
   * @param told keys of facts.
   */
  keepOnly(concerns: (previewId: string) => boolean, told: ReadonlySet<string>): void {
    const isNews = ({ tells }: SteeringMessage): boolean =>
      !tells?.length || tells.some(key => !told.has(key));
    this.#messages = this.#messages.filter(message => message.previewIds.every(concerns) && isNews(message));
  }

  /**
   * Drops the outcomes of file previews on which the model voted too late, and the staleness of those on which its vote was refused
   * for that: the answers to those votes have told it.
   * @returns the keys of these facts.
   */
  noteTold(late: readonly Preview[], stale: readonly string[]): readonly string[] {
    const told = late.filter(one => one.kind === 'files' && !isOpen(one) && !one.editedByUser && !one.part);
    const keys: string[] = [];
    this.#messages = this.#messages.filter(message => {
      const fact = this.#facts.get(message);
      const isTold =
        fact?.kind === 'stale'
          ? stale.includes(fact.previewId)
          : fact?.kind === 'attempt' && !fact.entry.unsaved && told.some(({ id }) => id === fact.previewId);
      if (fact && isTold) keys.push(fact.key);
      return !isTold;
    });
    return keys;
  }

  clear(): void {
    this.#topics.clear();
    this.#messages = [];
  }

  /** Removes and returns the notices, which the user must see even if no request follows. */
  takeNotices(): readonly SteeringMessage[] {
    const notices = this.ofKind('notice');
    this.#messages = this.#messages.filter(({ kind }) => kind !== 'notice');
    return notices;
  }

  /**
   * Removes and returns the messages for the next request: one message with all events of previews that still matter, in their
   * order; one reminder for each preview, and none for a preview that has been resolved since. A message that depends on the end of
   * an attempt stays in the inbox until then.
   * @param hold keeps reminders in the inbox while the model cannot follow them: in Manual and in plan mode.
   * @param asks whether the model is still asked to resolve a preview.
   * @param joins whether one reminder names all the previews, since none is forced on its own.
   */
  takeMessages(
    hold: boolean,
    asks: (previewId: string) => boolean,
    joins: boolean,
  ): readonly SteeringMessage[] {
    const held = this.#messages.filter(
      message => (hold && message.kind === 'resolve-reminder') || this.#waitsForAttempt(message),
    );
    const said = this.#messages.filter(message => !held.includes(message));
    const all = said.filter(
      ({ kind, previewIds, text }, at) =>
        kind !== 'resolve-reminder' ||
        (previewIds.some(id => this.#isOpen(id) && asks(id)) &&
          said.findLastIndex(m => m.text === text) === at),
    );
    const messages = joins ? this.#joined(all) : all;
    this.#messages = [...held];
    const facts = messages.filter(isFact);
    const [first] = facts;
    if (!first) return messages;
    const told = facts.flatMap(message => this.#asItIsNow(message));
    const joined: SteeringMessage = {
      ...first,
      kind: facts.some(({ kind }) => kind === 'outcome') ? 'outcome' : 'revision',
      text: told.map(message => message.text).join('\n'),
      previewIds: told.flatMap(message => message.previewIds),
      // Moot facts are left out: they matter again if their cause is lost before it is stored.
      tells: told.flatMap(message => message.tells ?? []),
    };
    return messages.flatMap(message =>
      message === first ? (told.length > 0 ? [joined] : []) : isFact(message) ? [] : [message],
    );
  }

  /** The messages with one reminder in place of several. */
  #joined(messages: readonly SteeringMessage[]): readonly SteeringMessage[] {
    const reminders = messages.filter(({ kind }) => kind === 'resolve-reminder');
    const previewIds = [...new Set(reminders.flatMap(message => message.previewIds))];
    const previews = previewIds.flatMap(id => this.#store.get(id) ?? []);
    const last = reminders.at(-1);
    if (!last || previews.length < 2) return messages;
    const joined: SteeringMessage = { ...last, previewIds, text: changeSetText(previews) };
    return messages.flatMap(message =>
      message === last ? joined : reminders.includes(message) ? [] : message,
    );
  }

  /** A message in words that are true now; nothing if its fact no longer matters. */
  #asItIsNow(message: SteeringMessage): SteeringMessage | [] {
    const fact = this.#facts.get(message);
    if (!fact || fact.kind === 'attempt') return message;
    const preview = this.#store.get(fact.previewId);
    return !preview || isMoot(fact, preview) ? [] : { ...message, text: factText(fact, preview) };
  }

  #waitsForAttempt(message: SteeringMessage): boolean {
    const fact = this.#facts.get(message);
    return fact !== undefined && waitsForAttempt(fact, this.#store.get(fact.previewId));
  }

  #isOpen(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && isOpen(preview);
  }
}

/** Whether the message reports the outcome of a preview. */
function isFact({ kind }: SteeringMessage): boolean {
  return kind === 'outcome' || kind === 'revision';
}
