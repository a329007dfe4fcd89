import * as z from 'zod';
import { ToolError } from '../../src/agent/base/errors.ts';
import { type LadderMemory, type LadderStep } from '../../src/agent/session/model/toolChoiceLadder.ts';
import { renderTrunk } from '../../src/agent/session/conversation/renderTrunk.ts';
import { validTrunk } from '../../src/agent/session/conversation/validTrunk.ts';
import type { ChatRequest } from '../../src/agent/session/model/chatProvider.ts';
import type { RevertCategory } from '../../src/agent/session/model/messages.ts';
import { recoverCommits } from '../../src/agent/hold/preview/commit/recovery.ts';
import { completeUnsynced } from '../../src/agent/hold/preview/commit/unsynced.ts';
import {
  isText,
  sideOfText,
  type FileChange,
  type FileSide,
  type FileStep,
} from '../../src/agent/hold/preview/fileChange.ts';
import { stepsOf } from '../../src/agent/hold/preview/fileSteps.ts';
import {
  textResult,
  type AgentToolResult,
  type PendingAction,
} from '../../src/agent/hold/preview/pendingAction.ts';
import { revisionsOf, type Actor, type ResolveAction } from '../../src/agent/hold/preview/preview.ts';
import { countedNumbers, randomNumbers, UNSTORED } from '../../src/agent/hold/preview/previewNumbers.ts';
import { Rebaser } from '../../src/agent/hold/preview/rebase/rebaser.ts';
import type { Prover } from '../../src/agent/hold/preview/resolve/proof.ts';
import { resolvePart } from '../../src/agent/hold/preview/resolve/resolvePart.ts';
import { reopenAction, undoAction } from '../../src/agent/hold/preview/undo.ts';
import { commitText } from '../../src/agent/hold/preview/commitText.ts';
import { defineTool, type Tool, type ToolContext } from '../../src/agent/session/tools/tool.ts';
import { modify, remove, rename, textIn } from '../support/changes.ts';
import { Invariants, type Stager } from './invariants.ts';
import { MemoryWorkspace, noSpace } from '../support/memoryWorkspace.ts';
import type { ScriptedTurn } from '../support/scriptedProvider.ts';
import {
  createTestSession,
  MemoryPreviewLog,
  MemorySessionLog,
  type MutableSettings,
  type TestSession,
} from '../support/testSession.ts';

/** How a tool ends. */
export const TOOL_ENDS = ['ok', 'toolError', 'error', 'errorResult'] as const;
export type ToolEnd = (typeof TOOL_ENDS)[number];

/** How a callback ends. Those of other extensions may return nothing or an empty object instead of a result. */
export const CALLBACK_ENDS = [...TOOL_ENDS, 'nothing', 'empty'] as const;
export type CallbackEnd = (typeof CALLBACK_ENDS)[number];

/** Changes of files that are staged, as often as named here; `again`: with what the user has cut off and not saved. */
export const FILE_CHANGES = [
  'file',
  'hunks',
  'hunks',
  'files',
  'again',
  'settings',
  'linkToFile',
  'linkToSettings',
  'moveScript',
  'removeScript',
  'replaceScript',
] as const;
const IS_FILE_CHANGE = new Set<Staging['what']>(FILE_CHANGES);

/** A slow operation that waits until the test lets it end. */
interface Waiting {
  end(how: CallbackEnd): void;
}

/** What is staged: file changes, or a callback that ends at once or when the test says so. */
export interface Staging {
  readonly what: (typeof FILE_CHANGES)[number] | 'slow' | CallbackEnd;
  /** Whether there is also a reject callback, which ends in the same way. */
  readonly rejects: boolean;
}

/** The second name is odd in every way that a file system allows. */
const PATHS = ['a.txt', 'ö/-rf {b} $& "1".txt', '.vscode/settings.json'] as const;
/** Other names of these files. */
const LINKS = { 'link to a.txt': 'a.txt', 'prefs.json': '.vscode/settings.json' } as const;
/** Files that are only moved and removed, with their permission bits; the last name is free at first. */
const SCRIPTS = { 'run.sh': 0o755, 'key.sh': 0o600 } as const;
const SCRIPT_NAMES = [...Object.keys(SCRIPTS), 'new.sh'];
const LINK_NAMES = Object.keys(LINKS) as readonly (keyof typeof LINKS)[];
/** What the user types into. */
const TYPED_NAMES = [...PATHS, ...LINK_NAMES];
const NAMES = [...TYPED_NAMES, ...SCRIPT_NAMES];
const LINES = 12;
/** Changes to lines that are this far apart do not conflict. */
const APART = 5;
/**
 * A whole runtime with a user, a model, an extension, a disk and slow callbacks, which all act only when told to. Every
 * process (see {@link reload}) is watched by {@link Invariants}.
 */
