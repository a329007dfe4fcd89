import * as l10n from '@vscode/l10n';
import { coalesce } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import type { Event } from '../../agent/base/event.ts';
import type { Logger } from '../../agent/base/logger.ts';
import type { SessionMessage, TokenUsage } from '../../agent/session/model/messages.ts';
import { slashCommands } from '../../agent/session/model/offline/slashCommands.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { CheckMark } from '../../agent/hold/preview/previewView.ts';
import type { Risk } from '../../agent/hold/preview/reading/risks.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { ModelAuthority } from '../../agent/hold/preview/resolveSettings.ts';
import type { SessionEvent } from '../../agent/session/events.ts';
import type { Session } from '../../agent/session/session.ts';
import { todoListOf } from '../../agent/session/tools/todo.ts';
import type { CommandRuns } from '../../agent/sandbox/commands/commandRuns.ts';
import { oneLine } from '../plainText.ts';
import type { Questions } from '../questions.ts';
import type { ChatStatus, DeltaMessage, HostMessage, ViewItem } from './protocol.ts';
import { resolvedCards } from './transcript/cards.ts';
import { DiffStats } from '../review/diffStats.ts';
import type { ReviewList } from '../review/reviewList.ts';
import { itemDelta } from './transcript/itemDelta.ts';
import { LiveTurn, type Effect } from './transcript/liveTurn.ts';
import type { TranscriptInput } from './transcript/lookup.ts';
import { arrivingItem, buildTranscript } from './transcript/transcript.ts';

/** How long changes are collected before they are sent, in milliseconds. */
const THROTTLE_MS = 50;
/** How much longer they may be collected if a long chat takes time to build. */
const MAX_REST_MS = 500;
/** The same for the output of a command and the progress of a tool, which may come fast and for a long time. */
const PROGRESS_MS = 250;

/** The model that the settings currently select. */
export interface ModelInfo {
  readonly label: string;
  /** Whether no model is connected: the offline provider answers. */
  readonly offline: boolean;
}

export interface ChatFeedOptions {
  readonly session: Session;
  readonly store: PreviewStore;
  readonly customTools: { readonly withheld: readonly string[]; readonly onDidChange: Event<void> };
  readonly commandRuns: CommandRuns;
  readonly checks?: {
    readonly hasChecks: boolean;
    marksOf(preview: Preview): readonly CheckMark[];
    readonly onDidChange: Event<void>;
  };
  readonly risks?: {
    of(preview: Preview): readonly Risk[];
    readonly onDidChange: Event<void>;
  };
  readonly review?: Pick<ReviewList, 'inOrder' | 'onDidChange'>;
  readonly questions?: Pick<Questions, 'open' | 'onDidChange'>;
  readonly mode: { get(): ModelAuthority; readonly onDidChange: Event<void> };
  readonly model: () => ModelInfo;
  /** Line about a review that has just ended, else empty. */
  readonly reviewDone?: { readonly line: string; readonly onDidChange: Event<unknown> };
  /** The texts in VS Code's display language, keyed by the English ones; `undefined` for English. */
  readonly texts: Readonly<Record<string, string>> | undefined;
  readonly logger: Logger;
  /** The address of an image's file in the panel. */
  readonly imageSrc?: (file: string) => string;
  /** Hands a message to the webview. */
  readonly post: (message: HostMessage) => void;
}

/**
 * Keeps the webview up to date: a snapshot when it connects, then throttled deltas. While no webview is connected, nothing
 * is built or sent.
 */
export class ChatFeed extends Owner {
  readonly #options: ChatFeedOptions;
  readonly #live: LiveTurn;
  readonly #stats: DiffStats;
  readonly #flushSoon = coalesce(() => this.#flush(), THROTTLE_MS, MAX_REST_MS);
  readonly #progressSoon = coalesce(() => this.refresh(), PROGRESS_MS);
  /** Content of the webview; `undefined` while none is connected. */
  #shown: { readonly sessionId: string; items: readonly ViewItem[]; status: ChatStatus } | undefined;
  /** Previews by other producers that this conversation has shown: they stay once they are decided. */
  readonly #elsewhere = new Set<string>();
  /** Sent as soon as a webview connects. */
  #waiting: HostMessage[] = [];
  #dirty: Exclude<Effect, 'progress'> = 'none';

