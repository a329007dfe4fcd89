import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter, type Event } from '../base/event.ts';
import type { Logger } from '../base/log.ts';
import type { ChatProvider, ChatRequest, ToolChoice } from '../model/chatProvider.ts';
import type { SessionMessage, SteeringMessage, ToolCall, ToolResultMessage } from '../model/messages.ts';
import { SYSTEM_PROMPT } from '../model/prompts.ts';
import type { Invoker } from '../preview/invoker.ts';
import type { LedgerEntry } from '../preview/ledger.ts';
import { ModelResolver, type ResolveQueue } from '../preview/modelResolver.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import {
  isOpen,
  type ModelAuthority,
  type Preview,
  type PreviewOrigin,
  type ResolveOrder,
} from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { queueResolveHandler, type QueuedPreview } from '../preview/queueResolveHandler.ts';
import { ResolveDirectives } from '../preview/resolveDirectives.ts';
import { outcomeText } from '../preview/resolveTexts.ts';
import { ToolChoiceQueue } from '../preview/toolChoiceQueue.ts';
import type { Workspace } from '../preview/workspace.ts';
import { executeToolCall } from '../tools/execute.ts';
import { specOf, type ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import type { SessionEvent, SessionState } from './events.ts';
import { runLoop, type LoopEnd } from './loop.ts';

/** The settings that a session follows; read anew whenever they matter. */
export interface SessionSettings {
  readonly modelAuthority: ModelAuthority;
  readonly order: ResolveOrder;
  readonly continueAfterReview: boolean;
}

export interface SessionOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly tools: ToolRegistry;
  readonly workspace: Workspace;
  readonly logger: Logger;
  readonly settings: () => SessionSettings;
  /** The provider that answers a prompt; asked once for each prompt. */
  readonly providerFor: (prompt: string) => ChatProvider;
}

/**
 * One conversation: its messages, the loop that extends them, and what of the previews concerns the model. It
 * owns the tool-choice queue; previews and their states belong to the store, resolving to the invoker.
 */
export class Session implements Disposable {
  readonly #options: SessionOptions;
  readonly #queue: ResolveQueue = new ToolChoiceQueue();
  readonly #resolver: ModelResolver;
  readonly #directives: ResolveDirectives;
  readonly #owned = new DisposableStore();
  readonly #events = new Emitter<SessionEvent>();
  #id = newSessionId();
  #messages: SessionMessage[] = [];
  /** What the runtime has to tell the model with its next request. */
  #inbox: SteeringMessage[] = [];
  #prompts: string[] = [];
  /** Previews that this conversation knows of. */
  #known = new Set<string>();
  #state: SessionState = 'idle';
  #provider: ChatProvider | undefined;
  #abort: AbortController | undefined;
  #run: Promise<void> | undefined;
  #answers = 0;

