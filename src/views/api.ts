import type * as vscode from 'vscode';
import { ToolError } from '../agent/base/errors.ts';
import { Emitter } from '../agent/base/event.ts';
import type { SessionState } from '../agent/session/conversation/storage/sessionEntry.ts';
import type { SessionMessage } from '../agent/session/model/messages.ts';
import type { CheckMark } from '../agent/hold/preview/previewView.ts';
import type { FileChangeKind } from '../agent/hold/preview/fileChange.ts';
import type { LedgerEntry as StoredEntry, PlainOutcome } from '../agent/hold/preview/ledger.ts';
import type { AgentToolResult, PendingAction } from '../agent/hold/preview/pendingAction.ts';
import type { AgentName, Preview, Recommendation, ResolveAction } from '../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../agent/hold/preview/previewStore.ts';
import type { Invoker } from '../agent/hold/preview/resolve/invoker.ts';
import { toolResult } from '../agent/hold/preview/resolve/resolved.ts';
import { NOT_DONE, NOTHING_PENDING } from '../agent/hold/preview/resolve/resolveTexts.ts';
import type { SessionEvent } from '../agent/session/events.ts';
import type { Session } from '../agent/session/session.ts';
import {
  parsePendingAction,
  type ActionEnvironment,
} from '../agent/session/tools/custom/parsePendingAction.ts';
import type { CustomToolFactory } from '../../examples/tools/redline.d.ts';
import type { Settings } from './settings.ts';

/** A snapshot of a preview, as other extensions see it. */
export interface PreviewInfo {
  readonly id: string;
  readonly revision: number;
  readonly dependsOn: readonly string[];
  /** The preview that this was a hunk or file of, until the user resolved that part separately. */
  readonly partOf?: string;
  readonly label: string;
  readonly sourceToolName: string;
  /** The agent of another program that proposed it over MCP, or the source from which the user brought it, such as `branch x`. */
  readonly agent?: AgentName;
  /** The change set that it belongs to. Previews of one prompt, one run of an agent or one branch share it. */
  readonly setId?: string;
  readonly state: 'pending' | 'applying' | 'applied' | 'discarded' | 'expired';
  readonly stale: boolean;
  readonly lastError?: string;
  readonly recommendation?: Recommendation;
  readonly files: readonly { readonly path: string; readonly kind: FileChangeKind }[];
  /** Results of the user's checks on it, while it is pending. */
  readonly checks?: readonly CheckInfo[];
}

/** The last result of a check on a preview. */
export interface CheckInfo {
  readonly name: string;
  /**
   * `asBefore`: it fails only where it also fails without the preview. `changedFiles`: it exited with 0, but changed files itself,
   * so it proves nothing.
   */
  readonly state:
    'running' | 'passed' | 'asBefore' | 'changedFiles' | 'failed' | 'timedOut' | 'stopped' | 'notRun';
  /** False once something that it saw has changed. */
  readonly isCurrent: boolean;
  readonly seconds: number;
}

/** One attempt to resolve a preview, successful or not. */
export interface LedgerEntry extends Omit<StoredEntry, 'kind' | 'outcome'> {
  /**
   * `failed`: the attempt threw (the preview is pending again, or has expired if its producer is gone), the apply returned an
   * error (the preview is applied, and does not run again), or the change did not stay applied: a second entry, with `lost`,
   * revokes the apply, and the preview is pending again. The message begins by saying which.
   */
  readonly outcome: PlainOutcome;
}