  /** @param live the running turn so far */
  constructor(options: ChatFeedOptions, live = new LiveTurn()) {
    super();
    this.#options = options;
    this.#live = live;
    this.#stats = this.own(new DiffStats(options.logger, () => this.refresh()));
    this.own(options.session.onDidEmit(event => this.#follow(event)));
    this.own(options.mode.onDidChange(() => this.refresh()));
    if (options.reviewDone) this.own(options.reviewDone.onDidChange(() => this.refresh()));
    if (options.review) this.own(options.review.onDidChange(() => this.refresh()));
    if (options.questions) this.own(options.questions.onDidChange(() => this.refresh()));
    this.own(options.customTools.onDidChange(() => this.refresh()));
    this.own(options.commandRuns.onDidChange(this.#progressSoon));
    if (options.checks) this.own(options.checks.onDidChange(this.#progressSoon));
    if (options.risks) this.own(options.risks.onDidChange(() => this.refresh()));
    this.own({ dispose: () => this.#progressSoon.cancel() });
    this.own({ dispose: () => this.#flushSoon.cancel() });
  }

  /** A webview is ready, for the first time or after a reload: sends it a snapshot. */
  connect(): void {
    this.#options.post({ type: 'language', texts: { ...this.#options.texts } });
    this.#sendSnapshot();
    for (const message of this.#waiting.splice(0)) this.#options.post(message);
  }

  /** The webview is gone or hidden. */
  disconnect(): void {
    this.#shown = undefined;
  }

  /** Rebuilds everything soon and sends the changes. */
  refresh(): void {
    this.#mark('all');
  }

  /** Sends the status even if it did not change: the webview may have updated its controls optimistically. */
  sendStatus(): void {
    if (!this.#shown) return;
    this.#shown.status = this.#status();
    this.#options.post({ type: 'delta', items: [], texts: [], status: this.#shown.status });
  }

  /** Sends a message now, or as soon as a webview connects. */
  send(message: HostMessage): void {
    if (this.#shown) this.#options.post(message);
    else this.#waiting.push(message);
  }

  #follow(event: SessionEvent): void {
    this.#mark(this.#live.follow(event));
  }

  #mark(effect: Effect): void {
    if (effect === 'none' || !this.#shown) return;
    if (effect === 'progress') return this.#progressSoon();
    if (this.#dirty !== 'all') this.#dirty = effect;
    this.#flushSoon();
  }

  #flush(): void {
    const effect = this.#dirty;
    this.#dirty = 'none';
    if (!this.#shown) return;
    const { items: before, status: oldStatus, sessionId } = this.#shown;
    const { session } = this.#options;
    if (sessionId !== session.id) {
      this.#elsewhere.clear();
      return this.#sendSnapshot();
    }
    const arrived = effect === 'text' ? this.#withArriving(before) : undefined;
    const { items, resolved } = arrived ? { ...arrived, resolved: [] } : this.#itemsAfter(before);
    const status = this.#status(arrived ? oldStatus.context : this.#context());
    const statusChanged = JSON.stringify(status) !== JSON.stringify(oldStatus);
    const changed = arrived ? { items: [], texts: [arrived.grown] } : itemDelta(before, items);
    const delta = changed ?? (statusChanged ? { items: [], texts: [] } : undefined);
    this.#live.takeFresh();
    this.#shown.items = items;
    this.#shown.status = status;
    if (!delta) return;
    this.#options.post({
      type: 'delta',
      ...delta,
      items: [...delta.items, ...resolved],
      ...(statusChanged ? { status } : {}),
    });
  }

  /** The current items, and the cards that have left them, which the page announces before it removes them. */
  #itemsAfter(before: readonly ViewItem[]): { items: readonly ViewItem[]; resolved: readonly ViewItem[] } {
    const input = this.#input();
    const items = buildTranscript(input);
    return { items, resolved: resolvedCards(before, items, input) };
  }

  /**
   * The shown items with the text that has arrived since, and that text. The list is not rebuilt, and the whole answer is not
   * read; `undefined` if the answer is not shown.
   */
  #withArriving(
    before: readonly ViewItem[],
  ): { items: readonly ViewItem[]; grown: DeltaMessage['texts'][number] } | undefined {
    const item = arrivingItem(this.#options.session.tree.nextId, this.#live.arriving);
    const at = before.findLastIndex(({ key }) => key === item.key);
    if (at < 0) return undefined;
    const { text, reasoning } = this.#live.takeFresh();
    return { items: before.with(at, item), grown: { key: item.key, append: text, reasoning } };
  }

  #sendSnapshot(): void {
    const { session, post } = this.#options;
    this.#shown = { sessionId: session.id, items: buildTranscript(this.#input()), status: this.#status() };
    const { items, status } = this.#shown;
    this.#live.takeFresh();
    post({
      type: 'snapshot',
      session: session.id,
      commands: [...slashCommands(l10n)],
      items: [...items],
      status,
    });
  }

  #input(): TranscriptInput {
    const { session, store, model, customTools, commandRuns } = this.#options;
    for (const { id, origin } of store.open) if (origin?.sessionId !== session.id) this.#elsewhere.add(id);
    return {
      sessionId: session.id,
      state: session.state,
      messages: session.messages,
      nodeAt: position => session.tree.idAt(position) ?? position,
      nextNode: session.tree.nextId,
      arriving: this.#live.arriving,
      liveResult: id => this.#live.result(id),
      liveProgress: id => this.#live.progress(id),
      question: this.#options.questions?.open,
      queued: session.queue.list,
      offline: model().offline,
      previews: store.all(),
      withheldTools: customTools.withheld,
      elsewhere: this.#elsewhere,
      ledger: store.ledger(),
      stats: preview => this.#stats.of(preview),
      checks: preview => this.#options.checks?.marksOf(preview) ?? [],
      hasChecks: this.#options.checks?.hasChecks === true,
      inOrder: previews => this.#options.review?.inOrder(previews) ?? previews,
      risks: preview => this.#options.risks?.of(preview) ?? [],
      commandOutput: id => commandRuns.outputOf(id),
      ...(this.#options.imageSrc ? { imageSrc: this.#options.imageSrc } : {}),
    };
  }

  /** @param context may be given while only text arrives, which does not change it. */
  #status(context = this.#context()): ChatStatus {
    const { session, mode, model } = this.#options;
    const { label, offline } = model();
    const todo = todoListOf(session.messages);
    return {
      state: session.state,
      mode: mode.get(),
      planMode: session.planMode,
      model: label,
      offline,
      usage: tokenUse(session.messages),
      context,
      ...(todo.length > 0 ? { todo: todo.map(({ text, state }) => ({ text: oneLine(text), state })) } : {}),
      instructions: session.requests.instructions.map(({ path, isCut }) => ({ path: oneLine(path), isCut })),
      activity: this.#activity(),
    };
  }

  #context(): ChatStatus['context'] {
    const { session } = this.#options;
    const use = session.tree.hasNothingForModel ? undefined : session.contextUse;
    if (!use) return undefined;
    const { tokens, window, isCounted, isWindowKnown } = use;
    return { tokens, window, isCounted, isWindowKnown };
  }

  #activity(): ChatStatus['activity'] {
    const { session, store, reviewDone } = this.#options;
    const isPending = ({ state }: Preview): boolean => state.kind === 'pending';
    if (session.state === 'awaitingReview' && !store.all().some(isPending)) return { kind: 'applying' };
    if (session.state === 'idle' && reviewDone && reviewDone.line !== '')
      return { kind: 'reviewed', text: reviewDone.line };
    if (session.state !== 'running') return undefined;
    if (this.#options.questions?.open) return { kind: 'asking' };
    const { retry, summarizing } = this.#live;
    const seconds = retry ? Math.ceil((retry.at - Date.now()) / 1_000) : 0;
    if (retry && seconds > 0) return { kind: 'retrying', code: retry.code, seconds };
    return summarizing ? { kind: 'summarizing' } : undefined;
  }
}

/** The tokens that the session and its last request used, as reported by the server; `undefined` if it reported none. */
export function tokenUse(messages: readonly SessionMessage[]): ChatStatus['usage'] {
  const counts = messages.flatMap(message =>
    message.role === 'assistant' && message.usage ? [message.usage] : [],
  );
  const last = counts.at(-1);
  if (!last) return undefined;
  return {
    session: counts.reduce(plus),
    last: { inputTokens: last.inputTokens, outputTokens: last.outputTokens },
  };
}

function plus(a: TokenUsage, b: TokenUsage): TokenUsage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
}
