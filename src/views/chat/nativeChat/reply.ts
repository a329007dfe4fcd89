import * as l10n from '@vscode/l10n';
import type { AssistantMessage, ProviderFailureCode } from '../../../agent/session/model/messages.ts';
import { isOpen, titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { previewView } from '../../../agent/hold/preview/previewView.ts';
import type { SessionEvent } from '../../../agent/session/events.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import type { ItemOf } from '../viewItem.ts';
import { previewCard } from '../transcript/previewCard.ts';
import { toolLine } from '../transcript/toolLine.ts';
import { noticeOf } from '../transcript/transcript.ts';
import { cardNotes, reasonOf, stateText } from '../words/cardWords.ts';
import { sayCalls } from '../words/callWords.ts';
import { noticeText } from '../words/noticeWords.ts';
import { retryText } from '../words/statusWords.ts';
import type { CommandArguments, CommandId } from '../../contributions.ts';
import { asMarkdown } from '../../plainText.ts';

/** Output of a reply: the part of `vscode.ChatResponseStream` that it needs. */
export interface ReplySink {
  /** Foreign Markdown, whose command links do nothing. */
  markdown(text: string): void;
  /** Our own Markdown, with links that {@link link} made. */
  linked(text: string): void;
  /** A step, in Markdown. VS Code folds steps once the reply is complete. */
  progress(text: string): void;
  button<K extends CommandId>(title: string, id: K, ...args: CommandArguments[K]): void;
  /** A link that opens the preview as a diff; `title` is Markdown. */
  link(title: string, previewId: string): string;
}

export interface ReplyOptions {
  /** The prompt, as the session stores it. */
  readonly prompt: string;
  readonly sessionId: () => string;
  readonly store: PreviewStore;
  readonly sink: ReplySink;
  /** Whether the prompt still waits for its turn: while it does, a prompt with the same text is a different one. */
  readonly waits: () => boolean;
  /** Called when another prompt begins: the reply is complete, although the session goes on. */
  readonly onEnd: () => void;
}

/** How a reply ended. */
export interface ReplyEnd {
  /** Ids of the previews of this reply that wait for a decision. */
  readonly pending: readonly string[];
  readonly failure?: { readonly message: string; readonly code: ProviderFailureCode | undefined };
}

/** The most previews that get buttons of their own. */
const MAX_WITH_BUTTONS = 3;
/** The most previews that are listed. */
const MAX_LISTED = 20;

/**
 * Writes the session's work on one prompt as a reply in VS Code's own chat: text as it arrives, tool calls as steps, and
 * in the end the previews that were staged, with buttons. These come last, because VS Code folds all that precedes the last
 * text of a reply.
 */
export class Reply {
  readonly #options: ReplyOptions;
  /** Events before and after the run belong to other prompts. */
  #state: 'waiting' | 'running' | 'ended' = 'waiting';
  /** The last preview that was staged before the run. */
  #after: string | undefined;
  /** Previews that the run had staged when it ended. */
  #staged: readonly string[] = [];
  #hasText = false;
  #needsBreak = false;
  #lastAnswer: AssistantMessage | undefined;

  constructor(options: ReplyOptions) {
    this.#options = options;
  }

  get state(): 'waiting' | 'running' | 'ended' {
    return this.#state;
  }

  follow(event: SessionEvent): void {
    if (event.type === 'message_end' && event.message.role === 'user') this.#promptBegins(event.message.text);
    if (this.#state === 'running') this.#write(event);
  }

  #promptBegins(text: string): void {
    const { prompt, store, waits, onEnd } = this.#options;
    if (this.#state === 'running') {
      this.#end();
      onEnd();
    } else if (this.#state === 'waiting' && text === prompt && !waits()) {
      this.#state = 'running';
      this.#after = store.all().at(-1)?.id;
    }
  }

  #end(): void {
    if (this.#state === 'running') this.#staged = this.#stagedSoFar();
    this.#state = 'ended';
  }

  /** Writes the end. To be called once the session has settled, or another prompt has begun. */
  finish(): ReplyEnd {
    this.#end();
    const { store } = this.#options;
    const staged = this.#staged.flatMap(id => store.get(id) ?? []);
    const pending = staged.filter(isOpen);
    if (this.#lastAnswer?.stopReason === 'length')
      this.#note(l10n.t("The answer was cut off: it reached the model's length limit."));
    if (this.#lastAnswer?.stopReason === 'aborted') this.#note(l10n.t('Stopped.'));
    if (staged.length > 0) this.#list(staged, pending.length > 0);
    for (const preview of pending.slice(0, MAX_WITH_BUTTONS)) this.#buttons(preview, pending.length === 1);
    const ids = pending.map(({ id }) => id);
    if (this.#lastAnswer?.stopReason !== 'error') return { pending: ids };
    const { error = l10n.t('The model did not answer.'), errorCode } = this.#lastAnswer;
    return { pending: ids, failure: { message: error, code: errorCode } };
  }

  #buttons(preview: Preview, isOnly: boolean): void {
    const { sink } = this.#options;
    const { id, revision } = preview;
    const titled = (title: string): string => (isOnly ? title : `${title} ${id}`);
    if (planOf(preview)) {
      sink.button(titled(l10n.t('Approve')), 'redline.preview.apply', id, undefined, revision);
      sink.button(titled(l10n.t('Send Back…')), 'redline.preview.discardWithReason', id, undefined, revision);
    } else {
      sink.button(titled(l10n.t('Apply')), 'redline.preview.apply', id, undefined, revision);
      sink.button(titled(l10n.t('Discard')), 'redline.preview.discard', id, undefined, revision);
    }
    sink.button(titled(l10n.t('Open')), 'redline.preview.open', id);
  }

  #write(event: SessionEvent): void {
    const { sink } = this.#options;
    switch (event.type) {
      case 'message_start':
        this.#needsBreak = this.#hasText;
        return;
      case 'message_update':
        sink.markdown(this.#needsBreak ? `\n\n${event.delta}` : event.delta);
        this.#needsBreak = false;
        this.#hasText = true;
        return;
      case 'message_end':
        if (event.message.role === 'assistant') this.#lastAnswer = event.message;
        if (event.message.role === 'steering' && event.message.kind === 'notice')
          this.#note(noticeText(noticeOf(event.message, { preview: id => this.#options.store.get(id) })));
        return;
      case 'tool_start': {
        const { name, summary } = toolLine('', event.call, undefined);
        sink.progress(asMarkdown(l10n.t('Running {0}…', summary === '' ? name : `${name} ${summary}`)));
        return;
      }
      case 'tool_end':
        if (event.result.isError) this.#failed(toolLine('', event.call, event.result));
        return;
      case 'summarizing':
        return sink.progress(asMarkdown(l10n.t('Summarizing earlier messages…')));
      case 'retrying': {
        const seconds = Math.ceil(event.delayMs / 1_000);
        return sink.progress(asMarkdown(retryText(event.code, seconds)));
      }
      case 'turn_start':
      case 'turn_end':
      case 'reasoning_update':
      case 'tool_update':
      case 'preview_changed':
      case 'state_changed':
      case 'plan_mode_changed':
      case 'queue_changed':
      case 'prompts_returned':
      case 'revert_applied':
      case 'instructions_changed':
      case 'renamed':
      case 'storing_failed':
      case 'storing_recovered':
      case 'reset':
        return;
    }
  }

  #failed({ name, file, status }: ItemOf<'tool'>): void {
    const interrupted = status === 'interrupted';
    const call = { name, path: file?.path, failed: !interrupted, interrupted };
    this.#options.sink.progress(asMarkdown(sayCalls([call])));
  }

  /** The previews that this conversation has staged since the reply began. */
  #stagedSoFar(): readonly string[] {
    const { store, sessionId } = this.#options;
    const all = store.all();
    const since = all.slice(all.findIndex(({ id }) => id === this.#after) + 1);
    return since.flatMap(({ id, origin }) => (origin?.sessionId === sessionId() && origin.call ? [id] : []));
  }

  #list(staged: readonly Preview[], waits: boolean): void {
    const { sink } = this.#options;
    const rows = staged.slice(0, MAX_LISTED).map(preview => `- ${this.#row(preview)}`);
    if (staged.length > MAX_LISTED) rows.push(`- ${l10n.t('and {0} more', staged.length - MAX_LISTED)}`);
    const heading = waits ? `**${asMarkdown(l10n.t('Waiting for your review'))}**\n\n` : '';
    sink.linked(`\n\n${heading}${rows.join('\n')}\n`);
    this.#hasText = true;
  }

  #row(preview: Preview): string {
    const { store, sink } = this.#options;
    const lastAttempt = store.ledger().findLast(({ previewId }) => previewId === preview.id);
    const card = previewCard(previewView(preview, { lastAttempt }));
    const title = sink.link(asMarkdown(titleOf(preview)), preview.id);
    const notes = [stateText(card), ...cardNotes(card).map(([, text]) => text), reasonOf(card)];
    return [title, ...notes.flatMap(note => (note === undefined ? [] : asMarkdown(note)))].join(' · ');
  }

  #note(text: string): void {
    this.#options.sink.markdown(`\n\n${asMarkdown(text, Infinity)}\n\n`);
    this.#hasText = true;
  }
}
