import type { SteeringMessage } from '../../model/messages.ts';
import { isOpen, type Preview } from '../../preview/preview.ts';
import type { RevisedBy } from '../../preview/log/previewLog.ts';
import type { PreviewStore } from '../../preview/previewStore.ts';
import { revisionText } from '../../preview/resolve/resolveTexts.ts';

/** What the model will be told with its next request, in the order in which it happened. */
export class Inbox {
  readonly #store: Pick<PreviewStore, 'get'>;
  readonly #topics = new Map<string, SteeringMessage>();
  #messages: SteeringMessage[] = [];

  constructor(store: Pick<PreviewStore, 'get'>) {
    this.#store = store;
  }

  /** @param topic a message on the same topic that was not sent yet is replaced. */
  add(message: SteeringMessage, topic?: string): void {
    if (topic !== undefined) {
      const earlier = this.#topics.get(topic);
      this.#messages = this.#messages.filter(candidate => candidate !== earlier);
      this.#topics.set(topic, message);
    }
    this.#messages.push(message);
  }

  /** The model has seen an older revision of the preview. Of several unsent rebases only the last one is told. */
  addRevision(preview: Preview, by: RevisedBy, patch?: string): void {
    const text = revisionText(preview, by, patch);
    const message: SteeringMessage = { role: 'steering', kind: 'revision', text, previewIds: [preview.id] };
    this.add(message, by === 'rebase' ? `rebase ${preview.id}` : undefined);
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
