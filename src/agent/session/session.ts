import { Owner } from '../base/disposable.ts';
import { detailOf } from '../base/errors.ts';
import { Emitter, type Event } from '../base/event.ts';
import { Conversation } from './conversation/conversation.ts';
import type { ConversationTree } from './conversation/conversationTree.ts';
import { isSilent } from './conversation/renderTrunk.ts';
import type { RevertRecord, RevertRequest } from './conversation/revert.ts';
import { Recorders } from './conversation/storage/recorder.ts';
import type { SessionState } from './conversation/storage/sessionEntry.ts';
import type { StoredSession } from './conversation/storage/storedSession.ts';
import { messagesAfterFault, messagesAfterInterruption } from './conversation/validTrunk.ts';
import type { StandingResolveHandler } from './forcing/modelResolver.ts';
import { ToolChoices } from './forcing/toolChoices.ts';
import type { ChatProvider } from './model/chatProvider.ts';
import type { Attachment, SessionMessage } from './model/messages.ts';
import type { PendingAction } from '../hold/preview/pendingAction.ts';
import type { QueuedPreview } from '../hold/preview/previewStoreOptions.ts';
import type { ContextUse } from './context/contextKeeper.ts';
import { storingEvents, type SessionEvent } from './events.ts';
import { runLoop, type LoopEnd } from './loop.ts';
import { appendInbox, loopPortFor, type LoopParts } from './loopPort.ts';
import { PlanMode } from './planMode.ts';
import { reconcilePreviews } from './reconcilePreviews.ts';
import { Requests } from './request.ts';
import { RevertQueue } from './revertQueue.ts';
import { Review } from './review.ts';
import type { SessionContext, SessionOptions } from './sessionOptions.ts';
import { stageIn } from './staging.ts';
import { Inbox } from './waiting/inbox.ts';
import { PromptQueue, type Prompt } from './waiting/promptQueue.ts';

/**
 * The open conversation and the loop that extends it. It connects the parts and decides when they run; messages belong
 * to the {@link Conversation}, previews to the store, resolving to the invoker, forced tool calls to {@link
 * ToolChoices}.
 */
