import { deferred } from '../base/deferred.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter, type Event } from '../base/event.ts';
import { detailOf } from '../base/errors.ts';
import type { ChatProvider, ChatRequest, ProviderFailure } from '../model/chatProvider.ts';
import type { Attachment, SessionMessage, ToolCall, ToolResultMessage } from '../model/messages.ts';
import type { Offer } from '../model/toolChoiceLadder.ts';
import { PLAN_SOURCE } from '../preview/authority.ts';
import type { LedgerEntry } from '../preview/ledger.ts';
import type { StandingResolveHandler } from '../preview/modelResolver.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { Preview, PreviewOrigin } from '../preview/preview.ts';
import type { Revision } from '../preview/previewStore.ts';
import { queueResolveHandler, type QueuedPreview } from '../preview/queueResolveHandler.ts';
import { executeToolCall } from '../tools/execute.ts';
import { offeredTools, specOf } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import type { SessionEvent, SessionState } from './events.ts';
import { runLoop, type LoopEnd, type LoopPort } from './loop.ts';
import { lastWords, planOrigin, PlanMode } from './planMode.ts';
import { requestOf } from './request.ts';
import { brokenOff, mended, remember } from './restore.ts';
import { outcomeMessage, Review, wasHeard } from './review.ts';
import { newSessionId, type SessionLogEntry, type StoredSession } from './sessionLog.ts';
import type { Prompt, SessionOptions } from './sessionOptions.ts';
import { ToolChoices } from './toolChoices.ts';

/**
 * One conversation: its messages, the loop that extends them, and what of the previews concerns the model. Previews
 * and their states belong to the store, resolving to the invoker, what the model must call to {@link ToolChoices}.
 */
export class Session implements Disposable {
  readonly #options: SessionOptions;
  readonly #choices: ToolChoices;
  readonly #review: Review;
  readonly #owned = new DisposableStore();
  readonly #events = new Emitter<SessionEvent>();
  #id: string;
  #log: { append(entry: SessionLogEntry): Promise<void> };
  #messages: SessionMessage[];
  #prompts: Prompt[] = [];
  #state: SessionState = 'idle';
  #provider: ChatProvider | undefined;
  #abort: AbortController | undefined;
  #run: Promise<void> | undefined;
  #renewal: Promise<void> | undefined;
  #plan: PlanMode | undefined;

  readonly onDidEmit: Event<SessionEvent> = this.#events.event;