export class RuntimeWorld {
  readonly invariants = new Invariants();
  /** Callbacks and tools that are running, oldest first. */
  running: Waiting[] = [];
  /** Reads and writes that wait while the disk is slow. */
  disk: Waiting[] = [];
  slowDisk = false;
  /** What was logged as an error outside the session. */
  readonly faults: string[] = [];
  /** Votes of the user and extensions that have not been answered. */
  openVotes = new Set<object>();
  t: TestSession;
  #rebaser: Rebaser | undefined;
  #isOtherWindow = false;
  /** Processes that were killed may have given out ids up to this one. */
  #floor = 0;
  readonly #ladderMemory: LadderMemory;
  readonly #window: number | undefined;
  #answer: ((turn: ScriptedTurn) => void) | undefined;
  #labels = 0;
  /** How many reverts of the user are under way. */
  #reverting = 0;
  /** What the user has typed into proposals and not saved. */
  readonly #drafts: { previewId: string; path: string; base: string; text: string }[] = [];
  /** What became of the proposal of a draft that is being saved. */
  #revised: { draft: object; before: string | undefined; after: string | undefined }[] = [];

  /**
   * @param step what the server is known to accept, whatever it does; if left out, that is learned.
   * @param window the context window of the model; if it is small, requests are shortened and summarized.
   */
  constructor(settings: Partial<MutableSettings>, step?: LadderStep, window?: number) {
    this.#window = window;
    this.#ladderMemory = step ? { get: () => step, set: () => undefined } : new Map();
    this.invariants.wordsOnly = () => this.#ladderMemory.get('scripted') === 'auto';
    const files = new MemoryWorkspace({}, LINKS);
    // Where the window is small, diffs are too long for it.
    const rest = window === undefined ? '' : ` ${'.'.repeat(200)}`;
    for (const path of PATHS)
      files.put(path, Array.from({ length: LINES }, (_, n) => `${n}${rest}`).join('\n'));
    for (const [path, mode] of Object.entries(SCRIPTS)) files.put(path, `${path} ${mode}`, mode);
    this.t = this.#boot(new MemoryPreviewLog(), new MemorySessionLog(), files, settings);
  }

  /** The settings of the running process. The next process keeps them. */
  get settings(): MutableSettings {
    return this.t.settings;
  }

  /** An upper bound of the number of previews that were staged. */
  get staged(): number {
    return this.#labels;
  }

  /** Whether a request waits for the model. */
  get isAsked(): boolean {
    return this.#answer !== undefined;
  }

  /** The model answers the waiting request, if there is one. */
  answer(turn: ScriptedTurn): void {
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.(turn);
  }

  /** The ids of the open previews, or of all that the store knows, in the order of staging. */
  ids(openOnly: boolean): readonly string[] {
    const { store } = this.t;
    return (openOnly ? store.list('oldestFirst') : store.all()).map(({ id }) => id);
  }

