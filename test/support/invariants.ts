import type { ChatRequest } from '../../src/agent/model/chatProvider.ts';
import { composedSteps } from '../../src/agent/preview/landing.ts';
import type { FileChange } from '../../src/agent/preview/fileChange.ts';
import type { LedgerEntry } from '../../src/agent/preview/ledger.ts';
import type { PendingAction } from '../../src/agent/preview/pendingAction.ts';
import {
  isOpen,
  type ModelAuthority,
  type Preview,
  type ResolveAction,
} from '../../src/agent/preview/preview.ts';
import { idsOf, type PreviewLogEntry } from '../../src/agent/preview/previewLog.ts';
import type { Revision } from '../../src/agent/preview/previewStore.ts';
import { outcomeText, reminderText } from '../../src/agent/preview/resolveTexts.ts';
import type { SessionEvent } from '../../src/agent/session/events.ts';
import { historyViolations } from './scriptedProvider.ts';
import type { TestSession } from './testSession.ts';

/** Who staged a preview: `user` stands for what a person brings back, which the model is never asked about. */
export type Stager = 'tool' | 'extension' | 'user';

/** One preview as everybody outside the runtime knows it, by its unique label. */
interface Subject {
  readonly label: string;
  /** `person`: it is a part that a person split off. */
  readonly stager: Stager | 'planMode' | 'person';
  readonly rejects: boolean;
  /** The exact changes of its current revision; `null` for an opaque one. */
  changes: string | null;
  /** Those of the revision before. */
  before: string | null;
  revision: number;
  id: string | undefined;
  running: 'apply' | 'reject' | undefined;
  /** A callback came to its end without throwing: there is nothing left to run. */
  finished: boolean;
  /** It was applied, discarded or expired. */
  final: boolean;
  /** It may be forgotten only once somebody dismissed it. */
  expired: boolean;
  /** The conversation has to do with it. */
  known: boolean;
  /** The model was asked to resolve it. */
  asked: boolean;
  /** Staged since the last prompt was taken up. */
  current: boolean;
  /** How many files were written before its apply began. */
  writesBefore: number;
}

interface FailedApply {
  readonly entry: LedgerEntry;
  readonly messagesBefore: number;
  readonly reminded: boolean;
  /** Whether the next request is to be forced. */
  readonly forced: boolean;
}

const textsOf = (request: ChatRequest, kind: string): string[] =>
  request.messages.flatMap(m => (m.role === 'steering' && m.kind === kind ? [m.text] : []));

/**
 * What always holds of previews and the conversation about them, whatever happens in whatever order. It only watches from
 * outside: callbacks as they begin and end, requests as they go out, and what the store and the session tell. Each
 * breach is a sentence in {@link violations}.
 *
 * - I1 An apply callback never runs twice at once, nor again after success.
 * - I2 Landed text = shown text.
 * - I3 A preview is listed until it is applied, discarded or expired; ids are never used twice.
 * - I4 No request is forced, and no tool held back, for anything that cannot be resolved.
 * - I5 A failed apply leaves the same id pending, its directive and reminder renewed.
 * - I6 Every tool call gets exactly one result, in the order of the calls.
 * - I7 Human, model and extension differ only in what they may do: the model runs nothing that its mode forbids, nor
 *   anything it has not seen; each outcome that is not its own reaches it with the next request.
 * - Also: the session goes on by itself only after a review that ran its course.
 */