export class Session extends Owner {
  readonly #options: SessionOptions;
  readonly #choices: ToolChoices;
  readonly #inbox: Inbox;
  readonly #review: Review;
  readonly #events = this.own(new Emitter<SessionEvent>());
  readonly #recorders: Recorders;
  readonly #plan: PlanMode;
  readonly #loop: LoopParts;
  #conversation: Conversation;
  readonly #prompts = new PromptQueue(event => {
    this.#conversation.recordWaiting(this.queue.list, !!(this.#run ?? this.#pause));
    this.#emit(event);
  });
  #state: SessionState = 'idle';
  #provider: ChatProvider | undefined;
  #abort: AbortController | undefined;
  #run: Promise<void> | undefined;
  /** Work that runs while no turn does: opening another conversation, reverting. Prompts wait for it. */
  #pause: Promise<void> | undefined;
  /** The `new()` under way, unless an `open()` has followed it. */
  #renewal: Promise<void> | undefined;
  /** Another conversation is about to be opened. */
  #isLeaving = false;

  readonly onDidEmit: Event<SessionEvent> = this.#events.event;

  /** The prompts that wait for the running turn to end. */
  readonly queue: Pick<PromptQueue, 'list' | 'takeBack' | 'moment'> = this.#prompts;

  /** The logs of its conversations: drain one before it is read again, discard it before it is deleted. */
  readonly logs: Pick<Recorders, 'drain' | 'discard'>;

  /** With `stored`, continues that session. Nothing is sent until the user asks for it. */
  constructor(options: SessionOptions, stored?: StoredSession) {
    super();
    this.#options = options;
    const { store, invoker, ladder, settings, logFor, logger } = options;
    this.logs = this.#recorders = new Recorders(
      logFor,
      storingEvents(logger, event => this.#emit(event)),
    );
    this.#conversation = new Conversation(store, this.#recorders.for, stored);
    this.#inbox = new Inbox(store);
    this.#choices = this.own(
      new ToolChoices({
        store,
        invoker,
        ladder,
        settings,
        previews: () => this.#conversation.previews,
        steer: message => this.#inbox.add(message),
      }),
    );
    const ctx: SessionContext = {
      ...options,
      inbox: this.#inbox,
      choices: this.#choices,
      conversation: () => this.#conversation,
      planMode: () => this.planMode,
      emit: (event: SessionEvent) => this.#emit(event),
      append: (message: SessionMessage) => this.#append(message),
    };
    // Before the review, whose end starts the next request: everything that an outcome entails, such as a new reminder, is done by
    // then.
    const requests = this.own(new Requests(ctx));
    this.#review = this.own(new Review(ctx, () => queueMicrotask(() => this.#continueOrRest())));
    this.#plan = new PlanMode(ctx);
    this.#loop = { ...ctx, requests, reverts: new RevertQueue(ctx) };
    this.own(store.onDidChange(preview => this.#emit({ type: 'preview_changed', preview })));
    if (stored) this.#resume(stored);
  }

  get id(): string {
    return this.#conversation.id;
  }

  /** Every message of the conversation, on all branches. */
  get tree(): ConversationTree {
    return this.#conversation.tree;
  }

  /** The name that the user gave the conversation. */
  get title(): string | undefined {
    return this.#conversation.title;
  }

  /** Events of the conversation besides its messages. */
  get trail(): Conversation['trail'] {
    return this.#conversation.trail;
  }

  get state(): SessionState {
    return this.#state;
  }

  /**
   * The messages on the trunk, as they are stored and shown. Messages that wait for the next request are not included; see
   * also {@link sentMessages}.
   */
  get messages(): readonly SessionMessage[] {
    return this.tree.messages;
  }

  /**
   * The messages as they are sent to the model that is in use: with tags and ids of nodes, and without messages that never reach
   * it, such as local commands, answers that failed at once, and calls whose results were abandoned. Messages that wait for the
   * next request are not included.
   */
  get sentMessages(): readonly SessionMessage[] {
    return this.#loop.requests.messages(this.#providerInUse).filter(message => !isSilent(message));
  }

  /** The last request, and the instructions of the project that it contained. */
  get requests(): Pick<Requests, 'sent' | 'instructions'> {
    return this.#loop.requests;
  }

  /** How full the context window of the model in use is; `undefined` if no model is, and before its first request. */
  get contextUse(): ContextUse | undefined {
    return this.#loop.requests.contextUse(this.#providerInUse);
  }

  get #providerInUse(): ChatProvider {
    return (this.#run && this.#provider) ?? this.#options.providerFor('');
  }

  /**
   * Adds a prompt. If a turn is running, the prompt is sent once the model has ended it.
   * @param since the moment of the {@link queue} at which the user wrote it: if that has passed, or the conversation is being left,
   *   it goes back to the user.
   * @returns settles when the session is idle or awaits review; does not reject when the model or the server fails.
   */
  prompt(text: string, attachments: readonly Attachment[] = [], since?: number): Promise<void> {
    const prompt = { text, attachments };
    if (since !== undefined && (this.#isLeaving || since !== this.queue.moment))
      return Promise.resolve(this.#prompts.refuse(prompt));
    this.#prompts.add(prompt);
    return this.#start();
  }

  /** Adds a command that the user typed, and its answer. Neither is ever sent to a model. */
  note(text: string, answer: string): void {
    this.#append({ role: 'local', text, answer });
  }

  /**
   * Sends a request without a new prompt, to the model that is now selected, if need be after a revert. Does nothing while a turn
   * runs, while the conversation has nothing to send, or if it is being left.
   */
  continue(): Promise<void> {
    const { moment } = this.queue;
    const goOn = (): Promise<void> | void => (moment === this.queue.moment ? this.continue() : undefined);
    if (this.#pause) return this.#pause.then(goOn);
    if (this.#run) return this.#run;
    if (this.tree.hasNothingForModel) return Promise.resolve();
    this.#provider = undefined;
    return this.#start();
  }

  /** Stops the running turn and commands, and gives the prompts that wait back to the user. Staged previews stay pending. */
  stop(): void {
    this.#halt();
    this.endReview();
  }

  /** Like {@link stop}, but staged previews stay in review. @param leaves whether another conversation is opened then */
  #halt(leaves = false): void {
    this.#isLeaving ||= leaves;
    this.#options.commands?.stopAll();
    this.#prompts.giveBack();
    this.#abort?.abort(new DOMException('Stopped by the user.', 'AbortError'));
    if (this.#state === 'awaitingReview') this.#setState('idle');
  }

  /**
   * Starts an empty conversation, to which every later prompt belongs. Previews stay pending, but the model is no
   * longer asked about them.
   */
  new(): Promise<void> {
    this.#halt(true);
    return (this.#renewal ??= this.#whenAtRest(() => this.#switchTo(undefined)));
  }

  /**
   * Switches to a stored conversation. Nothing is sent until the user asks for it. If it is the one that is open,
   * nothing changes: `stored` may be out of date.
   */
  open(stored: StoredSession): Promise<void> {
    if (stored.id !== this.id) this.#halt(true);
    this.#renewal = undefined;
    return this.#whenAtRest(() => (stored.id === this.id ? undefined : this.#switchTo(stored)));
  }

  /** Names the conversation. */
  rename(title: string): void {
    this.#conversation.rename(title);
    this.#emit({ type: 'renamed', title });
  }

  /**
   * Moves the conversation to another node at the user's request, unless it is being left. A running turn is stopped first.
   * @returns settles with the record once everything that follows from the revert is done.
   */
  async revert(request: Omit<RevertRequest, 'actor'>): Promise<RevertRecord> {
    const { reverts } = this.#loop;
    if (this.#isLeaving) return reverts.refuse({ ...request, actor: 'human' });
    const record = reverts.request({ ...request, actor: 'human' });
    if (this.#run) this.#halt();
    else this.#prompts.giveBack(); // they were meant to follow the branch that is left now
    this.endReview();
    await this.#whenAtRest(() => reverts.drain({ stopped: true }));
    return record;
  }

  /**
   * Stages a preview that no tool call made, for an extension or the session itself. The model is asked to resolve it.
   */
  stage(action: PendingAction): QueuedPreview {
    return stageIn(this.#loop, action, { asksModel: true });
  }

  /**
   * Stages a preview that the user asked for (Undo, Reopen). The model hears its outcome, but is neither forced nor
   * reminded to resolve it, and the session does not continue by itself afterwards.
   */
  stageForUser(action: PendingAction): QueuedPreview {
    return stageIn(this.#loop, action, { asksModel: false });
  }

  /** Ends the review as a whole (Stop, Discard All): its outcomes wait for the next prompt. */
  endReview(): void {
    if (this.#state === 'awaitingReview') this.#setState('idle');
    this.#conversation.endReview(this.#state);
  }

  /** Sets the handler for a `resolve` of the model that refers to no preview; `null` removes it. Forces nothing. */
  setStandingResolveHandler(handler: StandingResolveHandler | null): void {
    this.#choices.resolver.setStanding(handler);
  }

  get planMode(): boolean {
    return this.#plan.isOn;
  }

  /**
   * In plan mode only tools that read may be called, the model's `resolve` submits its plan, and its votes on previews are only
   * recorded. Takes effect with the next tool call; an answer that is already on its way does not count as a plan. Switching the
   * mode off withdraws a plan that waits for approval.
   */
  setPlanMode(on: boolean): void {
    this.#plan.set(on);
  }

  /** The waiting prompts are kept for the next window. */
  override dispose(): void {
    this.#prompts.close();
    this.#halt();
    super.dispose();
  }

  /**
   * Disposes of the session, waits for the turn that this stops, and tries once more to write the waiting entries.
   * @param patience settles when it is time to stop waiting for the turn.
   * @returns whether the logs have everything. Never rejects.
   */
  async close(patience: Promise<void>): Promise<boolean> {
    this.dispose();
    await Promise.race([Promise.allSettled([this.#pause, this.#run]), patience]);
    return this.#recorders.close();
  }

  /** Runs the work once no turn and no other such work is running. */
  #whenAtRest(work: () => Promise<void> | void): Promise<void> {
    const pause: Promise<void> = (this.#pause ?? Promise.resolve())
      .then(() => this.#run)
      .then(work)
      .finally(() => {
        if (this.#pause !== pause) return;
        this.#pause = undefined;
        if (this.#isLeaving) this.#prompts.pass();
        this.#isLeaving = false;
        if (this.queue.list.some(({ isRestored }) => !isRestored)) void this.#start();
      });
    this.#pause = pause;
    return pause;
  }

  #switchTo(stored: StoredSession | undefined): void {
    this.#plan.leave();
    this.#choices.clear();
    this.#inbox.clear();
    this.#review.clear();
    this.#loop.requests.clear();
    this.#conversation.recordWaiting([], false); // the prompts that wait now are for the next one
    this.#conversation = new Conversation(this.#options.store, this.#recorders.for, stored);
    this.#provider = undefined;
    this.#renewal = undefined;
    if (stored) this.#resume(stored);
    this.#emit({ type: 'reset' });
  }

  #resume(stored: StoredSession): void {
    this.#conversation.recordMissedResolutions();
    reconcilePreviews(this.#loop);
    for (const message of messagesAfterInterruption(stored.tree, { wasRunning: stored.interrupted }))
      this.#append(message);
    if (stored.interrupted) this.#conversation.recordState('idle');
    // Not recorded: opening a conversation writes nothing.
    if (!stored.interrupted && this.#conversation.previews.hasInReview) this.#announce('awaitingReview');
    this.setPlanMode(stored.planMode);
    this.#prompts.restore(stored.waiting);
  }

  /** Joins the current run or starts one. `#run` is set before the first event, because listeners may call this too. */
  #start(): Promise<void> {
    if (this.#pause) return this.#pause.then(() => this.#run);
    if (this.#run) return this.#run;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#run = promise;
    void this.#runAll().then(resolve);
    return this.#run;
  }

  /** Never rejects. No prompt is lost: nothing is awaited between the last check for prompts and the end of the run. */
  async #runAll(): Promise<void> {
    this.#setState('running');
    let end: LoopEnd;
    do {
      end = await this.#runPrompt(this.#prompts.next());
      for (const notice of this.#inbox.takeNotices()) this.#append(notice);
    } while (!this.#pause && (this.queue.list.length > 0 || (end === 'done' && this.#review.needsModel)));
    this.#run = undefined; // before the event: a listener may prompt or resolve at once
    const isReviewing =
      end === 'done' ? this.#review.hasOpen : end === 'error' && this.#conversation.previews.hasInReview;
    this.#setState(isReviewing ? 'awaitingReview' : 'idle');
  }

  /** Runs one prompt, or continues without one. Never rejects: a bug of ours ends like a failed request. */
  async #runPrompt(prompt: Prompt | undefined): Promise<LoopEnd> {
    const { signal } = (this.#abort = new AbortController());
    try {
      if (prompt !== undefined) {
        appendInbox(this.#loop);
        this.#conversation.previews.beginPrompt();
        const { text, attachments } = prompt;
        this.#append({ role: 'user', text, ...(attachments.length > 0 ? { attachments } : {}) });
        this.#provider = this.#options.providerFor(text);
      }
      this.#provider ??= this.#options.providerFor('');
      return await runLoop(loopPortFor(this.#loop, this.#provider, signal), signal);
    } catch (error) {
      this.#options.logger.error(`The session failed: ${detailOf(error)}`);
      for (const message of messagesAfterFault(this.tree, error)) this.#append(message);
      return 'error';
    }
  }

  #continueOrRest(): void {
    if (this.#state !== 'awaitingReview') return;
    if (this.#review.needsModel) void this.#start();
    else if (!this.#review.hasOpen) this.#setState('idle');
  }

  #append(message: SessionMessage): void {
    this.#conversation.append(message);
    this.#emit({ type: 'message_end', message });
  }

  #setState(state: SessionState): void {
    if (this.#state === state) return;
    this.#conversation.recordState(state);
    this.#announce(state);
  }

  #announce(state: SessionState): void {
    this.#state = state;
    this.#emit({ type: 'state_changed', state });
  }

  #emit(event: SessionEvent): void {
    this.#events.fire(event);
  }
}
