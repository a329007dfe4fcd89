import assert from 'node:assert/strict';
import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger, type Logger } from '../../src/agent/base/logger.ts';
import {
  parseSessionEntry,
  type SessionLogEntry,
} from '../../src/agent/session/conversation/storage/sessionEntry.ts';
import {
  SessionReader,
  type StoredSession,
} from '../../src/agent/session/conversation/storage/storedSession.ts';
import { validTrunk } from '../../src/agent/session/conversation/validTrunk.ts';
import type { ChatProvider, ChatRequest } from '../../src/agent/session/model/chatProvider.ts';
import type {
  AssistantMessage,
  SteeringMessage,
  ToolResultMessage,
} from '../../src/agent/session/model/messages.ts';
import { ToolChoiceLadder, type LadderMemory } from '../../src/agent/session/model/toolChoiceLadder.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import {
  parseEntry,
  type PreviewLogEntry,
  type UnreadableLine,
  type PreviewLogSink,
} from '../../src/agent/hold/preview/log/previewLog.ts';
import type { PreviewNumbers } from '../../src/agent/hold/preview/previewNumbers.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import type { PreviewStoreOptions } from '../../src/agent/hold/preview/previewStoreOptions.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import type { Prover } from '../../src/agent/hold/preview/resolve/proof.ts';
import type { SessionEvent } from '../../src/agent/session/events.ts';
import type {
  SessionOptions,
  ReadInstructions,
  SessionSettings,
} from '../../src/agent/session/sessionOptions.ts';
import { Session } from '../../src/agent/session/session.ts';
import type { ReadSurroundings } from '../../src/agent/session/surroundings.ts';
import { builtInTools } from '../../src/agent/session/tools/builtIn.ts';
import type { ToolRegistry } from '../../src/agent/session/tools/registry.ts';
import type { Problems } from '../../src/agent/session/tools/problems.ts';
import type { Tool } from '../../src/agent/session/tools/tool.ts';
import { MemoryWorkspace, noSpace } from './memoryWorkspace.ts';
import {
  createScriptedProvider,
  historyViolations,
  type Script,
  type ScriptedProvider,
} from './scriptedProvider.ts';
import { toolResult } from '../../src/agent/hold/preview/resolve/resolved.ts';

/**
 * A log of previews in memory. Entries go through JSON and the schema, as they do on disk, and are there when `append`
 * returns.
 */
export class MemoryPreviewLog implements PreviewLogSink {
  /** Its lines without the header. A test may damage them. */
  readonly lines: string[];
  /** While set, every append fails with this error and stores nothing. */
  fault: Error | undefined;
  /** Whether the last append failed, so that what it should have stored may still wait. */
  isFailing = false;
  #appends = 0;
  #failing: Failing | undefined;
  /** Part of a line at the end of the file, which no reader takes for a line, and the next append removes. */
  #tornEnd = '';

  constructor(lines: readonly string[] = []) {
    this.lines = [...lines];
  }

  /**
   * Of the attempts to append from now on, the `n`-th and the `count - 1` after it fail.
   * @param leaves what such an attempt writes all the same.
   */
  failAppend(n: number, count = 1, error: Error = noSpace(), leaves: Failing['leaves'] = 'nothing'): void {
    const from = this.#appends + n;
    this.#failing = { from, to: from + count, error, leaves };
  }

  /** The end of the file after its last line: part of a line, if the last attempt to append left that. */
  get tornEnd(): string {
    return this.#tornEnd;
  }

  appendNow(entry: PreviewLogEntry): boolean {
    if (this.#faultOf(this.#appends + 1)) {
      this.isFailing = true;
      return false;
    }
    void this.append(entry);
    return true;
  }

  append(entry: PreviewLogEntry): Promise<void> {
    const fault = this.#faultOf(++this.#appends);
    this.isFailing = fault !== undefined;
    const line = JSON.stringify(entry);
    const leaves = fault && !this.fault ? this.#failing?.leaves : undefined;
    this.#tornEnd = leaves === 'a torn line' ? line.slice(0, line.length / 2) : '';
    if (!fault || leaves === 'the line') this.lines.push(line);
    if (fault) return Promise.reject(fault);
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return this.fault ? Promise.reject(this.fault) : Promise.resolve();
  }

