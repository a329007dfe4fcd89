import * as z from 'zod';
import { ToolError } from '../../src/agent/base/errors.ts';
import {
  transientLadderMemory,
  type LadderMemory,
  type LadderStep,
} from '../../src/agent/model/toolChoiceLadder.ts';
import {
  textResult,
  type AgentToolResult,
  type PendingAction,
} from '../../src/agent/preview/pendingAction.ts';
import { revisionsOf, type Actor, type ResolveAction } from '../../src/agent/preview/preview.ts';
import { defineTool, type Tool, type ToolContext } from '../../src/agent/tools/tool.ts';
import { resolvePart } from '../../src/agent/preview/resolvePart.ts';
import { reopenAction, undoAction } from '../../src/agent/preview/restage.ts';
import { recoverLandings } from '../../src/agent/preview/recoverLandings.ts';
import { Rebaser } from '../../src/agent/preview/rebaser.ts';
import { sideOfText } from '../../src/agent/preview/fileChange.ts';
import { modify } from './changes.ts';
import { Invariants, type Stager } from './invariants.ts';
import { MemoryWorkspace, noSpace } from './memoryWorkspace.ts';
import type { ScriptedTurn } from './scriptedProvider.ts';
import {
  createTestSession,
  MemoryPreviewLog,
  MemorySessionLog,
  type MutableSettings,
  type TestSession,
} from './testSession.ts';

/** How a callback ends. Those of other extensions may answer what is no result: nothing, or something empty. */
export type CallbackEnd = ToolEnd | 'nothing' | 'empty';

/** How a tool ends. */
export type ToolEnd = 'ok' | 'toolError' | 'error' | 'errorResult';

/** Something slow that waits until the test lets it end. */
interface Waiting {
  end(how: CallbackEnd): void;
}

/** What is staged: file changes, or a callback that ends when and how the test says, or at once. */
export interface Staging {
  readonly what: 'file' | 'hunks' | 'files' | 'settings' | 'slow' | CallbackEnd;
  /** With a reject callback, which ends alike. */
  readonly rejects: boolean;
}

const PATHS = ['a.txt', 'b.txt', '.vscode/settings.json'] as const;
const LINES = 12;
/** Changed lines that are this far apart do not touch each other. */
const APART = 5;
const FILE_CHANGES: readonly Staging['what'][] = ['file', 'hunks', 'files', 'settings'];

/**
 * A whole runtime with a person, a model, an extension, a disk and slow callbacks, each of which does something only
 * when told. Every process of it (see {@link reload}) is watched by {@link Invariants}.
 */
export class RuntimeWorld {
  readonly invariants = new Invariants();
  /** Callbacks and tools that have begun and not ended, the oldest first. */
  running: Waiting[] = [];
  /** Reads and writes that wait while the disk is slow. */
  disk: Waiting[] = [];
  slowDisk = false;
  /** Votes of humans and extensions that have not been answered. */
  /** What was logged as an error outside of the session. */
  readonly faults: string[] = [];
  openVotes = new Set<object>();
  t: TestSession;
  #rebaser: Rebaser | undefined;
  readonly #ladderMemory: LadderMemory;
  #answer: ((turn: ScriptedTurn) => void) | undefined;
  #labels = 0;

  /** With a `step`, the server is known to stand there, whatever it does; else it is learned. */
  constructor(settings: Partial<MutableSettings>, step?: LadderStep) {
    this.#ladderMemory = step ? { get: () => step, set: () => undefined } : transientLadderMemory();
    this.invariants.wordsOnly = () => this.#ladderMemory.get('scripted') === 'auto';
    const files = {
      ...Object.fromEntries(
        PATHS.map(path => [path, Array.from({ length: LINES }, (_, n) => `${n}`).join('\n')]),
      ),
    };
    this.t = this.#boot(new MemoryPreviewLog(), new MemorySessionLog(), files, settings);
  }

  /** Followed by the process that runs, and taken over by the next one. */
  get settings(): MutableSettings {
    return this.t.settings;
  }

  /** No fewer than the previews that were staged. */
  get staged(): number {
    return this.#labels;
  }

  /** Whether a request waits for the model. */
  get isAsked(): boolean {
    return this.#answer !== undefined;
  }

  /** The model answers the request that waits; nothing happens if there is none. */
  answer(turn: ScriptedTurn): void {
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.(turn);
  }

  /** Ids of all previews that the store knows, open or not, in the order of staging. */
  ids(openOnly: boolean): readonly string[] {
    const { store } = this.t;
    return (openOnly ? store.list('oldestFirst') : store.all()).map(({ id }) => id);
  }

