import { REVERT_TOOL, type RevertRecord } from '../../src/agent/session/conversation/revert.ts';
import { validTrunk } from '../../src/agent/session/conversation/validTrunk.ts';
import type { ChatRequest } from '../../src/agent/session/model/chatProvider.ts';
import type { RecoveryReport } from '../../src/agent/hold/preview/commit/recovery.ts';
import { isTornWrite } from '../../src/agent/hold/preview/commit/rollback.ts';
import { textOf, type FileChange, type FileStep } from '../../src/agent/hold/preview/fileChange.ts';
import { composedSteps, stepsOf } from '../../src/agent/hold/preview/fileSteps.ts';
import type { LedgerEntry } from '../../src/agent/hold/preview/ledger.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import { isOpen, isStale, type Preview, type ResolveAction } from '../../src/agent/hold/preview/preview.ts';
import { idsOf, type PreviewLogEntry } from '../../src/agent/hold/preview/log/previewLog.ts';
import type { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import type { Revision } from '../../src/agent/hold/preview/feed.ts';
import { outcomeText } from '../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { conflictCount } from '../../src/agent/hold/preview/rebase/conflictMarkers.ts';
import type { ModelAuthority } from '../../src/agent/hold/preview/resolveSettings.ts';
import type { SessionEvent } from '../../src/agent/session/events.ts';
import { AbandonedSpans } from './abandoned.ts';
import { currentAnswer, nodeOfCall, resultNode } from '../support/branches.ts';
import { historyViolations } from '../support/scriptedProvider.ts';
import type { TestSession } from '../support/testSession.ts';
import { textIn } from '../support/changes.ts';

/**
 * Who staged a preview: `user` is an Undo or Reopen, which the model is never asked about; `agent` is another agent, whose
 * previews belong to no conversation.
 */
export type Stager = 'tool' | 'extension' | 'user' | 'agent';

/** How often the model is asked for the same votes. Written down again here, to test the runtime's own bound. */
const MAX_ASKED = 3;

/** What is known about one preview from outside the runtime, by its unique label. */
interface Subject {
  readonly label: string;
  /** `part`: the user split it off from another preview. */
  readonly stager: Stager | 'planMode' | 'part';
  readonly rejects: boolean;
  /** The exact changes of its current revision; `null` for an opaque one. */
  changes: string | null;
  /** The changes of the previous revision. */
  before: string | null;
  /** The changes of all its revisions. */
  readonly had: Set<string | null>;
  revision: number;
  id: string | undefined;
  running: 'apply' | 'reject' | undefined;
  /** A callback ended without throwing, so that nothing is left to run. */
  finished: boolean;
  /** It was applied, discarded or expired. */
  final: boolean;
  /** It expired and was not dismissed yet; until then it must not be forgotten. */
  expired: boolean;
  /** The conversation that it belongs to; empty for another agent's. */
  readonly sessionId: string;
  /** The call that staged it, and the answer that makes it. */
  readonly call: { readonly answer: number; readonly id: string } | undefined;
  /** The model was asked to resolve it. */
  asked: boolean;
  /** It was staged, amended or voted on since the last prompt was sent. */
  current: boolean;
  /** Neither Stop nor Discard All came after it was staged or voted on: somebody's action on it may wake the session. */
  reviewed: boolean;
  /** The model recommends what to do with it. */
  isAdvised: boolean;
  /** The model has voted on it, and the vote was not refused because of what it builds on. */
  answered: boolean;
  /** It was pending while the model votes at the end of its turn: a failed apply need not be followed by a reminder of its own. */
  quiet: boolean;
  /** The number of files written before its apply started. */
  writesBefore: number;
  /** It was stale before its last change. */
  wasStale: boolean;
  isStale: boolean;
  /** The log lost its end: it may be stale again though the model was told otherwise, until the files are compared again. */
  lostEnd?: boolean;
  /** The number of commits of it in the journal before that. */
  commitsBefore: number;
}

/** A commit that the last process began. */
interface BegunCommit {
  readonly ids: readonly string[];
  readonly changes: readonly FileChange[];
  /** The files whose change was to go into an editor, as the journal says. */
  readonly journalled: readonly string[];
  /** The files whose editors are there with what was not saved. */
  readonly typed: readonly string[];
  /** What the ledger says of resolutions that ended after the commit began. */
  readonly later: readonly LedgerEntry[];
}

interface FailedApply {
  readonly entry: LedgerEntry;
  /** The number of answers in the last request before it. */
  readonly answersBefore: number;
  readonly messagesBefore: number;
  readonly reminded: boolean;
  /** Whether the next request must be forced. */
  readonly forced: boolean;
}

/** Each file that a preview changes, and the lines that it removes and adds there, wherever they are: a rebase moves them. */
function changedLines({ changes }: Preview): readonly string[] {
  const lines = ({ before, after }: FileChange): string[] => {
    const [old, now] = [textOf(before).split('\n'), textOf(after).split('\n')];
    return [...without(old, now).map(line => `-${line}`), ...without(now, old).map(line => `+${line}`)];
  };
  return (changes ?? []).flatMap(change =>
    ['', ...lines(change)].map(line => `${change.kind} ${change.path} ${line}`),
  );
}

/** The lines that are left after those of the other list are taken out, each once. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return lines.filter(line => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const textsOf = (request: ChatRequest, kind: string): string[] =>
  request.messages.flatMap(m => (m.role === 'steering' && m.kind === kind ? [m.text] : []));

/**
 * Checks what must hold for previews and their conversation, whatever happens in whatever order. It only watches from
 * the outside: callbacks as they start and end, requests as they are sent, and the events of the store and the session.
 * Each breach is a sentence in {@link violations}.
 *
 * - I1 An apply callback never runs twice at once, nor again after success.
 * - I2 What is written is what was shown.
 * - I3 A preview is listed until it is applied, discarded or expired; ids are never used twice.
 * - I4 No request is forced, and no tool withheld, for anything that cannot be resolved.
 * - I5 A failed apply leaves the same id pending, its directive and reminder renewed.
 * - I6 Every tool call gets exactly one result, in the order of the calls.
 * - I7 Human, model and extension differ only in what they may do: the model executes nothing that its mode forbids or
 *   that it has not seen; it hears of every outcome that is not its own with the next request.
 * - A file keeps its permission bits, whatever it is renamed to, replaced by and restored from.
 * - Also: the session continues by itself only after a review that was completed, or for what the model can go on with: a
 *   decision on a plan, a callback that has run, someone's discard with a reason, an expiry, a conflict. That a preview is
 *   stale is told with the next request, and nothing of what happened to previews is told twice.
 */
export class Invariants {
  readonly violations: string[] = [];
  readonly #subjects = new Map<string, Subject>();
  /** The labels of what is about to be staged. */
  readonly #announced = new Set<string>();
  readonly #byId = new Map<string, Subject>();
  /** The previews that the store has forgotten. */
  readonly #forgotten: Subject[] = [];
  /** How many entries of the ledger were checked. */
  #entries = 0;
  #failed: FailedApply[] = [];
  /** The open previews when the last request was sent. */
  #openAtRequest = new Map<string, Preview>();
  /** The last request forces a vote, or asks for one. */
  #wasForced = false;
  /** The request that is being answered forces a tool. */
  #isForcedAnswer = false;
  readonly #spans = new AbandonedSpans();
  /** A new process ends what the last one began. */
  isRecovering = false;
  /** The last process could not write the end of its log. */
  #isTailLost = false;
  /** The keys of what the model was told. */
  readonly #told = new Set<string>();
  /** Those of what may have been lost with the end of a log, so that something else happens under the same key. */
  readonly #mayComeAgain = new Set<string>();
  /** A forced request failed, and none has been answered since: the next ones are not forced. */
  #lastFailed = false;
  /** What the model was forced to vote on at the end of its turn, and how many times one after the other. */
  #asked = { what: '', times: 0 };
  /** The model is being asked that, and nothing of it has been withdrawn. */
  #isAsking = false;
  /** The number of answers in the last request. */
  readonly #proved = new Set<string>();
  #answersBefore = -1;
  /** The previews that the model has amended since the last request, as it has left them. */
  readonly #amended = new Map<string, Preview>();
  /** The previews of other windows, which may have written the same files. */
  readonly #otherStores: PreviewStore[] = [];
  /** The ids that were ever used in the storage. */
  readonly #ids = new Set<string>();
  #t: TestSession | undefined;
  /** Whether the server accepts only `auto`, so that nothing can be forced. */
  wordsOnly: () => boolean = () => false;
  /** The session was asked to run and has not started yet. */
  asking = false;
  /** Something has happened in the current review that the model can go on with. */
  #isNeeded = false;
  /** The prompts that were not sent yet. */
  #prompts: string[] = [];
  /** Those of them that waited when the process ended: they are sent once the user goes on. */
  #restored: string[] = [];

  check(holds: boolean, sentence: () => string): void {
    if (!holds) this.violations.push(sentence());
  }

  /** To be called before anything is staged. */
  willStage(action: PendingAction, stager: Stager, toolCallId?: string, owner?: string): void {
    const { label, changes, reject } = action;
    const { id: sessionId = '', tree } = this.#t?.session ?? {};
    const answer = tree && toolCallId !== undefined ? currentAnswer(tree) : undefined;
    const call = answer === undefined || toolCallId === undefined ? undefined : { answer, id: toolCallId };
    const content = changes ? JSON.stringify(changes) : null;
    const whose = stager === 'agent' ? '' : (owner ?? sessionId);
    this.#announced.add(label);
    this.#subjects.set(label, newSubject(label, stager, reject !== undefined, content, whose, call));
  }

  /**
   * What a tool of a conversation must read: the last of the conversation's own pending proposals, else the file.
   * `undefined` if that is not determined: a preview of an abandoned branch may be on its way out.
   */
  contentFor({ store, workspace }: TestSession, path: string, sessionId: string): string | undefined {
    const own = store.list('oldestFirst').filter(({ id }) => this.#byId.get(id)?.sessionId === sessionId);
    let content = workspace.now(path) ?? '';
    for (const preview of own) {
      const step = (preview.changes ?? []).flatMap(stepsOf).findLast(candidate => candidate.path === path);
      if (!step) continue;
      if (preview.state.kind !== 'pending' || preview.state.stale.length > 0) return undefined;
      content = textIn(step.after) ?? '';
    }
    return content;
  }

  /** A tool has read a file. @param expected what {@link contentFor} gave before. */
  checkRead(path: string, read: string, expected: string | undefined, sessionId: string): void {
    const now = this.#t && this.contentFor(this.#t, path, sessionId);
    if (expected === undefined || expected !== now) return;
    this.check(read === expected, () => `overlay: ${path} is read as ${JSON.stringify(read)}`);
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

  /** Watches a process that starts: the first one, or one after a reload. */
  watch(t: TestSession): void {
    this.#t = t;
    this.#failed = [];
    this.#spans.clear();
    this.#lastFailed = false;
    this.#openAtRequest.clear();
    this.#answersBefore = -1;
    const waiting = [...this.#restored, ...this.#prompts].join(' ');
    this.dropPrompts();
    this.#restored = t.session.queue.list.map(({ text }) => text);
    this.check(waiting === this.#restored.join(' '), () => `waited before a reload: ${waiting}`);
    this.#promptBegins();
    this.#state = t.session.state;
    for (const subject of [...this.#byId.values()]) this.#afterReload(subject, t);
    const isAlive = (): boolean => this.#t === t;
    this.#entries = t.store.ledger().length;
    t.store.onDidChange(preview => isAlive() && this.#changed(preview, t));
    t.store.onDidRevise(revision => isAlive() && this.#checkSplit(revision));
    t.store.onDidRevise(revision => isAlive() && this.#checkAmendment(revision, t));
    t.store.onDidResolve(() => isAlive() && this.#readLedger(t));
    t.session.onDidEmit(event => isAlive() && this.#emitted(event, t));
    this.#state = t.session.state;
  }

  /** The process ends now. What the log did not take yet is lost. */
  dies({ log }: TestSession): void {
    this.isRecovering = true;
    this.#isTailLost = log.isFailing;
    if (this.#isTailLost) for (const key of this.#told) this.#mayComeAgain.add(key);
  }

  /** Another window has staged previews. */
  otherWindow({ store: others }: TestSession, { store }: TestSession): void {
    this.#otherStores.push(others);
    for (const { id } of others.all()) {
      this.check(!store.get(id), () => `I3: ${id} is used in two windows`);
      this.#noteId(id);
    }
  }

  #noteId(id: string): void {
    this.check(!this.#ids.has(id), () => `I3: the id ${id} is used again`);
    this.#ids.add(id);
  }

  /** A file is about to be written. */
  willWrite(path: string, { store, log }: TestSession): void {
    if (this.isRecovering) return;
    const writers = store
      .list('oldestFirst')
      .filter(
        ({ state, changes }) =>
          state.kind === 'applying' && (changes ?? []).flatMap(stepsOf).some(step => step.path === path),
      );
    const isJournalled = writers.some(
      ({ id }) => commitsOf(id, log) > (this.#byId.get(id)?.commitsBefore ?? 0),
    );
    this.check(isJournalled, () => `${path} is written, and the journal does not say so yet`);
  }

  /** One commit that the last process did not end was recovered. @param found what the files held before that. */
  recovered(
    { ids, changes, later, journalled, typed }: BegunCommit,
    reports: readonly RecoveryReport[],
    found: Readonly<Record<string, string | undefined>>,
    { store, workspace }: TestSession,
  ): void {
    const steps = composedSteps(changes);
    if (steps.length === 0) return;
    // What was applied on the old content since shows that the commit had not written this file, whatever it holds now.
    const wasFoundUnwritten = ({ path, before }: FileStep): boolean => {
      const applied = later.filter(({ outcome }) => outcome === 'applied').flatMap(({ files }) => files);
      const first = applied.find(file => file.path === path);
      return first !== undefined && first.before === (before?.hash ?? null);
    };
    const isAsAfter = (step: FileStep): boolean =>
      found[step.path] === textIn(step.after) && !wasFoundUnwritten(step);
    // What an incomplete one leaves behind; else what was not written was changed since.
    const isUnwritten = (step: FileStep): boolean => {
      if (wasFoundUnwritten(step)) return true;
      const now = found[step.path];
      return now === textIn(step.before) || isTornWrite(now === undefined ? now : Buffer.from(now), step);
    };
    // An editor that holds neither side may have got the change before it was typed into, or be what kept it from coming. Where
    // it is gone, the file may still hold what the change makes: that of an undo of what was never saved, for example.
    const inEditors = steps.filter(
      step =>
        (typed.includes(step.path) || journalled.includes(step.path)) &&
        !wasFoundUnwritten(step) &&
        !isAsAfter(step) &&
        found[step.path] !== textIn(step.before),
    );
    const isApplied = ids.every(id => store.get(id)?.state.kind === 'applied');
    const others = steps.filter(step => !inEditors.includes(step));
    const areWritten = others.every(
      step => isAsAfter(step) || !(isUnwritten(step) || isUntouched(found[step.path], step)),
    );
    const isFinished = inEditors.length > 0 ? isApplied && areWritten : steps.some(isAsAfter) && areWritten;
    for (const step of isApplied ? inEditors : [])
      this.check(
        hasWords(found[step.path], step),
        () => `recovery of ${ids.join()}: it counts as applied, and ${step.path} lacks it`,
      );
    const leftAlone = reports.flatMap(report => report.leftAlone);
    /** It has its new name, and the text that is to be replaced. */
    const isOnlyNamed = ({ path, origin }: FileStep): boolean =>
      origin !== undefined && found[path] === textIn(origin.side);
    for (const step of steps) {
      const { path, before } = step;
      const now = workspace.now(path);
      const isPartial = !isFinished && (isAsAfter(step) || isOnlyNamed(step));
      const expected = isPartial ? textIn(before) : found[path];
      this.check(
        now === expected,
        () => `recovery of ${ids.join()}: ${path} is ${isPartial ? 'not restored' : 'changed'}`,
      );
      // What another preview wrote meanwhile is explained by the ledger.
      const proposed = store.all().flatMap(preview => (preview.changes ?? []).flatMap(stepsOf));
      const isOwn = proposed.some(step => step.path === path && textIn(step.after) === found[path]);
      const isForeign =
        found[path] !== textIn(before) && !isOwn && !isOnlyNamed(step) && !wasFoundUnwritten(step);
      if (isForeign)
        this.check(leftAlone.includes(path), () => `recovery of ${ids.join()}: nobody is told about ${path}`);
    }
    for (const id of ids) {
      const kind = store.get(id)?.state.kind;
      const expected = isFinished ? 'applied' : 'pending';
      this.check(kind === expected, () => `recovery of ${ids.join()}: ${id} is ${kind}, not ${expected}`);
    }
  }

  prompted(text: string): void {
    this.asking = true;
    this.#prompts.push(text);
  }

  /** Waiting prompts are dropped: after Stop or a new conversation. */
  dropPrompts(): void {
    this.asking = false;
    this.#prompts = [];
    this.#restored = [];
  }

  /** The review is over: after Stop or Discard All. */
  reviewEnds(): void {
    const id = this.#t?.session.id;
    for (const subject of this.#everything()) if (subject.sessionId === id) subject.reviewed = false;
    this.#promptBegins();
  }

  /** What was staged so far is of an earlier prompt. */
  #promptBegins(): void {
    for (const subject of this.#everything()) subject.current = false;
    this.#isNeeded = false;
  }

  /** Resolved previews were forgotten: only those may be gone. */
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

  /** The user dismisses an expired preview. */
  dismissed(id: string): void {
    const subject = this.#byId.get(id);
    if (subject) subject.expired = false;
  }

  /** A request is sent, or one instead of a refused one. */
  request(request: ChatRequest): void {
    const t = this.#t;
    if (!t) return;
    this.#noteQuiet(t);
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
      const offered = t.tools.createTools().map(tool => tool.name);
      this.check(offered.join() === names.join(), () => `I4: only ${names.join()} is offered`);
    }
    this.#isForcedAnswer = forced;
    this.violations.push(...this.#spans.check(t));
    const answers = messages.filter(({ role }) => role === 'assistant').length;
    if (answers === this.#answersBefore) return; // sent instead of a refused one, with the same messages
    this.#answersBefore = answers;
    this.#amended.clear();
    this.#openAtRequest = new Map(store.list('oldestFirst').map(preview => [preview.id, preview]));
    this.check(
      historyViolations(messages).length === 0,
      () => `I6: ${historyViolations(messages).join('; ')}`,
    );
    this.#checkWhatWasSaid(request, t);
    for (const failure of this.#failed) this.#checkRenewal(failure, request, forced, t);
    // A reminder that must wait is checked later.
    this.#failed = mayRemind(t) ? [] : this.#failed.map(failure => ({ ...failure, forced: false }));
    this.#checkForced(forced, request, t);
    this.#checkPace(forced, request, t);
    const last = messages.at(-1);
    this.#wasForced = forced || (last?.role === 'steering' && last.kind === 'resolve-reminder');
  }

  /** The checks pass on these revisions of previews together. */
  proved(revisions: readonly string[]): void {
    for (const each of revisions) this.#proved.add(each);
  }

  /** To be called after each step. */
  checkNow(): void {
    if (!this.#t) return;
    const listed = new Set(this.#t.store.list('oldestFirst').map(({ id }) => id));
    for (const { id = '', final, label } of this.#byId.values())
      this.check(listed.has(id) === !final, () => `I3: ${id} (${label}) is ${final ? '' : 'not '}listed`);
    const { workspace } = this.#t;
    for (const [path, text] of Object.entries(workspace.snapshot())) {
      const said = /^\S+\.sh (\d+)$/.exec(text)?.[1];
      if (said !== undefined)
        this.check(Number(said) === workspace.modeOf(path), () => `the bits of ${path} are another file's`);
    }
  }

  /** To be called once nothing is running any more. */
  checkAtRest(): void {
    const t = this.#t;
    if (!t) return;
    this.violations.push(...this.#spans.check(t));
    this.checkNow();
    this.check(t.session.state !== 'running', () => 'the session is running, but waits for nothing');
    for (const { running, label } of this.#subjects.values())
      this.check(running === undefined, () => `${running} of ${label} never ended`);
    for (const preview of t.store.list('oldestFirst'))
      this.check(
        preview.state.kind === 'pending',
        () => `I3: ${preview.id} is ${preview.state.kind} forever`,
      );
    for (const { finished, final, label } of this.#subjects.values())
      this.check(finished === final || !finished, () => `I3: ${label} has run and is still open`);
    this.check(this.#prompts.length === 0, () => `never answered: ${this.#prompts.join(' ')}`);
    const history = historyViolations(validTrunk(t.session.tree).map(({ message }) => message));
    this.check(history.length === 0, () => `I6: ${history.join('; ')}`);
    this.check(orderOfResults(t) === undefined, () => `I6: ${orderOfResults(t)}`);
    this.violations.push(...t.provider.violations);
    for (const error of t.errors)
      this.check(
        !/broke off|Storing|failed:/.test(error) || /^Discarding p\d+ failed/.test(error),
        () => `logged: ${error}`,
      );
  }

  #reverted(record: RevertRecord, t: TestSession): void {
    this.#answersBefore = -1;
    this.#failed = []; // whether it was renewed is on another branch now; that the model is asked at all is checked anyway
    const { tree } = t.session;
    this.#spans.reverted(record, t, ({ id }) => {
      const { sessionId, call } = this.#byId.get(id) ?? {};
      if (sessionId !== t.session.id || !call) return undefined;
      return resultNode(tree, call.answer, call.id) ?? call.answer;
    });
  }

  /** The result of a `resolve` begins with what it is about, unless it is no answer at all. */
  #noteAnswer(result: string): void {
    if (result.includes('builds on previews that are still pending')) return;
    const named = new Set(result.match(/\bp\d+\b/g));
    // A callback's own words name no preview.
    const isAbout = (id: string): boolean => named.size === 0 || named.has(id);
    for (const [id, subject] of this.#byId) if (isAbout(id)) subject.answered = true;
    // A vote in a later turn than the failure is an answer, after which the model is not asked again.
    this.#failed = this.#failed.filter(
      ({ entry, answersBefore }) => answersBefore === this.#answersBefore || !isAbout(entry.previewId),
    );
  }

  /** With `always`, every request is forced while the model has not answered about something that it can resolve. */
  #checkForced(forced: boolean, request: ChatRequest, t: TestSession): void {
    if (t.settings.forcing !== 'always' || forced || !mayRemind(t) || this.#lastFailed || this.wordsOnly())
      return;
    for (const subject of this.#byId.values()) {
      const { id = '', asked, answered } = subject;
      if (!asked || answered || isLeftToUser(id, request) || !this.#isWanted(subject, t)) continue;
      this.check(false, () => `I5: nothing is forced, and the model has not answered about ${id}`);
    }
  }

  #noteQuiet(t: TestSession): void {
    if (votesAtEnd(t)) for (const subject of this.#byId.values()) subject.quiet = true;
  }

  /**
   * With `auto` in Review, the model works undisturbed, and is asked once, for all of its turn, when it would end it. What was
   * left to the user is not part of that.
   */
  #checkPace(forced: boolean, request: ChatRequest, t: TestSession): void {
    const { messages } = request;
    if (!forced || !votesAtEnd(t)) {
      this.#asked = { what: '', times: 0 };
      return;
    }
    const last = messages.findLast(({ role }) => role === 'assistant');
    const hasEnded = last?.role === 'assistant' && last.toolCalls.length === 0;
    const isNewPrompt =
      messages.findLast(({ role }) => role === 'user' || role === 'assistant')?.role === 'user';
    this.check(
      hasEnded && !isNewPrompt,
      () => 'I4: forced in Review although the model has not ended its turn',
    );
    const reminders = messages.flatMap(m =>
      m.role === 'steering' && m.kind === 'resolve-reminder' ? m : [],
    );
    for (const id of reminders.at(-1)?.previewIds ?? []) {
      const preview = t.store.get(id);
      if (preview)
        this.check(
          mayModel('apply', 'apply', preview),
          () => `I4: asked about ${id}, which only the user decides`,
        );
    }
    const wanted = [...this.#byId.values()].filter(subject => this.#isWanted(subject, t));
    const isTold = ({ id = '' }: Subject): boolean =>
      isLeftToUser(id, request) || reminders.some(m => m.previewIds.includes(id));
    const missing = wanted.filter(subject => subject.asked && !subject.answered && !isTold(subject));
    this.check(missing.length === 0, () => `forced, and not told: ${missing.map(({ id }) => id).join()}`);
    const what = wanted.map(({ id, revision }) => `${id}@${revision}`).join();
    this.#asked = { what, times: what === this.#asked.what ? this.#asked.times + 1 : 1 };
    this.#isAsking = true;
    this.check(this.#asked.times <= MAX_ASKED, () => `forced ${this.#asked.times} times for ${what}`);
  }

  /** Whether the model resolved it with a call that it no longer sees. */
  #isLost({ actor, call }: LedgerEntry, t: TestSession): boolean {
    if (actor !== 'model' || !call) return false;
    const node = nodeOfCall(t, call);
    return node === undefined || !t.session.tree.isOnTrunk(node);
  }

  #everything(): Subject[] {
    return [...this.#subjects.values(), ...this.#byId.values(), ...this.#forgotten];
  }

  #subject(label: string): Subject {
    const subject = this.#subjects.get(label);
    if (!subject) throw new Error(`${label} was never staged`);
    return subject;
  }

  /** Whether it belongs to the open conversation, and the result that staged it is on the trunk. */
  #isKnown({ sessionId, call }: Subject, { session }: TestSession): boolean {
    if (sessionId !== session.id) return false;
    if (!call) return true;
    const node = resultNode(session.tree, call.answer, call.id) ?? call.answer;
    return session.tree.isOnTrunk(node);
  }

  #isWanted(subject: Subject, t: TestSession): boolean {
    const { id, stager, final } = subject;
    const { store } = t;
    const preview = store.get(id ?? '');
    const state = preview?.state;
    return (
      preview?.editedByUser !== true &&
      (preview === undefined ||
        (store.open.blockersOf(preview).every(each => isVotedFor(each, t)) &&
          mayModel('apply', 'apply', preview))) &&
      this.#isKnown(subject, t) &&
      isForModel({ stager }) &&
      !final &&
      state?.kind === 'pending' &&
      state.stale.length === 0 &&
      state.recommendation === undefined
    );
  }

  /** Reads the ledger itself, because other listeners of a resolution may act on it before this one is called. */
  #readLedger(t: TestSession): void {
    const entries = t.store.ledger().slice(this.#entries);
    this.#entries += entries.length;
    for (const entry of entries) this.#resolved(entry, entries, t);
  }

  #changed(preview: Preview, t: TestSession): void {
    this.#noteQuiet(t);
    this.#readLedger(t);
    const { id, state } = preview;
    let subject = this.#byId.get(id);
    if (!subject) {
      subject = this.#subjectOf(preview);
      this.#noteId(id);
      subject.id = id;
      subject.asked = isForModel(subject);
      this.#byId.set(id, subject);
      this.#noteQuiet(t);
    }
    this.#spans.noteChanged(preview, t);
    subject.wasStale = subject.isStale;
    subject.isStale = isStale(preview);
    const wasAdvised = subject.isAdvised;
    const advice = state.kind === 'pending' ? state.recommendation : undefined;
    // An apply that fails gives the earlier vote back.
    subject.isAdvised = advice !== undefined || (state.kind === 'applying' && wasAdvised);
    if (advice && !wasAdvised) {
      subject.current = subject.reviewed = true;
      // Only the user applies what the user has edited.
      const isRead = !advice.isUnread && !advice.isOfWhole && !preview.editedByUser;
      if (advice.action === 'apply' && isRead) this.#checkShown(preview, t);
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
      subject.had.add(changes);
    }
    this.check(
      changes === subject.changes && preview.revision === subject.revision,
      () => `I2: ${id} shows something else than its revision ${subject.revision}`,
    );
    this.#noteWithdrawn(preview);
    if (state.kind !== 'applying') return;
    subject.writesBefore = t.workspace.writes.length;
    subject.commitsBefore = commitsOf(id, t.log);
    if (state.actor !== 'model' || subject.stager === 'planMode') return;
    this.check(!t.session.planMode, () => `plan mode: the model's ${state.action} of ${id} is executed`);
    if (state.action === 'discard' && this.#spans.isBeingAbandoned(id)) return;
    this.check(
      mayModel(t.settings.modelAuthority, state.action, preview, this.#proved),
      () => `I7: the model may not ${state.action} ${id} in ${t.settings.modelAuthority}`,
    );
    const seen = this.#amended.get(id) ?? this.#openAtRequest.get(id);
    this.check(
      seen?.revision === preview.revision ||
        // A rebase may leave out changes that the disk has already.
        (seen?.changes ? without(changedLines(preview), changedLines(seen)).length === 0 : false),
      () => `I7: the model resolves ${id} at revision ${preview.revision} and saw ${seen?.revision}`,
    );
    // An earlier vote was for lines that the model was shown then.
    if (state.action === 'apply' && !wasAdvised) this.#checkShown(preview, t);
    this.check(this.#isKnown(subject, t), () => `I7: the model resolves ${id} of another conversation`);
  }

  /**
   * While the model is asked about it, a preview becomes stale, or someone else resolves it: the question is withdrawn, so that the
   * turn is not one without an answer, even if that fails.
   */
  #noteWithdrawn({ id, revision, state }: Preview): void {
    const isWithdrawn =
      state.kind === 'pending'
        ? state.stale.length > 0
        : state.kind === 'applying' && state.actor !== 'model';
    if (!this.#isAsking || !isWithdrawn || !this.#asked.what.split(',').includes(`${id}@${revision}`)) return;
    this.#isAsking = false;
    this.#asked.times--;
  }

  #checkShown(preview: Preview, t: TestSession): void {
    const lines = unshownLines(preview, t);
    this.check(
      lines.length === 0,
      () => `I7: the model votes for ${preview.id} and was not shown ${lines.join()}`,
    );
  }

  /** A preview without {@link willStage} is a part, or a plan, whose callbacks belong to the runtime. */
  #subjectOf({ id, label, part, changes, sourceToolName, origin }: Preview): Subject {
    const announced = this.#announced.delete(label) ? this.#subjects.get(label) : undefined;
    if (announced) return announced;
    const whole = part && this.#byId.get(part.previewId);
    const content = changes && JSON.stringify(changes);
    if (!whole && sourceToolName === REVERT_TOOL) {
      this.#spans.noteInverse(id);
      const stager = origin?.asksModel ? 'extension' : 'user';
      return newSubject(label, stager, false, content, origin?.sessionId ?? '');
    }
    if (!whole) {
      this.check(!this.#isForcedAnswer, () => `plan mode: a forced answer became the plan ${id}`);
      const { id: sessionId = '', tree } = this.#t?.session ?? {};
      const answer = tree && currentAnswer(tree);
      const call = answer === undefined || !origin?.call ? undefined : { answer, id: origin.call.toolCallId };
      return { ...newSubject(label, 'planMode', true, null, sessionId, call), finished: true };
    }
    const { sessionId, call, current, reviewed } = whole;
    return {
      ...newSubject(label, 'part', false, JSON.stringify(changes), sessionId, call),
      current,
      reviewed,
    };
  }

  /** A part and the rest of its preview, applied one after the other, must give what the whole preview showed. */
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

  /** The model amends what it was asked about, knows, and no one else has edited; then its earlier vote does not count. */
  #checkAmendment({ preview, by }: Revision, t: TestSession): void {
    const subject = this.#byId.get(preview.id);
    if (by !== 'amend' || !subject) return;
    const { id, revision, editedByUser, state } = preview;
    this.check(
      this.#isKnown(subject, t) && isForModel(subject),
      () => `I7: the model amends ${id}, which is not its own`,
    );
    this.check(editedByUser !== true, () => `I7: the model amends ${id}, which the user edited`);
    this.check(!subject.wasStale, () => `I7: the model amends ${id}, which is stale`);
    const known = this.#amended.get(id) ?? this.#openAtRequest.get(id);
    this.check(
      known?.revision === revision - 1,
      () => `I7: the model amends revision ${revision - 1} of ${id} and knows ${known?.revision}`,
    );
    this.check(
      state.kind === 'pending' && state.recommendation === undefined,
      () => `I7: a vote on ${id} counts for what was amended since`,
    );
    this.#amended.set(id, preview);
    // Its reminder is about the new revision, on which the model may have voted in the same message.
    this.#failed = this.#failed.filter(({ entry }) => entry.previewId !== id);
    subject.answered = false;
    subject.current = true;
    subject.reviewed = true;
  }

  #resolved(entry: LedgerEntry, transaction: readonly LedgerEntry[], t: TestSession): void {
    const { previewId: id, outcome, action } = entry;
    const subject = this.#byId.get(id);
    const preview = t.store.get(id);
    if (!subject || !preview) return;
    if (subject.sessionId === t.session.id) this.#spans.noteResolved(entry, t);
    this.check(!subject.final, () => `I1: ${id} is resolved a second time`);
    if (outcome !== 'failed' || (subject.finished && subject.stager !== 'planMode')) subject.final = true;
    const hasRun = subject.changes === null && action === 'apply';
    const isRefused = action === 'discard' && entry.actor !== 'model';
    if (subject.final && subject.reviewed && (subject.stager === 'planMode' || hasRun || isRefused))
      this.#isNeeded = true;
    const { state } = preview;
    if (!subject.final) {
      const renewed = state.kind === 'pending' && state.lastError !== undefined;
      this.check(renewed, () => `I5: ${id} is ${state.kind} after a failed ${action}`);
      if (action === 'apply' && !subject.quiet) this.#failed.push(this.#failure(entry, t));
      if (action === 'apply') this.#checkRolledBack(subject, transaction, t);
      // The model is told why, and asked anew.
      if (action === 'apply') this.#asked = { what: '', times: 0 };
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
    else if (outcome === 'applied' && !this.isRecovering) this.#checkWritten(subject, transaction, t);
  }

  /** If several previews are applied as one transaction, the last change of each path is written. */
  #checkWritten(
    { id, writesBefore }: Subject,
    transaction: readonly LedgerEntry[],
    { workspace, store }: TestSession,
  ): void {
    const written = workspace.writes.slice(writesBefore);
    const changes = transaction.flatMap(({ previewId }) => store.get(previewId)?.changes ?? []);
    for (const { path, before, after, origin } of composedSteps(changes)) {
      const times = written.filter(write => write.path === path && write.text === (textIn(after) ?? null));
      this.check(times.length === 1, () => `I2: ${id} wrote ${path} ${times.length} times as it was shown`);
      const shown = [textIn(before) ?? null, ...(origin ? [textIn(origin.side)] : [])];
      const isSeen = times.every(write => shown.includes(write.before));
      this.check(isSeen, () => `I2: ${id} replaced another text of ${path} than it showed`);
    }
  }

  /** What a failed apply has written is written back, unless the ledger says that it could not be. */
  #checkRolledBack({ id, writesBefore }: Subject, transaction: readonly LedgerEntry[], t: TestSession): void {
    if (transaction.some(({ message }) => message?.includes('could not be restored'))) return;
    const changes = transaction.flatMap(({ previewId }) => t.store.get(previewId)?.changes ?? []);
    for (const { path, before, after } of composedSteps(changes)) {
      const [old, own] = [textIn(before) ?? null, textIn(after) ?? null];
      const written = t.workspace.writes.slice(writesBefore).filter(write => write.path === path);
      const at = written.findIndex(write => write.before === old && write.text === own);
      const isBack = written.slice(at).some(write => write.before === own && write.text === old);
      // Another preview may have made the very same change meanwhile.
      const others = [
        ...[t.store, ...this.#otherStores]
          .flatMap(store => store.all())
          .filter(({ id: other, state }) => other !== id && ['applied', 'applying'].includes(state.kind)),
        ...this.#forgotten.map(({ changes }) => ({ changes: fileChangesIn(changes) })),
      ];
      const isAnothers = others
        .flatMap(other => composedSteps(other.changes ?? []))
        .some(
          step =>
            step.path === path &&
            (textIn(step.before) ?? null) === old &&
            (textIn(step.after) ?? null) === own,
        );
      this.check(
        at < 0 || isBack || isAnothers,
        () => `the apply of ${id} failed, and ${path} is not as it was`,
      );
    }
  }

  #failure(entry: LedgerEntry, t: TestSession): FailedApply {
    const { modelAuthority, forcing } = t.settings;
    const reminded = modelAuthority !== 'none';
    return {
      entry,
      answersBefore: this.#answersBefore,
      messagesBefore: t.session.messages.length,
      reminded,
      forced: reminded && (forcing === 'forced' || forcing === 'always' || forcing === 'auto'),
    };
  }

  #checkRenewal(failure: FailedApply, request: ChatRequest, forced: boolean, t: TestSession): void {
    const { entry, messagesBefore } = failure;
    const { previewId: id } = entry;
    const subject = this.#byId.get(id);
    const preview = t.store.get(id);
    const isLast = t.store.ledger().findLast(({ previewId }) => previewId === id) === entry;
    if (
      !subject ||
      !this.#isKnown(subject, t) ||
      !subject.asked ||
      !isLast ||
      preview?.state.kind !== 'pending' ||
      !mayModel('apply', 'apply', preview)
    )
      return;
    const about = (messages: ChatRequest['messages'], kind: string): boolean =>
      messages.some(m => m.role === 'steering' && m.kind === kind && m.previewIds.includes(id));
    // The reminder comes later, or the preview was left to the user.
    if (!mayRemind(t) || about(request.messages, 'notice') || !failure.reminded) return;
    this.check(
      about(request.messages.slice(messagesBefore), 'resolve-reminder'),
      () => `I5: the apply of ${id} failed, and its reminder was not renewed`,
    );
    const may = t.settings.forcing !== 'off' && !votesAtEnd(t) && !this.#lastFailed;
    if (failure.forced && may && this.#isWanted(subject, t) && !this.wordsOnly())
      this.check(forced, () => `I5: the apply of ${id} failed, and its directive was not renewed`);
  }

  #checkWhatWasSaid(request: ChatRequest, t: TestSession): void {
    const outcomes = textsOf(request, 'outcome').join('\n');
    const results = request.messages.flatMap(m => (m.role === 'tool' ? m.content : [])).join('\n');
    for (const entry of t.store.ledger()) {
      const subject = this.#byId.get(entry.previewId);
      const isLost = this.#isLost(entry, t);
      const mustTell = entry.actor !== 'model' || isLost || (entry.interrupted && entry.call);
      const preview = t.store.get(entry.previewId);
      // Without a preview, it is just being forgotten.
      if (!subject || !preview || !this.#isKnown(subject, t) || !mustTell) continue;
      // It may have been told before the branch with the call was left, or while it was.
      const ways = entry.interrupted ? [true, false] : [isLost];
      const about = preview.part ? { preview } : {};
      const texts = ways.map(onAbandonedBranch => outcomeText(entry, { ...about, onAbandonedBranch }));
      const isToldLate = results.includes(`${entry.previewId} (${entry.label}) was already resolved by `);
      this.check(
        isToldLate || texts.some(text => outcomes.includes(text)),
        () => `I7: not told: ${texts[0]}`,
      );
    }
    this.#checkStaleness(request, t);
    const reminders = textsOf(request, 'resolve-reminder').join('\n');
    // With `auto`, it is told of all at once, at the end of its turn.
    if (!mayRemind(t) || votesAtEnd(t)) return;
    for (const subject of this.#byId.values()) {
      const { id = '', asked, answered, final } = subject;
      const preview = t.store.get(id);
      if (answered) continue; // perhaps while its reminder waited for the end of plan mode
      if (isLeftToUser(id, request)) continue; // its reminders may be on a branch that was left before its last failure
      if (preview && asked && !final && this.#isKnown(subject, t) && mayModel('apply', 'apply', preview))
        // The label may be that of before a person decided some of the files.
        this.check(
          new RegExp(`^(?:Pending: |Staged: (?:.*, )?)${id} \\(`, 'm').test(reminders),
          () => `the model is not reminded of ${id}`,
        );
    }
  }

  /** What is stale was told as that, and nothing of what happened to previews is told twice. */
  #checkStaleness(request: ChatRequest, t: TestSession): void {
    const said = request.messages.flatMap(message => (message.role === 'steering' ? message : []));
    const keys = said.flatMap(({ tells = [] }) => tells);
    const twice = keys.find((key, at) => keys.indexOf(key) < at && !this.#mayComeAgain.has(key));
    for (const key of keys) this.#told.add(key);
    this.check(twice === undefined, () => `told twice: ${twice}`);
    const told = request.messages.flatMap(toldIn).join('\n');
    for (const subject of this.#byId.values()) {
      const { id = '' } = subject;
      const preview = t.store.get(id);
      if (!preview || !this.#isKnown(subject, t) || hasConflict(preview)) continue;
      const { state } = preview;
      if (state.kind !== 'pending' || state.stale.length === 0) continue;
      // Perhaps under the label that it had before a part was split off.
      const lastOf = (what: string): number =>
        [...told.matchAll(new RegExp(`\\b${id} \\(.*\\) (?:is|has become) ${what}`, 'g'))].at(-1)?.index ??
        -1;
      const last = lastOf('stale');
      // A failed attempt says it, also if a revision has cleared its error.
      const isSaid = t.store
        .ledger()
        .some(({ previewId, message }) => previewId === id && message?.startsWith('Nothing was written'));
      this.check(isSaid || last >= 0, () => `not told: ${id} is stale`);
      this.check(
        isSaid || subject.lostEnd || lastOf('no longer stale') <= last,
        () => `told: ${id} is no longer stale, and it is`,
      );
    }
  }

  #afterReload(subject: Subject, { store, session }: TestSession): void {
    subject.running = undefined;
    const preview = store.get(subject.id ?? '');
    this.check(preview !== undefined || this.#isTailLost, () => `I3: ${subject.id} is gone after a reload`);
    if (!preview) {
      this.#byId.delete(subject.id ?? '');
      this.#forgotten.push(subject);
      subject.final = true;
      return;
    }
    const { state } = preview;
    // The log may have lost that a vote was taken back.
    subject.isAdvised = state.kind === 'pending' && state.recommendation !== undefined;
    if (this.#isTailLost) {
      subject.lostEnd = true;
      subject.revision = preview.revision;
      subject.changes = preview.changes ? JSON.stringify(preview.changes) : null;
      subject.final = subject.changes !== null && !isOpen(preview);
      if (preview.state.kind === 'applied' || preview.state.kind === 'discarded') subject.final = true;
    }
    if (preview.revision !== subject.revision) {
      const changes = preview.changes ? JSON.stringify(preview.changes) : null;
      // The rebases of the last process are made again.
      this.check(
        preview.revision > subject.revision && subject.had.has(changes),
        () => `I2: ${subject.id} came back as another revision ${preview.revision}`,
      );
      subject.revision = preview.revision;
      subject.changes = changes;
    }
    subject.isStale = isStale(preview); // the process may have been killed before it wrote that down
    const wasReminded = session.messages.some(
      m => m.role === 'steering' && m.kind === 'resolve-reminder' && m.previewIds.includes(preview.id),
    );
    subject.asked = wasReminded || isForModel(subject);
    const { kind } = preview.state;
    if (subject.final) return this.check(!isOpen(preview), () => `I3: ${subject.id} came back as ${kind}`);
    const expected = subject.changes === null ? 'expired' : 'pending';
    this.check(kind === expected, () => `I3: ${subject.id} came back as ${kind}, not ${expected}`);
    if (subject.changes === null) {
      subject.final = true;
      subject.expired = preview.state.kind === 'expired' && preview.state.dismissed !== true;
    } else subject.finished = false; // the process was killed after the callback, before its outcome was recorded
  }

  #state = 'idle';

  #emitted(event: SessionEvent, t: TestSession): void {
    this.#noteQuiet(t);
    this.#readLedger(t);
    if (event.type === 'turn_end') this.#isAsking = false;
    if (event.type === 'reset') this.#answersBefore = -1;
    if (event.type === 'reset') {
      this.#promptBegins();
      this.#failed = []; // the inbox is gone; reopened, the conversation contains a reminder
    }
    if (event.type === 'prompts_returned') [this.#restored, this.#prompts] = [[], []];
    if (event.type === 'tool_end' && event.call.name === 'resolve') this.#noteAnswer(event.result.content);
    if (event.type === 'revert_applied' && event.record.applied) this.#reverted(event.record, t);
    if (event.type === 'message_end' && event.message.role === 'assistant') {
      const { stopReason } = event.message;
      if (stopReason === 'error') this.#lastFailed ||= this.#wasForced;
      else if (stopReason !== 'aborted') this.#lastFailed = false;
    }
    if (event.type === 'message_end' && event.message.role === 'user') {
      const { text } = event.message;
      const next = this.#restored.shift() ?? this.#prompts.shift();
      this.check(next === text, () => `"${text}" is sent out of turn`);
      this.#promptBegins();
    }
    if (event.type === 'preview_changed' && this.#byId.get(event.preview.id)?.reviewed)
      this.#isNeeded ||=
        event.preview.state.kind === 'expired' || hasConflict(event.preview) || isStale(event.preview);
    if (event.type !== 'state_changed') return;
    const before = this.#state;
    this.#state = event.state;
    if (event.state !== 'running') return;
    const wasAsked = this.asking;
    this.asking = false;
    const isNeeded = this.#isNeeded;
    this.#isNeeded = false;
    if (wasAsked) return;
    const known = [...this.#byId.values(), ...this.#forgotten].filter(subject => this.#isKnown(subject, t));
    const mayGoOn =
      before === 'awaitingReview' &&
      t.settings.continueAfterReview &&
      (isNeeded || (known.every(subject => subject.final) && known.some(subject => subject.current)));
    this.check(mayGoOn, () => `the session continues by itself, and was ${before}`);
  }
}

function fileChangesIn(changes: string | null): readonly FileChange[] {
  return changes === null ? [] : (JSON.parse(changes) as FileChange[]);
}

function hasConflict({ changes }: Preview): boolean {
  return (changes ?? []).some(change => conflictCount(change) > 0);
}

/** Lines that the preview adds and that neither the last request contains nor a call that the model has made. */
function unshownLines({ changes }: Preview, t: TestSession): readonly string[] {
  const last = t.requests.findLast(({ tools }) => tools.length > 0); // the others ask for summaries
  const told = JSON.stringify([last?.messages, t.answers().map(({ toolCalls }) => toolCalls)]);
  return (changes ?? []).flatMap(({ before, after }) => {
    const old = new Set(textIn(before)?.split('\n'));
    return (textIn(after) ?? '').split('\n').filter(line => !old.has(line) && !told.includes(line));
  });
}

function newSubject(
  label: string,
  stager: Subject['stager'],
  rejects: boolean,
  changes: string | null,
  sessionId: string,
  call?: Subject['call'],
): Subject {
  const nothingYet = {
    revision: 1,
    id: undefined,
    running: undefined,
    before: null,
    had: new Set([changes]),
    finished: false,
    final: false,
    expired: false,
    writesBefore: 0,
    wasStale: false,
    isStale: false,
    commitsBefore: 0,
  };
  return {
    label,
    stager,
    rejects,
    changes,
    sessionId,
    call,
    ...nothingYet,
    asked: false,
    answered: false,
    quiet: false,
    current: true,
    reviewed: true,
    isAdvised: false,
  };
}

/** How many commits of a preview its journal holds. */
function commitsOf(id: string, { lines }: TestSession['log']): number {
  return lines.filter(line => line.startsWith('{"type":"commit"') && line.includes(`"${id}"`)).length;
}

/** What the model may do by itself. Written down again here, to test the runtime's own rule. */
function mayModel(
  authority: ModelAuthority,
  action: ResolveAction,
  { id, revision, changes }: Preview,
  proved: ReadonlySet<string> = new Set(),
): boolean {
  // The second is a link to the first.
  const runsOrWidens = changes?.some(({ path }) => ['.vscode/settings.json', 'prefs.json'].includes(path));
  if (action === 'discard') return authority !== 'none';
  const isProved = authority === 'checked' && proved.has(`${id}@${revision}`);
  return (authority === 'apply' || isProved) && runsOrWidens !== true;
}

/** Whether the model votes on all that it staged at once, when it would end its turn. */
function votesAtEnd({ settings }: TestSession): boolean {
  return settings.forcing === 'auto';
}

/** Whether a vote on a preview can be recorded although this one, on which it builds, is not applied yet. */
function isVotedFor({ state }: Preview, t: TestSession): boolean {
  if (state.kind !== 'pending' || state.stale.length > 0 || !votesAtEnd(t)) return false;
  return state.recommendation?.action === 'apply' && t.settings.modelAuthority !== 'apply';
}

/** Whether the model can do what a reminder asks for. Until then reminders wait. */
function mayRemind({ settings, session }: TestSession): boolean {
  return settings.modelAuthority !== 'none' && !session.planMode;
}

/** Whether a text has the words that a step adds, and none that it takes away. */
function hasWords(text: string | undefined, { before, after }: FileStep): boolean {
  const wordsOf = (one: string | undefined): ReadonlySet<string> => new Set(one?.split(/\s+/));
  const [old, next, now] = [wordsOf(textIn(before)), wordsOf(textIn(after)), wordsOf(text)];
  return (
    [...next].every(word => old.has(word) || now.has(word)) &&
    [...old].every(word => next.has(word) || !now.has(word))
  );
}

/** Whether a text still has the lines that a step changes, and those beside them, as they were before it. */
function isUntouched(text: string | undefined, { before, after }: FileStep): boolean {
  const [now, old, next] = [text, textIn(before), textIn(after)].map(one => one?.split('\n') ?? []);
  if (!now || !old || !next || now.length !== old.length || next.length !== old.length) return false;
  const isNear = (line: number): boolean => [-1, 0, 1].some(by => old[line + by] !== next[line + by]);
  return old.every((text, line) => !isNear(line) || now[line] === text);
}

/** What a message tells of previews; a refused vote tells that its preview is stale. */
function toldIn(message: ChatRequest['messages'][number]): readonly string[] {
  if (message.role === 'steering') return [message.text];
  if (message.role !== 'tool') return [];
  return (message.tells ?? []).flatMap(key =>
    key.includes(' stale') ? [key.replace(' stale', ' (refused) is stale')] : [],
  );
}

/** Whether the last word to the model about a preview is that it is left to the user. */
function isLeftToUser(id: string, { messages }: ChatRequest): boolean {
  const last = messages.findLast(
    m =>
      m.role === 'steering' &&
      (m.kind === 'notice' || m.kind === 'resolve-reminder') &&
      m.previewIds.includes(id),
  );
  return last?.role === 'steering' && last.kind === 'notice';
}

/** Whether the model is asked to resolve it: not an Undo or Reopen, nor its own plan. */
function isForModel({ stager }: Pick<Subject, 'stager'>): boolean {
  return stager === 'tool' || stager === 'extension';
}

/** A sentence about the first result that is not in the order of the calls. */
function orderOfResults({ session }: TestSession): string | undefined {
  let expected: string[] = [];
  for (const message of session.messages) {
    if (message.role === 'assistant') expected = message.toolCalls.map(({ id }) => id);
    if (message.role === 'tool' && expected.shift() !== message.toolCallId)
      return `the result of ${message.toolCallId} is out of order`;
  }
  return undefined;
}
