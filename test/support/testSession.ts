import assert from 'node:assert/strict';
import type { Logger } from '../../src/agent/base/log.ts';
import type { ChatProvider, ChatRequest } from '../../src/agent/model/chatProvider.ts';
import type { AssistantMessage, SteeringMessage, ToolResultMessage } from '../../src/agent/model/messages.ts';
import {
  ToolChoiceLadder,
  transientLadderMemory,
  type LadderMemory,
} from '../../src/agent/model/toolChoiceLadder.ts';
import { Invoker } from '../../src/agent/preview/invoker.ts';
import { Overlay } from '../../src/agent/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/preview/pendingAction.ts';
import type { Preview } from '../../src/agent/preview/preview.ts';
import { parseEntry, type PreviewLogEntry } from '../../src/agent/preview/previewLog.ts';
import { PreviewStore, type PreviewLogSink } from '../../src/agent/preview/previewStore.ts';
import type { SessionEvent } from '../../src/agent/session/events.ts';
import { Session } from '../../src/agent/session/session.ts';
import type { SessionSettings } from '../../src/agent/session/sessionOptions.ts';
import { parseSessionEntry, type SessionLogEntry } from '../../src/agent/session/sessionEntry.ts';
import { SessionReader, type StoredSession } from '../../src/agent/session/storedSession.ts';
import { builtInTools } from '../../src/agent/tools/builtIn.ts';
import type { ToolRegistry } from '../../src/agent/tools/registry.ts';
import { revertToStateTool } from '../../src/agent/tools/revertToState.ts';
import type { Tool } from '../../src/agent/tools/tool.ts';
import { validTrunk } from '../../src/agent/tree/validTrunk.ts';
import { MemoryWorkspace } from './memoryWorkspace.ts';
import {
  createScriptedProvider,
  historyViolations,
  type Script,
  type ScriptedProvider,
} from './scriptedProvider.ts';

/** A log of previews in memory. Entries go through JSON and the codec, as they would on disk. */
export class MemoryPreviewLog implements PreviewLogSink {
  readonly #lines: string[] = [];
  /** While set, every append fails with it and stores nothing. */
  fault: Error | undefined;

  append(entry: PreviewLogEntry): Promise<void> {
    if (this.fault) return Promise.reject(this.fault);
    this.#lines.push(JSON.stringify(entry));
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return this.fault ? Promise.reject(this.fault) : Promise.resolve();
  }

  compact(rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[]): Promise<void> {
    const kept = this.entries.flatMap(rewrite).map(entry => JSON.stringify(entry));
    this.#lines.splice(0, Infinity, ...kept);
    return Promise.resolve();
  }

  /** What a process that starts now would read. */
  get entries(): readonly PreviewLogEntry[] {
    return this.#lines.map(line => parseEntry(JSON.parse(line)) ?? assert.fail(`not a log entry: ${line}`));
  }
}

/** The log of the session that was begun last, in memory. Entries go through JSON and the codec. */
export class MemorySessionLog {
  #id: string | undefined;
  #lines: string[] = [];

  /** Takes a session up, or begins another. */
  begin(id: string): { append(entry: SessionLogEntry): Promise<void> } {
    if (id !== this.#id) {
      this.#id = id;
      this.#lines = [];
    }
    const lines = this.#lines;
    return {
      append: entry => {
        lines.push(JSON.stringify(entry));
        return Promise.resolve();
      },
    };
  }

