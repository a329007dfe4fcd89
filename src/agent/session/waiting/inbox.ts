import type { SteeringMessage } from '../../model/messages.ts';
import { isOpen } from '../../preview/preview.ts';
import type { PreviewStore } from '../../preview/previewStore.ts';

/** What the model will be told with its next request, in the order in which it happened. */
export class Inbox {
  readonly #store: PreviewStore;
  readonly #topics = new Map<string, SteeringMessage>();
  #messages: SteeringMessage[] = [];

  constructor(store: PreviewStore) {
    this.#store = store;
  }

  /** @param topic a message on the same topic that was not sent yet is replaced, and what it tells counts as told with it. */
  add(message: SteeringMessage, topic?: string): void {
    if (topic === undefined) return void this.#messages.push(message);
    const earlier = this.#messages.find(candidate => candidate === this.#topics.get(topic));
    const tells = [...(earlier?.tells ?? []), ...(message.tells ?? [])];
    const latest = tells.length > 0 ? { ...message, tells } : message;
    this.#messages = [...this.#messages.filter(candidate => candidate !== earlier), latest];
    this.#topics.set(topic, latest);
  }

  /** The unsent messages. */
  get messages(): readonly SteeringMessage[] {
    return this.#messages;
  }

  /** The unsent messages of one kind. */
  ofKind(kind: SteeringMessage['kind']): readonly SteeringMessage[] {
    return this.#messages.filter(message => message.kind === kind);
  }

  /** Drops messages about previews that do not concern the conversation. */
  keepOnly(concerns: (previewId: string) => boolean): void {
    this.#messages = this.#messages.filter(({ previewIds }) => previewIds.every(concerns));
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
   * Removes and returns the messages for the next request: all outcomes as one message, one reminder for each preview,
   * and no reminder for a preview that has been resolved since.
   * @param hold keeps reminders in the inbox while the model cannot do what they ask for: in Manual and in plan mode.
   */
  takeMessages(hold = false): readonly SteeringMessage[] {
    const held = hold ? this.ofKind('resolve-reminder') : [];
    const said = this.#messages.filter(message => !held.includes(message));
    const messages = said.filter(
      ({ kind, previewIds, text }, at) =>
        kind !== 'resolve-reminder' ||
        (previewIds.some(id => this.#isOpen(id)) && said.findLastIndex(m => m.text === text) === at),
    );
    this.#messages = [...held];
    const outcomes = messages.filter(message => message.kind === 'outcome');
    const [first] = outcomes;
    if (!first) return messages;
    const joined: SteeringMessage = {
      ...first,
      text: outcomes.map(message => message.text).join('\n'),
      previewIds: outcomes.flatMap(message => message.previewIds),
      tells: outcomes.flatMap(message => message.tells ?? []),
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