export class Invariants {
  readonly violations: string[] = [];
  readonly #subjects = new Map<string, Subject>();
  readonly #byId = new Map<string, Subject>();
  /** Those that the store knows no more. */
  readonly #forgotten: Subject[] = [];
  /** How many entries of the ledger were looked at. */
  #entries = 0;
  #failed: FailedApply[] = [];
  /** Revisions of the open previews as they were when the last request went out. */
  #openAtRequest = new Map<string, number>();
  #wasForced = false;
  /** A forced request failed, and none has been answered since: the server is asked without force. */
  #lastFailed = false;
  /** How many answers the last request held. */
  #answersBefore = -1;
  #lastId = 0;
  #t: TestSession | undefined;
  /** Whether the server can be asked by words only, so that nothing is forced. */
  wordsOnly: () => boolean = () => false;
  /** Somebody asked the session to run, and it has not begun to. */
  asking = false;
  /** A plan of the current review was decided on, which waits for nothing else. */
  #planDecided = false;
  /** Prompts that were not taken up yet. */
  #prompts: string[] = [];

  check(holds: boolean, sentence: () => string): void {
    if (!holds) this.violations.push(sentence());
  }

  /** Somebody is about to stage this. */
  willStage(action: PendingAction, stager: Stager): void {
    const { label, changes, reject } = action;
    this.#subjects.set(
      label,
      newSubject(label, stager, reject !== undefined, changes ? JSON.stringify(changes) : null),
    );
  }

  callbackStarts(label: string, kind: 'apply' | 'reject'): void {
    const subject = this.#subject(label);
    const { running, finished } = subject;
    this.check(running === undefined, () => `I1: ${kind} of ${label} starts while its ${running} runs`);
    this.check(!finished, () => `I1: ${kind} of ${label} starts although one has succeeded`);
    subject.running = kind;
  }

  callbackEnds(label: string, succeeded: boolean): void {
    const subject = this.#subject(label);
    subject.running = undefined;
    if (succeeded) subject.finished = true;
  }

  /** A process begins: the first one, or one after a reload. */
  watch(t: TestSession): void {
    this.#t = t;
    this.#failed = [];
    this.#lastFailed = false;
    this.#openAtRequest.clear();
    this.#answersBefore = -1;
    this.dropPrompts();
    this.reviewEnds();
    for (const subject of this.#byId.values()) this.#afterReload(subject, t);
    const isAlive = (): boolean => this.#t === t;
    this.#entries = t.store.ledger().length;
    t.store.onDidChange(preview => isAlive() && this.#changed(preview, t));
    t.store.onDidRevise(revision => isAlive() && this.#checkSplit(revision));
    t.store.onDidResolve(() => isAlive() && this.#readLedger(t));
    t.session.onDidEmit(event => isAlive() && this.#emitted(event, t));
    this.#state = t.session.state;
  }

  prompted(text: string): void {
    this.asking = true;
    this.#prompts.push(text);
  }

  /** Stop, a new conversation, a reload: what waits is given up. */
  dropPrompts(): void {
    this.asking = false;
    this.#prompts = [];
  }

  /** Stop, Discard All: what was staged so far is waited for no more. */
  reviewEnds(): void {
    for (const subject of this.#everything()) subject.current = false;
    this.#planDecided = false;
  }

  /** The resolved previews were forgotten: what is final may be gone. */
  forgotten(log: readonly PreviewLogEntry[]): void {
    const held = log.flatMap(entry =>
      entry.type === 'staged' || entry.type === 'revised' ? idsOf(entry) : [],
    );
    for (const [id, subject] of [...this.#byId]) {
      if (this.#t?.store.get(id)) continue;
      const { final, expired } = subject;
      this.#forgotten.push(subject);
      this.check(final && !expired, () => `I3: ${id} is gone, and was not over`);
      this.check(!held.includes(id), () => `I3: ${id} is forgotten, and its content is not`);
      this.#byId.delete(id);
    }
  }

  /** A person takes it out of sight. */
  dismissed(id: string): void {
    const subject = this.#byId.get(id);
    if (subject) subject.expired = false;
  }

  /** A request goes out, or one in its place. */
  request(request: ChatRequest): void {
    const t = this.#t;
    if (!t) return;
    this.#readLedger(t);
    const { session, settings, store } = t;
    const { toolChoice, tools, messages } = request;
    const forced = toolChoice?.type === 'tool' || toolChoice?.type === 'required';
    const names = tools.map(tool => tool.name);
    if (forced) {
      this.check(names.includes('resolve'), () => 'I4: resolve is forced and not offered');
      this.check(settings.modelAuthority !== 'none', () => 'I4: forced in Manual');
      this.check(settings.forcing !== 'off', () => 'I4: forced although forcing is off');
      this.check(!session.planMode, () => 'I4: forced in plan mode');
      const wanted = [...this.#byId.values()].filter(subject => this.#isWanted(subject, t));
      this.check(wanted.length > 0, () => 'I4: forced, and nothing can be resolved');
    }
    if (toolChoice?.type !== 'required') {
      const offered = t.tools
        .createTools(undefined, { withResolve: session.planMode || settings.modelAuthority !== 'none' })
        .filter(tool => !session.planMode || tool.readOnly === true || tool.name === 'resolve')
        .map(tool => tool.name);
      this.check(offered.join() === names.join(), () => `I4: only ${names.join()} is offered`);
    }
    const answers = messages.filter(({ role }) => role === 'assistant').length;
    if (answers === this.#answersBefore) return; // made in place of one that was refused: it says the same
    this.#answersBefore = answers;
    this.#openAtRequest = new Map(store.list('oldestFirst').map(({ id, revision }) => [id, revision]));
    this.check(
      historyViolations(messages).length === 0,
      () => `I6: ${historyViolations(messages).join('; ')}`,
    );
    this.#checkWhatWasSaid(request, t);
    for (const failure of this.#failed) this.#checkRenewal(failure, request, forced, t);
    // What can only be said later is looked for then.
    this.#failed = mayRemind(t) ? [] : this.#failed.map(failure => ({ ...failure, forced: false }));
    this.#wasForced = forced;
  }

  /** After each step, whatever is under way. */
  always(): void {
    if (!this.#t) return;
    const listed = new Set(this.#t.store.list('oldestFirst').map(({ id }) => id));
    for (const { id = '', final, label } of this.#byId.values())
      this.check(listed.has(id) === !final, () => `I3: ${id} (${label}) is ${final ? '' : 'not '}listed`);
  }

  /** Once nothing is under way any more. */
  atRest(): void {
    const t = this.#t;
    if (!t) return;
    this.always();
    this.check(t.session.state !== 'running', () => 'the session runs and nobody waits for anything');
    for (const { running, label } of this.#subjects.values())
      this.check(running === undefined, () => `${running} of ${label} never ended`);
    for (const preview of t.store.list('oldestFirst'))
      this.check(
        preview.state.kind === 'pending',
        () => `I3: ${preview.id} is ${preview.state.kind} for ever`,
      );
    for (const { finished, final, label } of this.#subjects.values())
      this.check(finished === final || !finished, () => `I3: ${label} has run and is still open`);
    this.check(this.#prompts.length === 0, () => `never answered: ${this.#prompts.join(' ')}`);
    const history = historyViolations(t.session.messages);
    this.check(history.length === 0, () => `I6: ${history.join('; ')}`);
    this.check(orderOfResults(t) === undefined, () => `I6: ${orderOfResults(t)}`);
    this.violations.push(...t.provider.violations);
    for (const error of t.errors)
      this.check(!/broke off|Storing|failed:/.test(error), () => `logged: ${error}`);
  }

  #everything(): Subject[] {
    return [...this.#subjects.values(), ...this.#byId.values(), ...this.#forgotten];
  }

  #subject(label: string): Subject {
    const subject = this.#subjects.get(label);
    if (!subject) throw new Error(`Nobody staged ${label}`);
    return subject;
  }

  #isWanted({ id, known, stager, final }: Subject, { store }: TestSession): boolean {
    const preview = store.get(id ?? '');
    const state = preview?.state;
    return (
      preview?.editedByUser !== true &&
      (preview === undefined || store.blockersOf(preview).length === 0) &&
      known &&
      isForModel({ stager }) &&
      !final &&
      state?.kind === 'pending' &&
      state.stale.length === 0 &&
      state.recommendation === undefined
    );
  }

  /** Listeners hear of a resolution one after the other, and some act on it before we are told: so we look ourselves. */
  #readLedger(t: TestSession): void {
    const entries = t.store.ledger().slice(this.#entries);
    this.#entries += entries.length;
    for (const entry of entries) this.#resolved(entry, entries, t);
  }

  #changed(preview: Preview, t: TestSession): void {
    this.#readLedger(t);
    const { id, state } = preview;
    let subject = this.#byId.get(id);
    if (!subject) {
      subject = this.#subjectOf(preview);
      const number = Number(id.slice(1));
      this.check(number > this.#lastId, () => `I3: the id ${id} is used again`);
      this.#lastId = number;
      subject.id = id;
      subject.asked = isForModel(subject);
      this.#byId.set(id, subject);
    }
    this.check(!subject.final || !isOpen(preview), () => `I3: ${id} is ${state.kind} after it was over`);
    const changes = preview.changes ? JSON.stringify(preview.changes) : null;
    if (preview.revision === subject.revision + 1) {
      this.check(
        !subject.final && state.kind === 'pending',
        () => `I2: ${id} was revised while ${state.kind}`,
      );
      subject.revision++;
      subject.before = subject.changes;
      subject.changes = changes;
    }
    this.check(
      changes === subject.changes && preview.revision === subject.revision,
      () => `I2: ${id} shows something else than its revision ${subject.revision}`,
    );
    if (state.kind !== 'applying') return;
    subject.writesBefore = t.workspace.writes.length;
    if (state.actor !== 'model' || subject.stager === 'planMode') return;
    this.check(
      mayModel(t.settings.modelAuthority, state.action, preview),
      () => `I7: the model may not ${state.action} ${id} in ${t.settings.modelAuthority}`,
    );
    const seen = this.#openAtRequest.get(id);
    this.check(
      seen === preview.revision,
      () => `I7: the model resolves ${id} at revision ${preview.revision} and saw ${seen}`,
    );
    this.check(subject.known, () => `I7: the model resolves ${id} of another conversation`);
  }

  /** What nobody announced is a part, or a plan, whose callbacks belong to the runtime itself. */
  #subjectOf({ label, part, changes }: Preview): Subject {
    const whole = part && this.#byId.get(part.previewId);
    if (!whole) {
      return this.#subjects.get(label) ?? { ...newSubject(label, 'planMode', true, null), finished: true };
    }
    const { known, current } = whole;
    return { ...newSubject(label, 'person', false, JSON.stringify(changes)), known, current };
  }

  /** A part that is applied, and then the rest, come to what was shown as a whole. */
  #checkSplit({ preview, part }: Revision): void {
    const whole = this.#byId.get(preview.id)?.before;
    if (!part || whole === undefined || whole === null || !preview.dependsOn.includes(part.id)) return;
    const both = [...(part.changes ?? []), ...(preview.changes ?? [])];
    const result = (changes: readonly FileChange[]): string =>
      composedSteps(changes)
        .map(({ path, after }) => `${path} ${after?.hash}`)
        .sort()
        .join();
    this.check(
      result(both) === result(JSON.parse(whole) as FileChange[]),
      () => `I2: ${part.id} and the rest of ${preview.id} are not what was shown`,
    );
  }

  #resolved(entry: LedgerEntry, transaction: readonly LedgerEntry[], t: TestSession): void {
    const { previewId: id, outcome, action } = entry;
    const subject = this.#byId.get(id);
    const preview = t.store.get(id);
    if (!subject || !preview) return;
    this.check(!subject.final, () => `I1: ${id} is resolved a second time`);
    if (outcome !== 'failed' || subject.finished) subject.final = true;
    if (subject.final && subject.current && subject.stager === 'planMode') this.#planDecided = true;
    const { state } = preview;
    if (!subject.final) {
      const renewed = state.kind === 'pending' && state.lastError !== undefined;
      this.check(renewed, () => `I5: ${id} is ${state.kind} after a failed ${action}`);
      if (action === 'apply') this.#failed.push(this.#failure(entry, t));
      return;
    }
    this.check(
      state.kind === (action === 'apply' ? 'applied' : 'discarded'),
      () => `I3: ${id} is ${state.kind} after ${action}`,
    );
    if (subject.changes === null)
      this.check(
        subject.finished || (action === 'discard' && !subject.rejects),
        () => `I3: ${id} is said to be ${outcome}, and its callback never succeeded`,
      );
    else if (outcome === 'applied') this.#checkLanded(subject, transaction, t);
  }

  /** Of previews that land as one transaction, the last one of each path is what is written. */
  #checkLanded(
    { id, writesBefore }: Subject,
    transaction: readonly LedgerEntry[],
    { workspace, store }: TestSession,
  ): void {
    const written = workspace.writes.slice(writesBefore);
    const changes = transaction.flatMap(({ previewId }) => store.get(previewId)?.changes ?? []);
    for (const { path, after } of composedSteps(changes)) {
      const times = written.filter(write => write.path === path && write.text === (after?.text ?? null));
      this.check(times.length === 1, () => `I2: ${id} wrote ${path} ${times.length} times as it was shown`);
    }
  }

  #failure(entry: LedgerEntry, t: TestSession): FailedApply {
    const { modelAuthority, forcing } = t.settings;
    const reminded = modelAuthority !== 'none';
    return {
      entry,
      messagesBefore: t.session.messages.length,
      reminded,
      forced: reminded && (forcing === 'forced' || forcing === 'always'),
    };
  }

  #checkRenewal(failure: FailedApply, request: ChatRequest, forced: boolean, t: TestSession): void {
    const { entry, messagesBefore } = failure;
    const { previewId: id } = entry;
    const subject = this.#byId.get(id);
    const preview = t.store.get(id);
    const isLast = t.store.ledger().findLast(({ previewId }) => previewId === id) === entry;
    if (!subject?.known || !subject.asked || !isLast || preview?.state.kind !== 'pending') return;
    const about = (messages: ChatRequest['messages'], kind: string): boolean =>
      messages.some(m => m.role === 'steering' && m.kind === kind && m.previewIds.includes(id));
    // Later, or left to the user.
    if (!mayRemind(t) || about(request.messages, 'notice') || !failure.reminded) return;
    this.check(
      about(request.messages.slice(messagesBefore), 'resolve-reminder'),
      () => `I5: the apply of ${id} failed, and its reminder was not renewed`,
    );
    const may = t.settings.forcing !== 'off' && !this.#lastFailed;
    if (failure.forced && may && this.#isWanted(subject, t) && !this.wordsOnly())
      this.check(forced, () => `I5: the apply of ${id} failed, and its directive was not renewed`);
  }

  #checkWhatWasSaid(request: ChatRequest, t: TestSession): void {
    const outcomes = textsOf(request, 'outcome').join('\n');
    for (const entry of t.store.ledger())
      if (entry.actor !== 'model' && this.#byId.get(entry.previewId)?.known)
        this.check(outcomes.includes(outcomeText(entry)), () => `I7: not told: ${outcomeText(entry)}`);
    const reminders = textsOf(request, 'resolve-reminder');
    if (!mayRemind(t)) return;
    for (const { id = '', known, asked, final } of this.#byId.values()) {
      const preview = t.store.get(id);
      if (preview && known && asked && !final)
        this.check(reminders.includes(reminderText(preview)), () => `the model is not reminded of ${id}`);
    }
  }

  #afterReload(subject: Subject, { store, session }: TestSession): void {
    subject.running = undefined;
    const preview = store.get(subject.id ?? '');
    this.check(preview !== undefined, () => `I3: ${subject.id} is gone after a reload`);
    if (!preview) return;
    const wasReminded = session.messages.some(
      m => m.role === 'steering' && m.kind === 'resolve-reminder' && m.previewIds.includes(preview.id),
    );
    subject.asked = wasReminded || isForModel(subject);
    const { kind } = preview.state;
    if (subject.final) return this.check(!isOpen(preview), () => `I3: ${subject.id} came back as ${kind}`);
    const expected = subject.changes === null ? 'expired' : 'pending';
    this.check(kind === expected, () => `I3: ${subject.id} came back as ${kind}, not ${expected}`);
    if (subject.changes === null) subject.final = subject.expired = true;
    else subject.finished = false; // killed between the end of its callback and the record of it
  }

  #state = 'idle';

  #emitted(event: SessionEvent, t: TestSession): void {
    this.#readLedger(t);
    if (event.type === 'reset') this.#answersBefore = -1;
    if (event.type === 'reset') for (const subject of this.#everything()) subject.known = false;
    if (event.type === 'message_end' && event.message.role === 'assistant') {
      const { stopReason } = event.message;
      if (stopReason === 'error') this.#lastFailed ||= this.#wasForced;
      else if (stopReason !== 'aborted') this.#lastFailed = false;
    }
    if (event.type === 'message_end' && event.message.role === 'user') {
      const { text } = event.message;
      this.check(this.#prompts.shift() === text, () => `"${text}" is taken up out of turn`);
      this.reviewEnds();
    }
    if (event.type !== 'state_changed') return;
    const before = this.#state;
    this.#state = event.state;
    if (event.state !== 'running') return;
    const wasAsked = this.asking;
    this.asking = false;
    const planDecided = this.#planDecided;
    this.#planDecided = false;
    if (wasAsked) return;
    const known = [...this.#byId.values(), ...this.#forgotten].filter(subject => subject.known);
    const mayGoOn =
      before === 'awaitingReview' &&
      t.settings.continueAfterReview &&
      (planDecided || (known.every(subject => subject.final) && known.some(subject => subject.current)));
    this.check(mayGoOn, () => `the session goes on by itself, and was ${before}`);
  }
}

function newSubject(
  label: string,
  stager: Subject['stager'],
  rejects: boolean,
  changes: string | null,
): Subject {
  const nothingYet = {
    revision: 1,
    id: undefined,
    running: undefined,
    before: null,
    finished: false,
    final: false,
    expired: false,
    writesBefore: 0,
  };
  return { label, stager, rejects, changes, ...nothingYet, known: true, asked: false, current: true };
}

/** What the model may do by itself; said once more, so that the runtime's own rule is put to the test. */
function mayModel(authority: ModelAuthority, action: ResolveAction, { changes }: Preview): boolean {
  const runsOrWidens = changes?.some(({ path }) => path.startsWith('.vscode/')) === true;
  return action === 'apply' ? authority === 'apply' && !runsOrWidens : authority !== 'none';
}

/** Whether the model can do what a reminder asks for; until it can, reminders wait. */
function mayRemind({ settings, session }: TestSession): boolean {
  return settings.modelAuthority !== 'none' && !session.planMode;
}

/** Whether the model is asked about it: not about what a person brings back, nor about its plan. */
function isForModel({ stager }: Pick<Subject, 'stager'>): boolean {
  return stager === 'tool' || stager === 'extension';
}

/** Says which results are not in the order of their calls. */
function orderOfResults({ session }: TestSession): string | undefined {
  let expected: string[] = [];
  for (const message of session.messages) {
    if (message.role === 'assistant') expected = message.toolCalls.map(({ id }) => id);
    if (message.role === 'tool' && expected.shift() !== message.toolCallId)
      return `the result of ${message.toolCallId} is out of order`;
  }
  return undefined;
}