  /**
   * A vote of somebody who may apply what it is made on as well (`chain`), leave at once (`aborts`), or look at a
   * revision that is none any more (`outdated`).
   */
  vote(
    actor: Exclude<Actor, 'model'>,
    id: string,
    action: ResolveAction,
    { aborts = false, chain = false, outdated = false } = {},
  ): void {
    const now = this.t.store.get(id);
    const blockers = now ? this.t.store.blockersOf(now) : [];
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
      vote.then(() => this.invariants.check(!isRefused, () => `I2: an outdated vote on ${id} counted`)),
    );
    if (aborts) controller.abort();
  }

  /** A person votes on one file or hunk of a preview. */
  votePart(id: string, action: ResolveAction, file: number, hunk: number | undefined): void {
    const { t } = this;
    const preview = t.store.get(id);
    const changes = preview?.changes ?? [];
    const path = changes[file % Math.max(1, changes.length)]?.path;
    if (!preview || path === undefined) return;
    const chain = revisionsOf(t.store.blockersOf(preview));
    const { revision } = preview;
    const request = { id, revision, action, reason: `human ${action}`, actor: 'human', chain } as const;
    this.#answered({}, resolvePart(t, request, { path, ...(hunk === undefined ? {} : { hunk }) }));
  }

  #answered(vote: object, answer: Promise<unknown>): void {
    const { openVotes } = this;
    openVotes.add(vote);
    void answer.catch(() => undefined).finally(() => openVotes.delete(vote));
  }

  /** A person undoes what was applied, or reopens what was discarded. */
  restage(id: string): void {
    const preview = this.t.store.get(id);
    const action = preview && (undoAction(preview) ?? reopenAction(preview));
    if (!action) return;
    this.invariants.willStage(action, 'user');
    const staged = this.t.session.stageForUser(action).preview;
    void this.#rebaser?.check([staged.id]);
  }

  /** A person takes an expired preview out of sight. */
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
    this.invariants.asking = asking;
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

  discardAll(): void {
    this.invariants.reviewEnds();
    this.t.session.endReview();
    for (const id of this.ids(true)) this.vote('human', id, 'discard');
  }

  /** An extension stages, or a person brings something back. */
  stage(staging: Staging, stager: Exclude<Stager, 'tool'>): void {
    const action = this.#action(staging, path => this.t.workspace.text(path) ?? '');
    this.invariants.willStage(action, stager);
    if (stager === 'user') this.t.session.stageForUser(action);
    else this.t.session.stage(action);
  }

  /** A person types into a file; whoever watches it may notice. */
  type(at: number, isNoticed: boolean): void {
    const path = PATHS[at % PATHS.length] ?? 'a.txt';
    this.t.workspace.put(path, this.#touched(this.t.workspace.text(path) ?? '', `typed ${++this.#labels}`));
    if (isNoticed) void this.#rebaser?.filesChanged([path]);
  }

  /** A person edits a proposal. */
  edit(id: string): void {
    const { store } = this.t;
    const preview = store.get(id);
    const [first, ...others] = preview?.changes ?? [];
    if (preview?.state.kind !== 'pending' || first?.kind !== 'modify') return;
    const after = sideOfText(this.#touched(first.after.text, `edited ${++this.#labels}`));
    void store.revise(id, [{ ...first, after }, ...others], preview.dependsOn, 'user');
  }

  /** Clear History, or retention: what was resolved before the `at`th attempt in the ledger. */
  async forget(at?: number): Promise<void> {
    const { store, log } = this.t;
    const ledger = store.ledger();
    const since = at === undefined ? undefined : ledger[at % Math.max(1, ledger.length)]?.at;
    await store.forgetResolved(new Date(since ?? Date.now() + 60_000));
    this.invariants.forgotten(log.entries);
  }

  /** The process is killed, whatever it does, and another one takes up what is on disk. */
  async reload(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve)); // what was appended in one go is written by then
    const log = new MemoryPreviewLog();
    for (const entry of this.t.log.entries) void log.append(entry);
    const sessionLog = new MemorySessionLog();
    const stored = this.t.sessionLog.stored();
    const appender = stored && sessionLog.begin(stored.id);
    for (const entry of this.t.sessionLog.entries) void appender?.append(entry);
    this.running = [];
    this.disk = [];
    this.openVotes = new Set();
    this.#answer = undefined;
    this.slowDisk = false;
    this.t = this.#boot(log, sessionLog, this.t.workspace.snapshot(), this.settings);
    await recoverLandings(this.t.store, this.t.workspace);
  }

  #boot(
    log: MemoryPreviewLog,
    sessionLog: MemorySessionLog,
    files: Record<string, string>,
    settings: Partial<MutableSettings>,
  ): TestSession {
    const workspace = new MemoryWorkspace(files);
    workspace.beforeRead = () => this.#wait(workspace, 'read');
    workspace.beforeWrite = () => this.#wait(workspace, 'write');
    const t = createTestSession({
      log,
      sessionLog,
      workspace,
      settings,
      ladderMemory: this.#ladderMemory,
      tools: [this.#workTool()],
      script: (request, _n, signal) => {
        if (t !== this.t) return forEver();
        this.invariants.request(request);
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

  /** Staging tools: some end at once, some wait, some fail after they have staged. */
  #workTool(): Tool {
    return defineTool({
      name: 'work',
      label: 'Work',
      description: 'Stages.',
      parameters: z.object({
        stages: z.array(z.object({ what: z.string(), rejects: z.boolean() })),
        end: z.enum(['ok', 'toolError', 'error', 'errorResult', 'slow']),
      }),
      execute: async ({ stages, end }, context) => {
        const { t } = this;
        for (const staging of stages) {
          await this.#stageInTool(staging as Staging, context, t);
          if (t !== this.t) return forEver();
        }
        return end === 'slow' ? this.#slow('work') : ended(end, 'work');
      },
    });
  }

  async #stageInTool(staging: Staging, context: ToolContext, t: TestSession): Promise<void> {
    const now = new Map<string, string>();
    for (const path of PATHS)
      now.set(path, Buffer.from((await context.workspace.read(path)) ?? '').toString());
    if (t !== this.t) return forEver();
    const action = this.#action(staging, path => now.get(path) ?? '');
    this.invariants.willStage(action, 'tool');
    await context.stage(action);
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
      case 'settings':
        return { ...about, changes: [change(settings)] };
      default:
        return { ...about, ...reject, apply: run('apply') };
    }
  }

  /** The text with one line more to say, mostly not beside the line that was changed before. */
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
      const end = FILE_CHANGES.includes(what) ? 'slow' : (what as 'slow' | CallbackEnd);
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

const forget = (): void => undefined;

/** What a process waits for that is gone. */
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