  /** With `stored`, goes on where that session ended; nothing is sent before somebody asks for it. */
  constructor(options: SessionOptions, stored?: StoredSession) {
    this.#options = options;
    const { store, invoker, ladder, settings } = options;
    this.#id = stored?.id ?? newSessionId();
    this.#log = options.logFor(this.#id);
    this.#messages = [...(stored?.messages ?? [])];
    this.#review = new Review(store);
    this.#choices = this.#owned.add(
      new ToolChoices({ store, invoker, ladder, settings, steer: message => this.#review.tell(message) }),
    );
    this.#owned.add(store.onDidChange(preview => this.#emit({ type: 'preview_changed', preview })));
    this.#owned.add(store.onDidRevise(revision => this.#followRevision(revision)));
    this.#owned.add(store.onDidResolve(entries => this.#followResolution(entries)));
    if (stored) this.#takeUp(stored);
  }

  get id(): string {
    return this.#id;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The conversation, without what still waits in line. The model is sent all of it but local messages. */
  get messages(): readonly SessionMessage[] {
    return this.#messages;
  }

  /**
   * Adds a prompt. While the session runs, it is taken up when the model has ended its turn.
   * @returns settles when the session is idle or awaits review; never rejects for what the model or server does.
   */
  prompt(text: string, attachments: readonly Attachment[] = []): Promise<void> {
    this.#prompts.push({ text, attachments });
    return this.#start();
  }

  /** Notes what a person did here by typing `text`, and what came of it. No model is ever sent it. */
  note(text: string, answer: string): void {
    this.#append({ role: 'local', text, answer });
  }

  /**
   * Asks the model that is chosen now to go on with what it has been told since. Does nothing while the session runs or
   * is empty.
   */
  continue(): Promise<void> {
    if (this.#run) return this.#run;
    if (this.#messages.every(({ role }) => role === 'local')) return Promise.resolve();
    this.#provider = undefined;
    return this.#start();
  }

  /** Stops the running turn, and drops prompts that wait for it. What was staged stays pending. */
  stop(): void {
    this.#prompts = [];
    this.#abort?.abort(new DOMException('Stopped by the user.', 'AbortError'));
    this.endReview();
  }

  /**
   * Begins an empty conversation, to which every prompt from now on belongs. Previews stay pending, and stop concerning
   * the model.
   */
  new(): Promise<void> {
    this.stop();
    return (this.#renewal ??= this.#renew());
  }

  async #renew(): Promise<void> {
    await this.#run;
    this.setPlanMode(false);
    this.#choices.clear();
    this.#id = newSessionId();
    this.#log = this.#options.logFor(this.#id);
    this.#messages = [];
    this.#review.clear();
    this.#provider = undefined;
    this.#renewal = undefined;
    this.#emit({ type: 'reset' });
    if (this.#prompts.length > 0) void this.#start();
  }

  /** Stages a preview for whoever produces one; `origin` is left out by those who are no tool call. */
  stage(action: PendingAction, origin: PreviewOrigin | null = null): QueuedPreview {
    const queued = this.#stage(action, origin, true);
    this.#review.staged(queued.preview.id);
    return queued;
  }

  /**
   * Stages a preview that a person asked for (Undo, Reopen): the model hears what becomes of it, and is neither forced
   * nor reminded to resolve it, nor asked to go on when that is done.
   */
  stageForUser(action: PendingAction): QueuedPreview {
    const queued = this.#stage(action, null, false);
    this.#review.remember(queued.preview.id);
    return queued;
  }

  /** The review is over as a whole (Stop, Discard All): its outcomes wait for the next prompt. */
  endReview(): void {
    this.#review.end();
    if (this.#state === 'awaitingReview') this.#setState('idle');
  }

  /** Takes the model's `resolve` when no preview is meant; `null` takes it back. Forces nothing. */
  setStandingResolveHandler(handler: StandingResolveHandler | null): void {
    this.#choices.setStandingResolveHandler(handler);
  }

  get planMode(): boolean {
    return this.#plan !== undefined;
  }

  /**
   * In plan mode tools are read-only and the model's `resolve` submits its plan. Takes effect at the next call. A plan
   * that waits for approval is withdrawn when the mode is switched off.
   */
  setPlanMode(on: boolean): void {
    if (on === this.planMode) return;
    void this.#plan?.end();
    const plan = on ? this.#newPlanMode() : undefined;
    this.#plan = plan;
    this.#choices.setModeResolveHandler(plan ?? null);
    this.#record({ type: 'plan', on });
    this.#emit({ type: 'plan_mode_changed', on });
  }

  dispose(): void {
    this.stop();
    this.#owned.dispose();
    this.#events.dispose();
  }

  #takeUp(stored: StoredSession): void {
    remember(stored, this.#options.store, this.#review, this.#choices);
    for (const message of mended(stored.messages, stored.interrupted)) this.#append(message);
    if (stored.interrupted) this.#record({ type: 'state', state: 'idle' });
    this.setPlanMode(stored.planMode);
  }

  #newPlanMode(): PlanMode {
    const { invoker, store } = this.#options;
    const conversation = this.#id;
    return new PlanMode({
      planText: () => lastWords(this.#messages, id => store.get(id)?.sourceToolName === PLAN_SOURCE),
      stagePlan: action => {
        const origin = planOrigin(this.#id, this.#messages);
        const { id } = this.#stage(action, origin, false).preview;
        this.#review.staged(id);
        return id;
      },
      withdrawPlan: async (id, reason) => {
        await invoker.resolve({ id, action: 'discard', reason, actor: 'model' });
      },
      approved: () => {
        if (this.#id === conversation) this.setPlanMode(false);
      },
    });
  }

  /** @param asked whether the model is to resolve it. */
  #stage(action: PendingAction, origin: PreviewOrigin | null, asked: boolean): QueuedPreview {
    const { store, invoker, overlay } = this.#options;
    const remind = (preview: Preview): void => {
      this.#record({ type: 'preview', previewId: preview.id, asked });
      if (asked) this.#choices.remind(preview);
    };
    return queueResolveHandler({ store, invoker, overlay, remind }, action, origin);
  }

  /** Joins the run that goes on, or begins one. Listeners may call it too: the run is known before the first event. */
  #start(): Promise<void> {
    if (this.#renewal) return this.#renewal.then(() => this.#run);
    if (this.#run) return this.#run;
    const { promise, resolve } = deferred();
    this.#run = promise;
    void this.#runAll().then(resolve);
    return this.#run;
  }

  /** Never rejects. Nothing comes between the last look for prompts and the end of the run: no prompt is lost. */
  async #runAll(): Promise<void> {
    this.#setState('running');
    let end: LoopEnd;
    do {
      end = await this.#runPrompt(this.#prompts.shift());
      for (const notice of this.#review.takeNotices()) this.#append(notice);
    } while (!this.#renewal && (this.#prompts.length > 0 || (end === 'done' && this.#goesOn())));
    this.#run = undefined; // before anybody hears that it is over, and prompts or resolves on the spot
    this.#setState(end === 'done' && this.#review.hasOpen ? 'awaitingReview' : 'idle');
  }

  /** One prompt, or none to go on. Never rejects: a fault of ours ends like a failed request. */
  async #runPrompt(prompt: Prompt | undefined): Promise<LoopEnd> {
    const { signal } = (this.#abort = new AbortController());
    try {
      if (prompt !== undefined) {
        this.#sayWhatWaits();
        this.#review.end();
        const { text, attachments } = prompt;
        this.#append({ role: 'user', text, ...(attachments.length > 0 ? { attachments } : {}) });
        this.#provider = this.#options.providerFor(text);
      }
      this.#provider ??= this.#options.providerFor('');
      return await runLoop(this.#loopPort(this.#provider, signal), signal);
    } catch (error) {
      this.#options.logger.error(`The session failed: ${detailOf(error)}`);
      for (const message of brokenOff(this.#messages, error)) this.#append(message);
      return 'error';
    }
  }

  #sayWhatWaits(): void {
    const hold = this.planMode || this.#options.settings().modelAuthority === 'none';
    for (const message of this.#review.takeMessages(hold)) this.#append(message);
  }

  #loopPort(provider: ChatProvider, signal: AbortSignal): LoopPort {
    const { tools, logger } = this.#options;
    return {
      provider,
      nextRequest: () => this.#nextRequest(provider),
      retryRequest: failure => this.#retryRequest(provider, failure),
      append: message => this.#append(message),
      execute: call => this.#execute(call, signal),
      isReadOnly: call => tools.get(call.name)?.readOnly === true,
      settle: (end, answer) => this.#choices.settle(end, answer),
      hasMoreToSay: () => !this.planMode && this.#choices.isForcing,
      emit: event => this.#emit(event),
      report: failure =>
        logger.error(`Request to ${provider.id} failed (${failure.code}): ${failure.detail}`),
    };
  }

  #nextRequest(provider: ChatProvider): ChatRequest {
    const offer = this.#choices.begin(provider, this.#tools().map(specOf), this.planMode);
    this.#sayWhatWaits();
    return this.#request(offer);
  }

  #retryRequest(provider: ChatProvider, failure: ProviderFailure): ChatRequest | undefined {
    const offer = this.#choices.retry(failure, this.#tools().map(specOf), this.planMode);
    if (!offer) return undefined;
    this.#options.logger.info(
      `${provider.id} refuses this tool choice; trying another way: ${failure.detail}`,
    );
    return this.#request(offer);
  }

  #request(offer: Offer): ChatRequest {
    return requestOf(this.#messages, this.planMode, offer);
  }

  #tools(): readonly Tool[] {
    const { tools, settings } = this.#options;
    return offeredTools(tools, { planMode: this.planMode, authority: settings().modelAuthority });
  }

  #execute(call: ToolCall, signal: AbortSignal): Promise<ToolResultMessage> {
    const { workspace, overlay, logger, settings } = this.#options;
    const answer = this.#messages.findLastIndex(message => message.role === 'assistant');
    const origin = { sessionId: this.#id, messageId: `m${answer}`, toolCallId: call.id };
    return executeToolCall(call, {
      tools: this.#tools(),
      logger,
      userReviews: settings().modelAuthority === 'none',
      stage: action => this.stage(action, origin),
      context: {
        signal,
        workspace: overlay.on(workspace),
        pendingOn: path => overlay.at(path)?.previewId,
        resolve: resolveCall => this.#choices.resolve(resolveCall),
        onUpdate: progress => this.#emit({ type: 'tool_update', call, progress }),
      },
    });
  }

  #followRevision({ preview, by, part, patch }: Revision): void {
    if (!this.#review.knows(preview.id)) return;
    if (part) this.#review.split(preview.id, part.id);
    this.#review.tellRevision(preview, by, patch);
  }

  #followResolution(entries: readonly LedgerEntry[]): void {
    const unheard = entries.filter(entry => this.#review.knows(entry.previewId) && !wasHeard(entry));
    for (const entry of unheard) this.#review.tell(outcomeMessage(entry, this.#options.store));
    if (this.#state !== 'awaitingReview') return;
    if (this.#goesOn()) void this.#start();
    else if (!this.#review.hasOpen) this.#setState('idle');
  }

  #goesOn = (): boolean => this.#review.isOver && this.#options.settings().continueAfterReview;

  #append(message: SessionMessage): void {
    const id = this.#messages.length;
    this.#messages.push(message);
    this.#record({ type: 'message', id, parentId: id === 0 ? null : id - 1, message });
    this.#emit({ type: 'message_end', message });
  }

  #setState(state: SessionState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#record({ type: 'state', state });
    this.#emit({ type: 'state_changed', state });
  }

  /** A conversation that cannot be written goes on in memory. */
  #record(entry: SessionLogEntry): void {
    this.#log.append(entry).catch((error: unknown) => {
      this.#options.logger.error(`Storing the session failed: ${detailOf(error)}`);
    });
  }

  #emit(event: SessionEvent): void {
    this.#events.fire(event);
  }
}