  compact(rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[]): Promise<void> {
    if (this.fault) return Promise.reject(this.fault);
    const kept = this.lines.flatMap(line => {
      const entry = entryIn(line);
      return entry ? rewrite(entry).map(rewritten => JSON.stringify(rewritten)) : [line];
    });
    this.lines.splice(0, Infinity, ...kept);
    return Promise.resolve();
  }

  /** What a process that starts now would read, if all of it can be read. */
  get entries(): readonly PreviewLogEntry[] {
    return this.lines.map(line => entryIn(line) ?? assert.fail(`not a log entry: ${line}`));
  }

  /** What a process that starts now would read. */
  load(): { readonly entries: readonly PreviewLogEntry[]; readonly unreadable: readonly UnreadableLine[] } {
    const entries: PreviewLogEntry[] = [];
    const unreadable: UnreadableLine[] = [];
    for (const text of this.lines) {
      const entry = entryIn(text);
      if (entry) entries.push(entry);
      else unreadable.push({ text, position: entries.length });
    }
    return { entries, unreadable };
  }

  #faultOf(n: number): Error | undefined {
    const failing = this.#failing;
    return this.fault ?? (failing && n >= failing.from && n < failing.to ? failing.error : undefined);
  }
}

/** Attempts to append that fail. */
interface Failing {
  readonly from: number;
  readonly to: number;
  readonly error: Error;
  readonly leaves: 'nothing' | 'a torn line' | 'the line';
}