  /** What was written, without the header. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  get entries(): readonly SessionLogEntry[] {
    return this.#lines.map(
      line => parseSessionEntry(JSON.parse(line)) ?? assert.fail(`not a log entry: ${line}`),
    );
  }

  /** What a process that starts now would read. */
  stored(): StoredSession | undefined {
    if (this.#id === undefined) return undefined;
    return storedSession(this.#id, this.#lines);
  }
}

/** The session that these lines of a log make. Each must be one that can be read. */
export function storedSession(id: string, lines: readonly string[]): StoredSession {
  const reader = new SessionReader(node => assert.fail(`message ${node} cannot be read`));
  for (const line of lines) {
    const bytes = Buffer.from(line);
    if (reader.line(bytes, 0, bytes.length)) continue;
    reader.entry(parseSessionEntry(JSON.parse(line)) ?? assert.fail(`not a log entry: ${line}`));
  }
  return reader.session(id);
}

/** Settings that a test changes while the session runs. */
export type MutableSettings = { -readonly [Key in keyof SessionSettings]: SessionSettings[Key] };

export interface TestSessionOptions {
  /** What the model does; default: it must not be asked. Ignored where `provider` is given. */
  readonly script?: Script;
  /** Takes the place of the scripted provider, e.g. the offline one. */
  readonly provider?: ChatProvider;
  /** Default: Auto (`apply`), newest first, continues after review. */
  readonly settings?: Partial<SessionSettings>;
  /** Files by workspace path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Takes the place of `files`. */
  readonly workspace?: MemoryWorkspace;
  /** Whether there is a `revert_to_state` at all, which `revertEnabled` then offers. Default: true. */
  readonly hasRevertTool?: boolean;
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Takes the place of the built-in ones. */
  readonly registry?: ToolRegistry;
  /** See `SessionOptions.prepareTools`. */
  readonly prepareTools?: () => Promise<void>;
  /** A log from an earlier session: its previews are restored, as after a reload. */
  readonly log?: MemoryPreviewLog;
  /** The log of an earlier session, which is taken up again. */
  readonly sessionLog?: MemorySessionLog;
  /** What was learned of servers before. */
  readonly ladderMemory?: LadderMemory;
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
  /** What was logged as an error. */
  readonly errors: readonly string[];

  /** Stages a preview of a tool call of this session, as an extension would. */
  stage(action: Partial<PendingAction> & Pick<PendingAction, 'label'>): Preview;
  /** A person's click. */
  click(id: string, action: 'apply' | 'discard', reason?: string): Promise<unknown>;
  /** The results of tool calls, in order. */
  results(): readonly ToolResultMessage[];
  answers(): readonly AssistantMessage[];
  steering(): readonly SteeringMessage[];
  /** Settles with the first event from now on that is accepted. */
  nextEvent(accept: (event: SessionEvent) => boolean): Promise<SessionEvent>;
  /** Settles when the session is in that state, now or later. */
  untilState(state: Session['state']): Promise<void>;
  /** Fails when a request, or the history now, breaks a rule that every server has. Call it at the end of a test. */
  assertSound(): void;
}

/** A session on doubles for everything outside the core. */
export function createTestSession(options: TestSessionOptions = {}): TestSession {
  const errors: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: message => void errors.push(message),
  };
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
  const store = new PreviewStore(log, error => void errors.push(String(error)));
  store.restore(log.entries);
  const invoker = new Invoker(store, workspace, () => settings.modelAuthority);
  const tools = options.registry ?? builtInTools();
  for (const tool of options.tools ?? []) tools.register(tool);
  if (options.hasRevertTool ?? true) tools.register(revertToStateTool(() => settings.revertEnabled));
  const provider = createScriptedProvider(options.script ?? []);
  const sessionLog = options.sessionLog ?? new MemorySessionLog();
  const session = new Session(
    {
      store,
      invoker,
      tools,
      workspace,
      overlay: new Overlay(store),
      ladder: new ToolChoiceLadder(options.ladderMemory ?? transientLadderMemory()),
      logger,
      settings: () => settings,
      providerFor: () => options.provider ?? provider,
      logFor: id => sessionLog.begin(id),
      ...(options.prepareTools ? { prepareTools: options.prepareTools } : {}),
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
    click: (id, action, reason) =>
      invoker.resolve({ id, action, reason: reason ?? HUMAN_CLICK[action], actor: 'human' }),
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

/** The reasons that stand for a click without words. */
const HUMAN_CLICK = { apply: 'Applied by the user.', discard: 'Discarded by the user.' } as const;