/** A change that an extension proposes: the UTF-8 text of one file before and after; `null` means no file. */
export interface ProposedChange {
  /**
   * Workspace path, with forward slashes: relative to the workspace folder; if several folders are open, it begins with the name
   * of one of them.
   */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A preview that an extension proposes. Either `changes` or `apply` is required. */
export type ProposedAction = Pick<PendingAction, 'label' | 'apply' | 'reject' | 'details'> & {
  /** Default: `custom_tool`. */
  readonly sourceToolName?: string;
  readonly changes?: readonly ProposedChange[];
};

/** The API that `activate()` returns. The ledger records everything done through it with the actor `extension`. */
export interface RedlineApi {
  readonly version: 1;
  readonly previews: {
    /** Pending and applying previews. The first is the head, at which a review begins. */
    list(): readonly PreviewInfo[];
    /** Any preview, also a resolved or expired one. */
    get(id: string): PreviewInfo | undefined;
    /** The head. */
    peek(): PreviewInfo | undefined;
    readonly hasPending: boolean;
    /**
     * Stages a preview, without changing any file. It is stored when this returns, unless it is large (over 500 files or a megabyte of
     * text), or an earlier preview still waits to be stored.
     * @throws PathError for a path outside the workspace or in a protected place; ToolError for changes that could not be
     *   written exactly as shown (the same path twice, over 5 MB, an unpaired surrogate); TypeError if `action` is malformed.
     */
    push(action: ProposedAction): PreviewInfo;
    /**
     * Resolves the preview with this id, or the head. If someone else has resolved it, the result says who and how.
     * Rejects with an error that says what to do if nothing is pending, if there is no such preview, if a file has changed
     * since, or if others must be applied first; with the error of `apply`, and with a TypeError for malformed arguments.
     */
    resolve(params: {
      id?: string;
      action: ResolveAction;
      reason: string;
      extra?: Record<string, unknown>;
    }): Promise<AgentToolResult>;
    readonly onDidChange: vscode.Event<PreviewInfo>;
    /** The attempts to resolve previews, oldest first: the last 1,000, and all on previews that are still kept. */
    ledger(): readonly LedgerEntry[];
  };
  readonly session: {
    /** Settles when the session is idle or awaiting review. */
    prompt(text: string): Promise<void>;
    stop(): void;
    readonly new: () => Promise<void>;
    /**
     * The conversation as it is sent to the model, without the system prompt. Fields such as `details` are not sent. Failed
     * answers are only in the events.
     */
    messages(): readonly SessionMessage[];
    readonly state: SessionState;
    readonly onDidEmit: vscode.Event<SessionEvent>;
  };
  /**
   * Registers tools for the agent, in the form of custom tools. Disposing of the result removes them and expires their pending
   * previews that need the tool's callbacks. If the factory throws, the error goes to the log.
   */
  registerTool(factory: CustomToolFactory): vscode.Disposable;
}

export interface ApiParts {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly session: Session;
  readonly settings: Settings;
  readonly workspace: Paths;
  readonly checks?: { marksOf(preview: Preview): readonly CheckMark[] };
  readonly customTools: { register(factory: CustomToolFactory): vscode.Disposable };
}

interface Paths {
  pathOf(input: string): string;
}

export function createApi(parts: ApiParts): RedlineApi {
  const { store, invoker, session, settings, workspace, customTools } = parts;
  const info = (preview: Preview): PreviewInfo => infoOf(preview, parts.checks?.marksOf(preview));
  const list = (): PreviewInfo[] => store.list(settings.order).map(info);
  const changed = new Emitter<PreviewInfo>();
  store.onDidChange(preview => changed.fire(info(preview)));
  const actionParts: ActionEnvironment = {
    resolvePath: input => workspace.pathOf(input),
    filesRead: new Map(),
    runCallback: work => work(),
  };
  return {
    version: 1,
    previews: {
      list,
      get: id => {
        const preview = store.get(id);
        return preview && info(preview);
      },
      peek: () => list()[0],
      get hasPending() {
        return store.hasPending;
      },
      push: action => info(session.stage(parsePendingAction(action, actionParts)).preview),
      resolve: async ({ id, action, reason, extra }) => {
        assertVote(action, reason, extra);
        const target = id ?? list()[0]?.id;
        if (target === undefined) throw new ToolError(NOTHING_PENDING);
        const vote = { action, reason, extra, actor: 'extension' } as const;
        return toolResult(await invoker.resolve({ id: target, ...vote }));
      },
      onDidChange: changed.event,
      ledger: () => store.ledger().map(entryOf),
    },
    session: {
      prompt: text => session.prompt(text),
      stop: () => session.stop(),
      new: () => session.new(),
      messages: () => session.sentMessages,
      get state() {
        return session.state;
      },
      onDidEmit: session.onDidEmit,
    },
    registerTool: factory => customTools.register(factory),
  };
}

/** Run-time checks for extensions in JavaScript, which TypeScript cannot check. */
function assertVote(action: unknown, reason: unknown, extra: unknown): void {
  if (action !== 'apply' && action !== 'discard')
    throw new TypeError('`action` must be "apply" or "discard".');
  if (typeof reason !== 'string') throw new TypeError('`reason` must be a string.');
  if (extra !== undefined && (typeof extra !== 'object' || extra === null || Array.isArray(extra)))
    throw new TypeError('`extra` must be an object.');
}

function entryOf({ kind: _, outcome, ...entry }: StoredEntry): LedgerEntry {
  const { message = entry.reason } = entry;
  switch (outcome) {
    case 'returnedError':
      return { ...entry, outcome: 'failed', message: `Applied, and returned an error: ${message}` };
    case 'failed':
      if (entry.lost) return { ...entry, outcome, message };
      return { ...entry, outcome, message: `Failed, and was ${NOT_DONE[entry.action]}: ${message}` };
    case 'applied':
    case 'discarded':
      return { ...entry, outcome };
  }
}

function infoOf(preview: Preview, checks: readonly CheckMark[] = []): PreviewInfo {
  const { id, revision, dependsOn, part, label, sourceToolName, state } = preview;
  const pending = state.kind === 'pending' ? state : undefined;
  const ran = checks.flatMap(infoOfCheck);
  return {
    id,
    revision,
    dependsOn,
    ...(part === undefined ? {} : { partOf: part.previewId }),
    label,
    sourceToolName,
    ...(preview.origin?.agent ? { agent: preview.origin.agent } : {}),
    ...(preview.origin?.setId === undefined ? {} : { setId: preview.origin.setId }),
    state: state.kind,
    stale: pending !== undefined && pending.stale.length > 0,
    ...(pending?.lastError === undefined ? {} : { lastError: pending.lastError }),
    ...(pending?.recommendation === undefined ? {} : { recommendation: pending.recommendation }),
    files: (preview.changes ?? []).map(({ path, kind }) => ({ path, kind })),
    ...(ran.length > 0 ? { checks: ran } : {}),
  };
}

function infoOfCheck({ name, state, isCurrent, seconds }: CheckMark): CheckInfo[] {
  return state === 'notTested' ? [] : [{ name, state, isCurrent, seconds }];
}