function entryIn(line: string): PreviewLogEntry | undefined {
  try {
    return parseEntry(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** A store with what the log holds, as after a start. */
export function restoredStore(
  log: MemoryPreviewLog,
  onLogFailure: (error: unknown) => void = error => assert.fail(String(error)),
  options: PreviewStoreOptions = {},
): PreviewStore {
  const store = new PreviewStore(log, onLogFailure, options);
  const { entries, unreadable } = log.load();
  store.restore(entries, unreadable);
  return store;
}

/** The logs of sessions, in memory. Entries go through JSON and the schema. The last one begun or written is the current one. */
export class MemorySessionLog {
  #id: string | undefined;
  readonly #logs = new Map<string, string[]>();

  /** Continues the log of a session, or starts that of another one. */
  begin(id: string): { append(entry: SessionLogEntry): Promise<void> } {
    this.#id = id;
    const lines = this.#logs.get(id) ?? [];
    this.#logs.set(id, lines);
    return {
      append: entry => {
        this.#id = id; // a session that is opened again is not begun anew
        lines.push(JSON.stringify(entry));
        return Promise.resolve();
      },
    };
  }

  /** Makes the session the current one, although nothing was added to it. */
  touch(id: string): void {
    this.#id = id;
  }

  /** What was written of the current session, without the header. */
  get lines(): readonly string[] {
    return this.#logs.get(this.#id ?? '') ?? [];
  }

  get entries(): readonly SessionLogEntry[] {
    return this.lines.map(
      line => parseSessionEntry(JSON.parse(line)) ?? assert.fail(`not a log entry: ${line}`),
    );
  }

  /** The sessions of which something was written, oldest first. */
  get ids(): readonly string[] {
    return [...this.#logs].flatMap(([id, lines]) => (lines.length > 0 ? [id] : []));
  }

  /** What a process that starts now would read of a session; by default of the current one. */
  stored(id = this.#id): StoredSession | undefined {
    return id === undefined ? undefined : storedSession(id, this.#logs.get(id) ?? []);
  }

  /** Adds the logs of another window. */
  adopt(other: MemorySessionLog): void {
    for (const [id, lines] of other.#logs) this.#logs.set(id, lines);
  }

  /** What a process that starts now finds. */
  copy(): MemorySessionLog {
    const copy = new MemorySessionLog();
    for (const [id, lines] of this.#logs) copy.#logs.set(id, [...lines]);
    copy.#id = this.#id;
    return copy;
  }
}

/** The session that results from these lines of a log, which must all be valid. */
export function storedSession(id: string, lines: readonly string[]): StoredSession {
  const reader = new SessionReader(node => assert.fail(`message ${node} cannot be parsed`));
  for (const line of lines) {
    const bytes = Buffer.from(line);
    if (reader.line(bytes, 0, bytes.length)) continue;
    reader.entry(parseSessionEntry(JSON.parse(line)) ?? assert.fail(`not a log entry: ${line}`));
  }
  return reader.session(id);
}

/** Settings that a test can change while the session runs. */
export type MutableSettings = { -readonly [Key in keyof SessionSettings]: SessionSettings[Key] };

export interface TestSessionOptions {
  /** What the model does; by default it must not be asked. Ignored if `provider` is given. */
  readonly script?: Script;
  /** Replaces the scripted provider, e.g. by the offline one. */
  readonly provider?: ChatProvider;
  /** The context window that the scripted provider reports, in tokens; by default none. */
  readonly window?: number | undefined;
  /** Default: Auto (`apply`), newest first, continues after review. */
  readonly settings?: Partial<SessionSettings>;
  /** Files by workspace path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Replaces `files`. */
  readonly workspace?: MemoryWorkspace;
  /** Whether `revert_to_state` is registered; `revertEnabled` then offers it. Default: true. */
  readonly hasRevertTool?: boolean;
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Replaces the built-in tools. */
  readonly registry?: ToolRegistry;
  /** See `SessionOptions.prepareTools`. */
  readonly prepareTools?: () => Promise<void>;
  /** See `SessionOptions.readInstructions`. */
  readonly readInstructions?: ReadInstructions;
  /** See `SessionOptions.readSurroundings`. */
  readonly readSurroundings?: ReadSurroundings;
  readonly commands?: SessionOptions['commands'];
  /** See `SessionOptions.keepImage`. */
  readonly keepImage?: SessionOptions['keepImage'];
  /** See `SessionOptions.problems`. */
  readonly problems?: Problems;
  /** A log from an earlier session: its previews are restored, as after a reload. */
  readonly log?: MemoryPreviewLog;
  /** The log of an earlier session, which is continued. */
  readonly sessionLog?: MemorySessionLog;
  /** What hands out the numbers of previews; by default the store counts by itself. */
  readonly numbers?: PreviewNumbers;
  /** What was learned about servers before. */
  readonly ladderMemory?: LadderMemory;
  /** The checks. Default: there are none. */
  readonly prover?: Prover;
}

export interface TestSession {
  readonly session: Session;
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly workspace: MemoryWorkspace;
  readonly tools: ToolRegistry;
  readonly settings: MutableSettings;
  readonly log: MemoryPreviewLog;
  readonly sessionLog: MemorySessionLog;
  readonly provider: ScriptedProvider;
  /** Every request to the scripted model, in order. */
  readonly requests: readonly ChatRequest[];
  /** Every event, in order. */
  readonly events: readonly SessionEvent[];
  /** The logged errors. */
  readonly errors: readonly string[];

  /** Stages a preview of a tool call of this session, as an extension would. */
  stage(action: Partial<PendingAction> & Pick<PendingAction, 'label'>): Preview;
  /** Stages what another agent proposes, which belongs to no conversation. */
  stageForAgent(action: PendingAction): Preview;
  /** A click of the user. */
  click(id: string, action: 'apply' | 'discard', reason?: string): Promise<unknown>;
  /** The results of tool calls, in order. */
  results(): readonly ToolResultMessage[];
  answers(): readonly AssistantMessage[];
  steering(): readonly SteeringMessage[];
  /** Settles with the first accepted event from now on. */
  nextEvent(accept: (event: SessionEvent) => boolean): Promise<SessionEvent>;
  /** Settles when the session is in that state, now or later. */
  untilState(state: Session['state']): Promise<void>;
  /** Fails if a request, or the current history, breaks a rule of every server. Call it at the end of a test. */
  assertSound(): void;
}

/** Creates a session on test doubles for everything outside the core. */
export function createTestSession(options: TestSessionOptions = {}): TestSession {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: message => void errors.push(message) };
  const settings: MutableSettings = {
    modelAuthority: 'apply',
    order: 'newestFirst',
    forcing: 'forced',
    continueAfterReview: true,
    revertEnabled: false,
    ...options.settings,
  };
  const log = options.log ?? new MemoryPreviewLog();
  const workspace = options.workspace ?? new MemoryWorkspace(options.files);
  const store = restoredStore(
    log,
    error => void errors.push(String(error)),
    options.numbers ? { numbers: options.numbers } : {},
  );
  const invoker = new Invoker(store, workspace, () => settings.modelAuthority, options.prover);
  const overlay = new Overlay(store);
  const isRevertEnabled = (): boolean => settings.revertEnabled;
  const tools = options.registry ?? builtInTools((options.hasRevertTool ?? true) ? { isRevertEnabled } : {});
  for (const tool of options.tools ?? []) tools.register(tool);
  const provider = createScriptedProvider(options.script ?? []);
  const { window } = options;
  const reporting =
    window === undefined ? provider : { ...provider, contextWindow: () => Promise.resolve(window) };
  const sessionLog = options.sessionLog ?? new MemorySessionLog();
  const session = new Session(
    {
      store,
      invoker,
      tools,
      workspace,
      overlay,
      l10n: english,
      ladder: new ToolChoiceLadder(options.ladderMemory ?? new Map()),
      logger,
      settings: () => settings,
      providerFor: () => options.provider ?? reporting,
      logFor: id => sessionLog.begin(id),
      ...(options.prepareTools ? { prepareTools: options.prepareTools } : {}),
      ...(options.commands ? { commands: options.commands } : {}),
      ...(options.keepImage ? { keepImage: options.keepImage } : {}),
      ...(options.problems ? { problems: options.problems } : {}),
      ...(options.readInstructions ? { readInstructions: options.readInstructions } : {}),
      ...(options.readSurroundings ? { readSurroundings: options.readSurroundings } : {}),
    },
    sessionLog.stored(),
  );
  const events: SessionEvent[] = [];
  session.onDidEmit(event => void events.push(event));

  const nextEvent: TestSession['nextEvent'] = accept =>
    new Promise(resolve => {
      const subscription = session.onDidEmit(event => {
        if (!accept(event)) return;
        subscription.dispose();
        resolve(event);
      });
    });
  return {
    session,
    store,
    invoker,
    workspace,
    tools,
    settings,
    log,
    sessionLog,
    provider,
    requests: provider.requests,
    events,
    errors,
    stage: action => session.stage({ sourceToolName: 'test', ...action }).preview,
    stageForAgent: action =>
      queueResolveHandler({ store, invoker, overlay, l10n: english }, action, null).preview,
    click: async (id, action, reason) => {
      const vote = { action, reason: reason ?? HUMAN_CLICK[action], actor: 'human' } as const;
      return toolResult(await invoker.resolve({ id, ...vote }));
    },
    results: () => session.messages.filter(message => message.role === 'tool'),
    answers: () => session.messages.filter(message => message.role === 'assistant'),
    steering: () => session.messages.filter(message => message.role === 'steering'),
    nextEvent,
    untilState: async state => {
      if (session.state !== state)
        await nextEvent(event => event.type === 'state_changed' && event.state === state);
    },
    assertSound: () => {
      assert.deepEqual(
        [
          ...provider.violations,
          ...historyViolations(validTrunk(session.tree).map(({ message }) => message)),
        ],
        [],
      );
    },
  };
}

/** The reasons of a click without a typed reason. */
const HUMAN_CLICK = { apply: 'Applied by the user.', discard: 'Discarded by the user.' } as const;
