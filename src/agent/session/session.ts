import { deferred } from '../base/deferred.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter, type Event } from '../base/event.ts';
import { detailOf } from '../base/errors.ts';
import type { ChatProvider, ChatRequest } from '../model/chatProvider.ts';
import type { Attachment, SessionMessage } from '../model/messages.ts';
import type { StandingResolveHandler } from '../preview/modelResolver.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { Preview, PreviewOrigin } from '../preview/preview.ts';
import type { Revision } from '../preview/previewStore.ts';
import { queueResolveHandler, type QueuedPreview } from '../preview/queueResolveHandler.ts';
import type { ConversationTree } from '../tree/conversationTree.ts';
import type { RevertRecord, RevertRequest } from '../tree/revert.ts';
import { Conversation } from './conversation.ts';
import type { SessionEvent, SessionState } from './events.ts';
import { runLoop, type LoopEnd, type LoopPort } from './loop.ts';
import { PlanSwitch, type PlanSwitchOptions } from './planSwitch.ts';
import { Requests } from './request.ts';
import { brokenOff, mended, remember } from './restore.ts';
import { Reverts } from './reverts.ts';
import type { RevertWorld } from './revertWork.ts';
import { expiryMessage, outcomeMessages, Review, type Outcomes } from './review.ts';
import type { Prompt, SessionOptions } from './sessionOptions.ts';
import type { StoredSession } from './storedSession.ts';
import { ToolChoices } from './toolChoices.ts';
import { ToolRunner } from './toolRunner.ts';

/**
 * The conversation that goes on, the loop that extends it, and what of the previews concerns the model. Messages belong
 * to the {@link Conversation}, previews and their states to the store, resolving to the invoker, what the model must call
 * to {@link ToolChoices}.
 */
export class Session implements Disposable {
  readonly #options: SessionOptions;
  readonly #choices: ToolChoices;
  readonly #review: Review;
  readonly #owned = new DisposableStore();
  readonly #events = this.#owned.add(new Emitter<SessionEvent>());
  readonly #requests: Requests;
  readonly #reverts: Reverts;
  readonly #plan: PlanSwitch;
  readonly #runner: ToolRunner;
  #conversation: Conversation;
  #prompts: Prompt[] = [];
  #state: SessionState = 'idle';
  #provider: ChatProvider | undefined;
  #abort: AbortController | undefined;
  #run: Promise<void> | undefined;
  /** Work that needs the session at rest: another conversation, another place in this one. Prompts wait for it. */
  #pause: Promise<void> | undefined;
  #renewal: Promise<void> | undefined;

  readonly onDidEmit: Event<SessionEvent> = this.#events.event;