  /**
   * A vote of the user or an extension. It may also apply the previews beneath (`chain`), be aborted at once
   * (`aborts`), or be made on an older revision (`outdated`).
   */
  vote(
    actor: Exclude<Actor, 'model'>,
    id: string,
    action: ResolveAction,
    { aborts = false, chain = false, outdated = false, again = false } = {},
  ): void {
    if (again) this.#voteAgain(actor, id, action);
    const now = this.t.store.get(id);
    const blockers = now ? this.t.store.open.blockersOf(now) : [];
    const revision = outdated && now && now.revision > 1 ? now.revision - 1 : undefined;
    const beneath = blockers.find(blocker => outdated && blocker.revision > 1);
    const seen = { ...revisionsOf(blockers), ...(beneath ? { [beneath.id]: beneath.revision - 1 } : {}) };
    const isOutdated = revision !== undefined || (chain && action === 'apply' && beneath !== undefined);
    const isRefused = isOutdated && now?.state.kind === 'pending';
    const controller = new AbortController();
    const vote = this.t.invoker.resolve({
      id,
      action,
      reason: `${actor} ${action}`,
      actor,
      ...(chain ? { chain: seen } : {}),
      ...(revision ? { revision } : {}),
      signal: controller.signal,
    });
    this.#answered(
      controller,
      vote.then(({ kind, preview }) => {
        this.invariants.check(!isRefused, () => `I2: an outdated vote on ${id} counted`);
        const isEarly = kind === 'already' && preview.state.kind === 'applying';
        this.invariants.check(!isEarly, () => `I1: a vote on ${id} did not wait for the attempt under way`);
      }),
    );
    if (aborts) controller.abort();
  }

  /** The same vote comes twice more once the first one has failed: the moment that the preview is pending again, and just after. */
  #voteAgain(actor: Exclude<Actor, 'model'>, id: string, action: ResolveAction): void {
    const { t } = this;
    let wasApplying = false;
    const listener = t.store.onDidChange(preview => {
      if (preview.id !== id) return;
      if (preview.state.kind === 'applying') wasApplying = true;
      else if (wasApplying) {
        listener.dispose();
        if (t !== this.t) return;
        this.vote(actor, id, action);
        setImmediate(() => {
          if (t === this.t) this.vote(actor, id, action);
        });
      }
    });
  }

  /** The user votes on one file or hunk of a preview. */
  votePart(id: string, action: ResolveAction, file: number, hunk: number | undefined): void {
    const { t } = this;
    const preview = t.store.get(id);
    const changes = preview?.changes ?? [];
    const path = changes[file % Math.max(1, changes.length)]?.path;
    if (!preview || path === undefined) return;
    const chain = revisionsOf(t.store.open.blockersOf(preview));
    const { revision } = preview;
    const request = { id, revision, action, reason: `human ${action}`, actor: 'human', chain } as const;
    const partsOf = () => t.store.all().filter(({ part }) => part?.previewId === id);
    const before = new Set(partsOf().map(part => part.id));
    const vote = resolvePart(t, request, { path, ...(hunk === undefined ? {} : { hunk }) });
    this.#answered(
      {},
      vote.catch(() => {
        const tried = new Set(t.store.ledger().map(({ previewId }) => previewId));
        const untried = partsOf().find(
          part => !before.has(part.id) && part.state.kind === 'pending' && !tried.has(part.id),
        );
        this.invariants.check(!untried, () => `${untried?.id} was split off for a vote that was refused`);
      }),
    );
  }

  #answered(vote: object, answer: Promise<unknown>): void {
    const { openVotes } = this;
    openVotes.add(vote);
    void answer.catch(() => undefined).finally(() => openVotes.delete(vote));
  }

  /** The user undoes what was applied, or reopens what was discarded. */
  restage(id: string): void {
    const preview = this.t.store.get(id);
    const action = preview && (undoAction(preview) ?? reopenAction(preview));
    if (!action) return;
    // The copy stays in the conversation of its original.
    this.invariants.willStage(action, 'user', undefined, preview.origin?.sessionId);
    const staged = this.t.session.stageForUser(action).preview;
    void this.#rebaser?.refresh([staged.id]);
  }

  /** The user dismisses an expired preview. */
  dismiss(id: string): void {
    if (this.t.store.get(id)?.state.kind !== 'expired') return;
    this.invariants.dismissed(id);
    void this.t.store.dismiss(id);
  }

  prompt(): void {
    const text = `Prompt ${++this.#labels}.`;
    this.invariants.prompted(text);
    void this.t.session.prompt(text);
  }

  continue(): void {
    const { asking } = this.invariants;
    this.invariants.asking = true;
    void this.t.session.continue();
    if (this.#reverting === 0) this.invariants.asking = asking; // else it goes on after the revert
  }

  stop(): void {
    this.invariants.reviewEnds();
    this.invariants.dropPrompts();
    this.t.session.stop();
  }

  new(): void {
    this.invariants.dropPrompts();
    void this.t.session.new();
  }

  /** The user opens another conversation of the history. */
  open(at: number): void {
    const { session, sessionLog } = this.t;
    const others = sessionLog.ids.filter(id => id !== session.id);
    const stored = sessionLog.stored(others[at % Math.max(1, others.length)]);
    if (!stored || others.length === 0) return;
    this.invariants.dropPrompts();
    void session.open(stored).then(() => sessionLog.touch(stored.id));
  }

  /** The user goes to a node of the conversation: one on the trunk, on any branch, or the point before the first message. */
  revert({
    at,
    to,
    category,
  }: {
    at: number;
    to: 'trunk' | 'branch' | 'start';
    category: RevertCategory | null;
  }): void {
    const { session } = this.t;
    const nodes =
      to === 'trunk'
        ? session.tree.trunk.toReversed()
        : session.tree.trunk.length > 0
          ? [...Array(session.tree.nextId).keys()]
          : [];
    const target = to === 'start' ? null : nodes[at % Math.max(1, nodes.length)];
    if (target === undefined) return;
    const { moment } = session.queue;
    const isRunning = session.state === 'running';
    const reverted = session.revert({ target, category: target === null ? null : category, summary: null });
    if (session.queue.moment === moment) return; // it is being left
    if (isRunning) this.invariants.dropPrompts();
    this.invariants.reviewEnds();
    this.#reverting++;
    void reverted.finally(() => this.#reverting--);
  }

  discardAll(): void {
    this.invariants.reviewEnds();
    this.t.session.endReview();
    for (const id of this.ids(true)) this.vote('human', id, 'discard');
  }

  /** An extension stages a preview, or the user does by Undo or Reopen. */
  stage(staging: Staging, stager: Exclude<Stager, 'tool'>): void {
    const action = this.#action(staging, path => this.t.workspace.now(path) ?? '');
    this.invariants.willStage(action, stager);
    if (stager === 'agent') this.t.stageForAgent(action);
    else if (stager === 'user') this.t.session.stageForUser(action);
    else this.t.session.stage(action);
  }

  /** The user types into a file, which a watcher may notice. */
  type(at: number, isNoticed: boolean): void {
    const path = PATHS[at % PATHS.length] ?? 'a.txt';
    this.t.workspace.put(path, this.#touched(this.t.workspace.text(path) ?? '', `typed ${++this.#labels}`));
    if (isNoticed) void this.#rebaser?.filesChanged([path]);
  }

  /**
   * The user types into an editor, which any name of the file may have opened, cuts its last word off, saves it, or drops what was
   * typed.
   */
  typeInEditor(at: number, how: 'type' | 'cut' | 'save' | 'drop', isNoticed: boolean): void {
    const { workspace } = this.t;
    const path = TYPED_NAMES[at % TYPED_NAMES.length] ?? 'a.txt';
    const now = workspace.now(path) ?? '';
    if (how === 'type') workspace.type(path, this.#touched(now, `typed ${++this.#labels}`));
    else if (how === 'cut') workspace.type(path, now.replace(/ ?\S+$/, ''));
    else workspace.closeEditor(path, how === 'save');
    if (isNoticed) void this.#rebaser?.filesChanged([path]);
  }

  /** The user edits a preview. */
  edit(id: string): void {
    const { store } = this.t;
    const preview = store.get(id);
    const [first, ...others] = preview?.changes ?? [];
    if (preview?.state.kind !== 'pending' || first?.kind !== 'modify') return;
    const after = sideOfText(this.#touched(textIn(first.after), `edited ${++this.#labels}`));
    void store.revise(id, [{ ...first, after }, ...others], preview.dependsOn, 'user');
  }

  /** The arguments of a call with which the model amends a preview, which it may not be allowed to. */
  amendment(id = 'p999'): object {
    const changes = this.t.store.get(id)?.changes ?? [];
    const change = changes.find(({ after }) => textOfSide(after) !== undefined);
    const old = textOfSide(change?.after) ?? '';
    const edits = [{ old, new: this.#touched(old, `amended ${++this.#labels}`) }];
    return { path: change?.path ?? 'a.txt', amend: id, edits };
  }

  /** The user types into a proposal, and saves nothing yet. Typing again goes on with what is there. */
  typeDraft(id: string, file: number): void {
    const preview = this.t.store.get(id);
    const changed = preview?.changes?.filter(({ kind }) => kind === 'modify') ?? [];
    const change = changed[file % Math.max(1, changed.length)];
    const proposed = textOfSide(change?.after);
    if (preview?.state.kind !== 'pending' || !change || proposed === undefined) return;
    const { path } = change;
    const known = this.#drafts.find(draft => draft.previewId === id && draft.path === path);
    const draft = known ?? { previewId: id, path, base: proposed, text: proposed };
    if (!known) this.#drafts.push(draft);
    draft.text = this.#touched(draft.text, `drafted ${++this.#labels}`);
  }

  /** The user saves what was typed into a proposal, which may say something else by now: neither is lost. */
  async commitDraft(at: number): Promise<void> {
    const [draft] = this.#drafts.splice(at % Math.max(1, this.#drafts.length), 1);
    if (!draft) return;
    const { store } = this.t;
    const textOf = (preview = store.get(draft.previewId)): string | undefined =>
      textOfSide(preview?.changes?.find(({ path }) => path === draft.path)?.after);
    let seen = textOf();
    const noted = store.onDidRevise(({ preview }) => {
      if (preview.id !== draft.previewId) return;
      this.#revised.push({ draft, before: seen, after: textOf(preview) });
      seen = textOf(preview);
    });
    const committed = await commitText(store, draft);
    noted.dispose();
    const last = this.#revised.findLast(revision => revision.draft === draft);
    this.#revised = [];
    if (committed.kind !== 'committed' || last?.after === undefined) return;
    const wordsOf = (text = ''): readonly string[] => text.split(/\s+/);
    const known = new Set([...wordsOf(draft.base), ...wordsOf(last.after)]);
    const lost = [...wordsOf(draft.text), ...wordsOf(last.before)].filter(word => !known.has(word));
    this.invariants.check(
      lost.length === 0,
      () => `draft: saving it loses ${lost.join(', ')} of ${draft.previewId}`,
    );
  }

  /** Clear History, or retention: forgets what was resolved before the ledger entry `at`. */
  async forget(at?: number): Promise<void> {
    const { store, log } = this.t;
    const ledger = store.ledger();
    const since = at === undefined ? undefined : ledger[at % Math.max(1, ledger.length)]?.at;
    try {
      await store.forgetResolved(new Date(since ?? Date.now() + 60_000));
    } catch (error) {
      if (String(error).includes('Nothing was forgotten')) return; // for the log cannot be written
      throw error;
    }
    this.invariants.forgotten(log.entries);
  }

  /** The next writes to the log of previews fail: the disk is full, for example. */
  failLog(times: number): void {
    this.t.log.failAppend(1, times);
  }

  /**
   * Another window of the same workspace opens, whose previews are in memory, with the conversations in common. Its model stages
   * something, on which its user may vote before it closes.
   */
  async otherWindow(staging: Staging, vote: ResolveAction | undefined): Promise<void> {
    if (this.slowDisk) return;
    const { workspace, sessionLog } = this.t;
    const own = new MemorySessionLog();
    const { label, changes, sourceToolName } = this.#action(staging, path => workspace.now(path) ?? '');
    const apply = () => Promise.resolve(textResult('done'));
    const tool = defineTool({
      name: 'work',
      label: 'Work',
      description: 'Stages.',
      parameters: z.object({}),
      execute: async (_, context) => {
        context.stage({ label, sourceToolName, ...(changes ? { changes } : { apply }) });
        return textResult('staged');
      },
    });
    const log = new MemoryPreviewLog();
    const settings = { ...this.settings, forcing: 'off' } as const;
    const script = [{ toolCalls: [{ name: 'work', arguments: {} }] }, {}, {}];
    const shared = { sessionLog: own, workspace, numbers: randomNumbers() };
    const t = createTestSession({ ...shared, log, settings, script, tools: [tool] });
    this.#isOtherWindow = true;
    await t.session.prompt('Prompt of another window.');
    this.invariants.otherWindow(t, this.t);
    if (vote) for (const { id } of t.store.all()) await t.click(id, vote).catch(() => undefined);
    this.#isOtherWindow = false;
    t.session.dispose();
    sessionLog.adopt(own);
    void this.#rebaser?.filesChanged(NAMES);
  }

  /**
   * The process is killed while the user's apply is under way, or after it.
   * @param operations how many reads and writes of the disk come before that.
   * @param inEditor a file into whose editor the user has typed before; all editors may be lost.
   * @param again what is applied is staged now, and puts back more than what the user has cut off in an editor.
   */
  async crash(
    id: string,
    {
      operations,
      types,
      logFails,
      inEditor,
      again,
      losesEditors,
    }: {
      operations: number;
      types: number | undefined;
      logFails: boolean;
      inEditor: number | undefined;
      again: boolean;
      losesEditors: boolean;
    },
  ): Promise<void> {
    if (again) {
      this.typeInEditor(PATHS.indexOf('a.txt'), 'cut', false);
      this.stage({ what: 'again', rejects: false }, 'extension');
      id = this.ids(true).at(-1) ?? id;
    }
    if (inEditor !== undefined && !this.slowDisk) {
      this.typeInEditor(inEditor, 'type', false);
      const rebased = this.#rebaser?.filesChanged(TYPED_NAMES);
      // It would wait for a read that waits since the disk was slow.
      if (this.disk.length === 0) await rebased;
    }
    this.slowDisk = true;
    if (logFails) this.t.log.failAppend(2, 100); // the journal comes first
    this.vote('human', id, 'apply', { chain: true });
    for (let n = 0; n < operations; n++) {
      await new Promise(resolve => setImmediate(resolve));
      this.disk.shift()?.end('ok');
    }
    await new Promise(resolve => setImmediate(resolve));
    if (types !== undefined) this.type(types, false);
    await this.reload(!losesEditors);
  }

  /**
   * The process is killed, and another one continues with what is on disk.
   * @param keepsEditors whether the editors still have what was not saved.
   */
  async reload(keepsEditors = true): Promise<void> {
    await new Promise(resolve => setImmediate(resolve)); // by then all appended entries are written
    const log = new MemoryPreviewLog(this.t.log.lines);
    const before = this.t.workspace;
    const found = before.copy(keepsEditors);
    const unsaved = TYPED_NAMES.filter(name => before.typed(name) !== undefined);
    const typed = keepsEditors ? unsaved : [];
    const held = Object.fromEntries(NAMES.map(name => [name, found.now(name)]));
    this.invariants.dies(this.t);
    const sessionLog = this.t.sessionLog.copy();
    this.running = [];
    this.disk = [];
    this.openVotes = new Set();
    this.#answer = undefined;
    this.slowDisk = false;
    this.t = this.#boot(log, sessionLog, found, this.settings);
    this.#floor = Math.max(this.#floor, this.t.store.lastNumber) + UNSTORED;
    const { store, workspace } = this.t;
    const commits = store.interruptedCommits.map(({ ids, ledgerBefore, rollback }) => ({
      ids,
      typed,
      journalled: rollback?.editors ?? [],
      changes: ids.flatMap(id => store.get(id)?.changes ?? []),
      later: store.ledger().slice(ledgerBefore),
    }));
    const reports = await recoverCommits(store, workspace);
    for (const commit of commits) {
      // Where two commits were under way on one file, what is left of each depends on the other.
      const others = commits.filter(other => other !== commit).flatMap(({ changes }) => changes);
      const files = new Set(others.flatMap(stepsOf).map(fileOf));
      if (commit.changes.flatMap(stepsOf).some(step => files.has(fileOf(step)))) continue;
      this.invariants.recovered(commit, reports, held, this.t);
    }
    await completeUnsynced(store, workspace);
    this.invariants.isRecovering = false;
  }

  #boot(
    log: MemoryPreviewLog,
    sessionLog: MemorySessionLog,
    workspace: MemoryWorkspace,
    settings: Partial<MutableSettings>,
  ): TestSession {
    workspace.beforeRead = () => this.#wait(workspace, 'read');
    workspace.beforeWrite = path => {
      if (workspace === this.t.workspace && !this.#isOtherWindow) this.invariants.willWrite(path, this.t);
      return this.#wait(workspace, 'write');
    };
    const t = createTestSession({
      log,
      sessionLog,
      workspace,
      settings,
      ladderMemory: this.#ladderMemory,
      numbers: { next: last => countedNumbers(this.#floor).next(last) },
      prover: this.#prover(() => t),
      window: this.#window,
      tools: [this.#workTool(() => t)],
      script: (request, _n, signal) => {
        if (t !== this.t) return forEver();
        if (request.tools.length === 0) return { text: 'A summary.' };
        this.invariants.request({ ...request, messages: wholeTrunk(t) });
        return new Promise<ScriptedTurn>(resolve => {
          this.#answer = resolve;
          signal.addEventListener('abort', () => {
            if (this.#answer === resolve) this.#answer = undefined;
            resolve({ hang: true });
          });
        });
      },
    });
    const logger = {
      debug: forget,
      info: forget,
      warn: forget,
      error: (text: string) => void this.faults.push(text),
    };
    this.#rebaser = new Rebaser({ store: t.store, workspace, logger });
    this.invariants.watch(t);
    return t;
  }

  /**
   * A tool that stages previews, and then ends at once, waits or fails.
   * @param owner the process that the tool belongs to. Once it is killed, it does nothing, even if a call was on its way.
   */
  #workTool(owner: () => TestSession): Tool {
    return defineTool({
      name: 'work',
      label: 'Work',
      description: 'Stages.',
      parameters: z.object({
        stages: z.array(z.object({ what: z.string(), rejects: z.boolean() })),
        end: z.enum(['ok', 'toolError', 'error', 'errorResult', 'slow']),
      }),
      execute: async ({ stages, end }, context) => {
        const t = owner();
        if (t !== this.t) return forEver();
        const { id } = t.session;
        for (const staging of stages) {
          await this.#stageInTool(staging as Staging, context, t, id);
          if (t !== this.t) return forEver();
        }
        return end === 'slow' ? this.#slow('work') : ended(end, 'work');
      },
    });
  }

  async #stageInTool(
    staging: Staging,
    context: ToolContext,
    t: TestSession,
    sessionId: string,
  ): Promise<void> {
    const now = new Map<string, string>();
    for (const path of NAMES) {
      const expected = this.invariants.contentFor(t, path, sessionId);
      const read = Buffer.from((await context.workspace.read(path)) ?? '').toString();
      if (t !== this.t) return forEver();
      this.invariants.checkRead(path, read, expected, sessionId);
      now.set(path, read);
    }
    const action = this.#action(staging, path => now.get(path) ?? '');
    this.invariants.willStage(action, 'tool', context.toolCallId);
    context.stage(action);
  }

  /** Checks that are as slow as the disk, and pass on about every other set of previews. */
  #prover(owner: () => TestSession): Prover {
    return {
      factsOf: () => [],
      prove: async previews => {
        const about = previews.map(({ id, revision }) => `${id}@${revision}`);
        await this.#wait(owner().workspace, 'read');
        if (owner() !== this.t) return forEver();
        const isProved = [...about.join()].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 2 === 0;
        if (isProved) this.invariants.proved(about);
        const facts = { name: 'test', seconds: 0, at: new Date().toISOString() };
        return isProved
          ? { isProved, checks: [{ ...facts, outcome: 'passed' }] }
          : { isProved, why: 'failed', checks: [{ ...facts, outcome: 'failed' }] };
      },
    };
  }

  #action({ what, rejects }: Staging, now: (path: string) => string): PendingAction {
    const label = `n${++this.#labels}`;
    const [a, b, settings] = PATHS;
    const change = (path: string) => modify(path, now(path), this.#touched(now(path), label));
    const about = { label, sourceToolName: 'work' };
    const { t } = this;
    const run = (kind: 'apply' | 'reject') => () =>
      t === this.t ? this.#callback(label, kind, what) : forEver();
    const reject = rejects ? { reject: run('reject') } : {};
    switch (what) {
      case 'file':
        return { ...about, ...reject, changes: [change(a)] };
      case 'hunks': {
        const twice = this.#touched(this.#touched(now(a), label), `${label} again`, APART);
        return { ...about, ...reject, changes: [modify(a, now(a), twice), change(b)] };
      }
      case 'files':
        return { ...about, ...reject, changes: [change(a), change(b)] };
      case 'again': {
        const saved = t.workspace.text(a) ?? '';
        const wasCut = saved !== now(a) && saved.startsWith(now(a));
        return {
          ...about,
          ...reject,
          changes: [wasCut ? modify(a, now(a), `${saved} ${label}`) : change(a)],
        };
      }
      case 'settings':
        return { ...about, changes: [change(settings)] };
      case 'linkToFile':
        return { ...about, ...reject, changes: [change('link to a.txt')] };
      case 'linkToSettings':
        return { ...about, changes: [change('prefs.json')] };
      case 'moveScript':
      case 'removeScript':
      case 'replaceScript':
        return { ...about, ...reject, changes: this.#scriptChanges(what, now) ?? [change(a)] };
      default:
        return { ...about, ...reject, apply: run('apply') };
    }
  }

  /** `undefined` if there is no script left. */
  #scriptChanges(
    what: 'moveScript' | 'removeScript' | 'replaceScript',
    now: (path: string) => string,
  ): readonly FileChange[] | undefined {
    const turned = SCRIPT_NAMES.map((_, i) => SCRIPT_NAMES[(i + this.#labels) % SCRIPT_NAMES.length] ?? '');
    const [first, second] = turned.filter(path => now(path) !== '');
    const free = turned.find(path => now(path) === '');
    if (first === undefined) return undefined;
    if (what === 'removeScript') return [remove(first, now(first))];
    if (what === 'replaceScript' && second !== undefined)
      return [remove(second, now(second)), rename(first, second, now(first))];
    return free === undefined ? undefined : [rename(first, free, now(first))];
  }

  /** The text with one changed line, usually far from the line that was changed before. */
  #touched(text: string, what: string, further = 0): string {
    const lines = text.split('\n');
    const at = (this.#labels * APART + further) % LINES;
    lines[at] = `${lines[at] ?? ''} ${what}`;
    return lines.join('\n');
  }

  async #callback(label: string, kind: 'apply' | 'reject', what: Staging['what']): Promise<AgentToolResult> {
    const { invariants, t } = this;
    invariants.callbackStarts(label, kind);
    let succeeded = false;
    try {
      const end = IS_FILE_CHANGE.has(what) ? 'slow' : (what as 'slow' | CallbackEnd);
      const result = end === 'slow' ? await this.#slow(`${kind} ${label}`) : ended(end, label);
      succeeded = true;
      return result;
    } finally {
      if (t === this.t) invariants.callbackEnds(label, succeeded);
    }
  }

  #slow(text: string): Promise<AgentToolResult> {
    return new Promise(resolve => {
      this.running.push({ end: how => resolve(Promise.resolve().then(() => ended(how, text))) });
    });
  }

  #wait(workspace: MemoryWorkspace, what: 'read' | 'write'): Promise<void> | void {
    if (!this.slowDisk || workspace !== this.t.workspace) return undefined;
    return new Promise((resolve, reject) => {
      this.disk.push({ end: how => (how === 'ok' || what === 'read' ? resolve() : reject(noSpace())) });
    });
  }
}

/** The name of the file that a step writes, which may write it by way of a link. */
function fileOf({ path }: FileStep): string {
  const link = LINK_NAMES.find(name => name === path);
  return link ? LINKS[link] : path;
}

/** What a request would contain now if nothing were shortened or summarized. */
function wholeTrunk({
  session: { tree },
  settings: { revertEnabled },
}: TestSession): ChatRequest['messages'] {
  const lines = validTrunk(tree);
  if (revertEnabled || tree.hasTags) return renderTrunk(tree, { markers: revertEnabled, lines });
  return lines.map(({ message }) => message);
}

const forget = (): void => undefined;

/** What a killed process waits for. */
function forEver(): Promise<never> {
  return new Promise(() => undefined);
}

function ended(how: CallbackEnd, text: string): AgentToolResult {
  switch (how) {
    case 'ok':
      return textResult(`${text} is done`, { text });
    case 'errorResult':
      return { ...textResult(`${text} went wrong`), isError: true };
    case 'toolError':
      throw new ToolError(`${text} cannot`);
    case 'error':
      throw new TypeError(`${text} broke`);
    case 'nothing':
      return undefined as never;
    case 'empty':
      return {} as never;
  }
}

/** The text of a side; `undefined` for a link, a binary file and nothing. */
function textOfSide(side: FileSide | null | undefined): string | undefined {
  return side && isText(side) ? side.text : undefined;
}