  readonly onDidEmit: Event<SessionEvent> = this.#events.event;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { store, invoker, settings } = options;
    this.#resolver = new ModelResolver(store, invoker, this.#queue);
    this.#directives = this.#owned.add(
      new ResolveDirectives({
        store,
        invoker,
        queue: this.#queue,
        resolver: this.#resolver,
        order: () => settings().order,
        authority: () => settings().modelAuthority,
        steer: message => void this.#inbox.push(message),
      }),
    );
    this.#owned.add(store.onDidChange(preview => this.#emit({ type: 'preview_changed', preview })));
    this.#owned.add(store.onDidResolve(entry => this.#followResolution(entry)));
  }

  get id(): string {
    return this.#id;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The conversation as the model is sent it, without what still waits in line. */
  get messages(): readonly SessionMessage[] {
    return this.#messages;
  }

  /**
   * Adds a prompt. While the session runs, it is taken up when the model has ended its turn.
   * @returns settles when the session is idle or awaits review; never rejects for what the model or server does.
   */
  prompt(text: string): Promise<void> {
    this.#prompts.push(text);
    return this.#start();
  }

  /** Asks the model to go on with what it has been told since. Does nothing while the session runs. */
  continue(): Promise<void> {
    return this.#run ?? this.#start();
  }

  /** Stops the running turn, and drops prompts that wait for it. What was staged stays pending. */
  stop(): void {
    this.#prompts = [];
    this.#abort?.abort(new DOMException('Stopped by the user.', 'AbortError'));
    if (this.#state === 'awaitingReview') this.#setState('idle');
  }

  /** Begins an empty conversation. Previews stay pending, and stop concerning the model. */
  async new(): Promise<void> {
    this.stop();
    await this.#run;
    this.#queue.clear();
    this.#id = newSessionId();
    this.#messages = [];
    this.#inbox = [];
    this.#known.clear();
    this.#provider = undefined;
    this.#emit({ type: 'reset' });
    this.#setState('idle');
  }

  /** Stages a preview for whoever produces one; `origin` is left out by those who are no tool call. */
  stage(action: PendingAction, origin: PreviewOrigin | null = null): QueuedPreview {
    const { store, invoker } = this.#options;
    const remind = (preview: Preview): void => {
      this.#known.add(preview.id);
      this.#directives.remind(preview);
    };
    return queueResolveHandler({ store, invoker, remind }, action, origin);
  }

  /** The review ended as a whole (Discard All): the outcomes wait for the next prompt. */
  endReview(): void {
    if (this.#state === 'awaitingReview') this.#setState('idle');
  }

  dispose(): void {
    this.stop();
    this.#owned.dispose();
    this.#events.dispose();
  }

  #start(): Promise<void> {
    this.#run ??= this.#runAll().finally(() => {
      this.#run = undefined;
    });
    return this.#run;
  }

  async #runAll(): Promise<void> {
    this.#setState('running');
    let end: LoopEnd;
    do {
      const prompt = this.#prompts.shift();
      if (prompt !== undefined) {
        this.#provider = this.#options.providerFor(prompt);
        this.#append({ role: 'user', text: prompt });
      }
      this.#abort = new AbortController();
      end = await this.#runOnce(this.#provider ?? this.#options.providerFor(''), this.#abort.signal);
    } while (this.#prompts.length > 0 || (end === 'done' && this.#reviewIsOver()));
    this.#setState(end === 'done' && this.#hasOpenPreviews() ? 'awaitingReview' : 'idle');
  }

  #runOnce(provider: ChatProvider, signal: AbortSignal): Promise<LoopEnd> {
    const { tools, logger } = this.#options;
    return runLoop(
      {
        provider,
        nextRequest: () => this.#nextRequest(),
        append: message => this.#append(message),
        execute: call => this.#execute(call, signal),
        isReadOnly: call => tools.get(call.name)?.readOnly === true,
        settle: end => (end === 'resolve' ? this.#queue.resolve() : this.#queue.reject(end)),
        hasMoreToSay: () => this.#queue.hasQueued,
        emit: event => this.#emit(event),
        report: failure =>
          logger.error(`Request to ${provider.id} failed (${failure.code}): ${failure.detail}`),
      },
      signal,
    );
  }

  #nextRequest(): ChatRequest {
    for (const message of this.#inbox.splice(0)) if (this.#stillTrue(message)) this.#append(message);
    this.#resolver.beginTurn();
    const tools = this.#tools();
    const toolChoice = this.#nextToolChoice(tools);
    return {
      system: SYSTEM_PROMPT,
      messages: [...this.#messages],
      tools: tools.map(specOf),
      ...(toolChoice ? { toolChoice } : {}),
    };
  }

  /** A reminder of what was resolved before it could be sent is not sent. */
  #stillTrue({ kind, previewIds }: SteeringMessage): boolean {
    return kind !== 'resolve-reminder' || previewIds.some(id => this.#isOpen(id));
  }

  /** The next choice that names a tool on offer; others are rejected as unavailable. */
  #nextToolChoice(tools: readonly Tool[]): ToolChoice | undefined {
    const choice = this.#queue.nextToolChoice();
    if (choice?.type !== 'tool' || tools.some(tool => tool.name === choice.name)) return choice;
    this.#queue.reject('unavailable');
    return undefined;
  }

  #tools(): readonly Tool[] {
    const withResolve = this.#options.settings().modelAuthority !== 'none';
    return this.#options.tools.createTools(undefined, { withResolve });
  }

  #execute(call: ToolCall, signal: AbortSignal): Promise<ToolResultMessage> {
    const { workspace, logger, settings } = this.#options;
    const origin = { sessionId: this.#id, messageId: `m${this.#answers}`, toolCallId: call.id };
    return executeToolCall(call, {
      tools: this.#tools(),
      logger,
      userReviews: settings().modelAuthority === 'none',
      context: {
        signal,
        workspace,
        stage: async action => {
          const { preview, stored } = this.stage(action, origin);
          await stored.catch(() => undefined);
          return preview;
        },
        resolve: resolveCall => this.#resolver.resolve(resolveCall),
      },
    });
  }

  #followResolution(entry: LedgerEntry): void {
    if (!this.#known.has(entry.previewId) || entry.actor === 'model') return;
    this.#inbox.push({
      role: 'steering',
      kind: 'outcome',
      text: outcomeText(entry),
      previewIds: [entry.previewId],
    });
    if (this.#state !== 'awaitingReview' || this.#hasOpenPreviews()) return;
    if (this.#options.settings().continueAfterReview) void this.#start();
    else this.#setState('idle');
  }

  /** Whether outcomes wait to be told and nothing of this session is pending any more. */
  #reviewIsOver(): boolean {
    const told = this.#inbox.some(message => message.kind === 'outcome');
    return told && !this.#hasOpenPreviews() && this.#options.settings().continueAfterReview;
  }

  #hasOpenPreviews(): boolean {
    return [...this.#known].some(id => this.#isOpen(id));
  }

  #isOpen(id: string): boolean {
    const preview = this.#options.store.get(id);
    return preview !== undefined && isOpen(preview);
  }

  #append(message: SessionMessage): void {
    if (message.role === 'assistant') this.#answers++;
    this.#messages.push(message);
    this.#emit({ type: 'message_end', message });
  }

  #setState(state: SessionState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#emit({ type: 'state_changed', state });
  }

  #emit(event: SessionEvent): void {
    this.#events.fire(event);
  }
}

function newSessionId(): string {
  return `s${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
}