  /** With `stored`, goes on where that session ended; nothing is sent before somebody asks for it. */
  constructor(options: SessionOptions, stored?: StoredSession) {
    this.#options = options;
    const { store, invoker, ladder, settings } = options;
    this.#conversation = this.#newConversation(stored);
    this.#review = new Review(store);
    this.#choices = this.#owned.add(
      new ToolChoices({ store, invoker, ladder, settings, steer: message => this.#review.tell(message) }),
    );
    const parts = {
      ...options,
      review: this.#review,
      choices: this.#choices,
      conversation: () => this.#conversation,
      planMode: () => this.planMode,
      emit: (event: SessionEvent) => this.#emit(event),
    };
    const stage = (action: PendingAction, origin: PreviewOrigin) => this.stage(action, origin);
    const stagePlan: PlanSwitchOptions['stage'] = (action, origin) => {
      const { id } = this.#stage(action, origin, false).preview;
      this.#review.staged(id);
      return id;
    };
    const stageUndo: RevertWorld['stage'] = (action, actor) =>
      actor === 'human' ? this.stageForUser(action) : this.stage(action);
    this.#plan = new PlanSwitch({ ...parts, stage: stagePlan });
    this.#requests = new Requests(parts);
    this.#reverts = new Reverts({ ...parts, stage: stageUndo });
    this.#runner = new ToolRunner({ ...parts, requests: this.#requests, reverts: this.#reverts, stage });
    this.#owned.add(store.onDidChange(preview => this.#emit({ type: 'preview_changed', preview })));
    this.#owned.add(store.onDidRevise(revision => this.#followRevision(revision)));
    this.#owned.add(store.onDidResolve(entries => this.#conversation.resolved(entries)));
    this.#owned.add(store.onDidResolve(entries => this.#tellOutcomes(outcomeMessages(entries, store))));
    this.#owned.add(store.onDidExpire(preview => this.#tellOutcomes([expiryMessage(preview)])));
    if (stored) this.#takeUp(stored);
  }

  get id(): string {
    return this.#conversation.id;
  }

  /** Every message of the conversation, on all branches. */
  get tree(): ConversationTree {
    return this.#conversation.tree;
  }

  /** The name that a person gave the conversation. */
  get title(): string | undefined {
    return this.#conversation.title;
  }

  /** What happened in the conversation beside its messages. */
  get trail(): Conversation['trail'] {
    return this.#conversation.trail;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The trunk, without what still waits in line. The model is sent all of it but local messages. */
  get messages(): readonly SessionMessage[] {
    return this.tree.messages;
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
    if (this.tree.isSilent) return Promise.resolve();
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
    return (this.#renewal ??= this.#atRest(() => this.#take(undefined)));
  }

  /**
   * Takes up a stored conversation in place of this one. Nothing is sent before somebody asks for it. The one that is open
   * stays as it is: more may have been said in it since it was read.
   */
  open(stored: StoredSession): Promise<void> {
    if (stored.id !== this.id) this.stop();
    return this.#atRest(() => (stored.id === this.id ? undefined : this.#take(stored)));
  }

  /** Gives the conversation a name. */
  rename(title: string): void {
    this.#conversation.rename(title);
    this.#emit({ type: 'renamed', title });
  }

  /**
   * A person goes back, or to another branch; a running turn is stopped for it.
   * @returns settles with what became of it, once all is done.
   */
  async revert(request: Omit<RevertRequest, 'actor'>): Promise<RevertRecord> {
    const record = this.#reverts.request({ ...request, actor: 'human' });
    if (this.#run) this.stop();
    else this.endReview();
    await this.#atRest(() => this.#reverts.drain(true));
    return record;
  }

  /** Runs the work when no turn runs, and nothing else that needs the session at rest. */
  #atRest(work: () => Promise<void> | void): Promise<void> {
    const pause: Promise<void> = (this.#pause ?? Promise.resolve())
      .then(() => this.#run)
      .then(work)
      .finally(() => {
        if (this.#pause !== pause) return;
        this.#pause = undefined;
        if (this.#prompts.length > 0) void this.#start();
      });
    this.#pause = pause;
    return pause;
  }

  #take(stored: StoredSession | undefined): void {
    this.setPlanMode(false);
    this.#choices.clear();
    this.#review.clear();
    this.#conversation = this.#newConversation(stored);
    this.#provider = undefined;
    this.#renewal = undefined;
    if (stored) this.#takeUp(stored);
    this.#emit({ type: 'reset' });
  }

  #newConversation(stored?: StoredSession): Conversation {
    const { logFor, logger } = this.#options;
    const onLogFailure = (error: unknown): void => {
      logger.error(`Storing the session failed: ${detailOf(error)}`);
      this.#emit({ type: 'storing_failed' });
    };
    return new Conversation({ logFor, onLogFailure }, stored);
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
    return this.#plan.isOn;
  }

  /**
   * In plan mode tools are read-only and the model's `resolve` submits its plan. Takes effect at the next call. A plan
   * that waits for approval is withdrawn when the mode is switched off.
   */
  setPlanMode(on: boolean): void {
    this.#plan.set(on);
  }

  dispose(): void {
    this.stop();
    this.#owned.dispose();
  }

  #takeUp(stored: StoredSession): void {
    remember(stored, this.#options.store, this.#conversation, this.#review, this.#choices);
    for (const message of mended(stored.tree, stored.interrupted)) this.#append(message);
    if (stored.interrupted) this.#conversation.changed('idle');
    this.setPlanMode(stored.planMode);
  }

  /** @param asked whether the model is to resolve it. */
  #stage(action: PendingAction, origin: PreviewOrigin | null, asked: boolean): QueuedPreview {
    const { store, invoker, overlay } = this.#options;
    const remind = (preview: Preview): void => {
      this.#conversation.staged(preview.id, asked);
      if (asked) this.#choices.remind(preview);
    };
    return queueResolveHandler({ store, invoker, overlay, remind }, action, origin);
  }

  /** Joins the run that goes on, or begins one. Listeners may call it too: the run is known before the first event. */
  #start(): Promise<void> {
    if (this.#pause) return this.#pause.then(() => this.#run);
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
    } while (!this.#pause && (this.#prompts.length > 0 || (end === 'done' && this.#goesOn())));
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
      for (const message of brokenOff(this.tree, error)) this.#append(message);
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
      provider: this.#requests.heard(provider),
      nextRequest: () => {
        const wait = this.#requests.prepare(signal);
        return wait ? wait.then(() => this.#nextRequest(provider)) : this.#nextRequest(provider);
      },
      retryRequest: failure => this.#requests.retry(provider, failure),
      append: message => this.#append(message),
      execute: call => this.#runner.execute(call, signal),
      isReadOnly: call => tools.get(call.name)?.readOnly === true,
      settle: (end, answer) => this.#choices.settle(end, answer),
      hasMoreToSay: () => !this.planMode && this.#choices.isForcing,
      betweenTurns: end => (this.#reverts.isWaiting ? this.#reverts.drain(end === 'aborted') : undefined),
      emit: event => this.#emit(event),
      report: failure =>
        logger.error(`Request to ${provider.id} failed (${failure.code}): ${failure.detail}`),
    };
  }

  #nextRequest(provider: ChatProvider): ChatRequest {
    const offer = this.#requests.begin(provider);
    this.#sayWhatWaits();
    return this.#requests.of(provider, offer);
  }

  #followRevision({ preview, by, part, patch }: Revision): void {
    if (!this.#review.knows(preview.id)) return;
    if (part) {
      this.#review.split(preview.id, part.id);
      // It may outlive what it is a part of.
      this.#conversation.staged(part.id, false);
    }
    this.#review.tellRevision(preview, by, patch);
  }

  #tellOutcomes(outcomes: Outcomes): void {
    for (const outcome of outcomes) this.#review.tellOutcome(outcome);
    if (this.#state !== 'awaitingReview') return;
    if (this.#goesOn()) void this.#start();
    else if (!this.#review.hasOpen) this.#setState('idle');
  }

  #goesOn = (): boolean => this.#review.isOver && this.#options.settings().continueAfterReview;

  #append(message: SessionMessage): void {
    this.#conversation.append(message);
    this.#emit({ type: 'message_end', message });
  }

  #setState(state: SessionState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#conversation.changed(state);
    this.#emit({ type: 'state_changed', state });
  }

  #emit(event: SessionEvent): void {
    this.#events.fire(event);
  }
}
