import type * as vscode from 'vscode';
import { Emitter } from '../agent/base/event.ts';
import type { SessionMessage } from '../agent/model/messages.ts';
import type { FileChangeKind } from '../agent/preview/fileChange.ts';
import type { Invoker } from '../agent/preview/invoker.ts';
import type { LedgerEntry } from '../agent/preview/ledger.ts';
import type { AgentToolResult, PendingAction } from '../agent/preview/pendingAction.ts';
import type { Preview, Recommendation, ResolveAction } from '../agent/preview/preview.ts';
import type { PreviewStore } from '../agent/preview/previewStore.ts';
import type { SessionEvent, SessionState } from '../agent/session/events.ts';
import type { Session } from '../agent/session/session.ts';
import { pendingActionOf, type ActionParts } from '../agent/tools/custom/pendingActionOf.ts';
import type { CustomToolFactory } from '../agent/tools/custom/redline.d.ts';
import type { Settings } from './host/settings.ts';
import { ToolError } from '../agent/base/errors.ts';
import { NOTHING_PENDING } from '../agent/preview/resolveTexts.ts';

/** A preview as other extensions see it: a snapshot. */
export interface PreviewInfo {
  readonly id: string;
  readonly revision: number;
  readonly dependsOn: readonly string[];
  readonly label: string;
  readonly sourceToolName: string;
  readonly state: 'pending' | 'applying' | 'applied' | 'discarded' | 'expired';
  readonly stale: boolean;
  readonly lastError?: string;
  readonly recommendation?: Recommendation;
  readonly files: readonly { readonly path: string; readonly kind: FileChangeKind }[];
}

/** What one file holds before and after, as an extension proposes it. Text is UTF-8; `null` means no file. */
export interface ProposedChange {
  /** Workspace path: relative to the folder, forward slashes. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** `PendingAction` for other extensions: their file changes are plain text. */
export type ProposedAction = Omit<PendingAction, 'changes' | 'sourceToolName' | 'undoes'> & {
  /** Default: `custom_tool`. */
  readonly sourceToolName?: string;
  readonly changes?: readonly ProposedChange[];
};

/** What `activate()` returns. Everything that comes through it is logged with actor `extension`. */
export interface RedlineApi {
  readonly version: 1;
  readonly previews: {
    /** Pending and applying ones, the head first. */
    list(): readonly PreviewInfo[];
    /** Resolved and expired ones too. */
    get(id: string): PreviewInfo | undefined;
    /** The head. */
    peek(): PreviewInfo | undefined;
    readonly hasPending: boolean;
    /**
     * Stages a preview; nothing is changed by it.
     * @throws PathError for a path that leads out of the workspace, or into a protected place; ToolError for changes that
     *   could not land as they are shown (the same path twice, over 5 MB, half a character); TypeError for what is no action.
     */
    push(action: ProposedAction): PreviewInfo;
    /** Resolves the preview with this id, or the head. Rejects like the invoker does, and with a TypeError for what is no vote. */
    resolve(params: {
      id?: string;
      action: ResolveAction;
      reason: string;
      extra?: Record<string, unknown>;
    }): Promise<AgentToolResult>;
    readonly onDidChange: vscode.Event<PreviewInfo>;
    /** All attempts to resolve, the oldest first. */
    ledger(): readonly LedgerEntry[];
  };
  readonly session: {
    /** Settles when the session is idle or awaiting review. */
    prompt(text: string): Promise<void>;
    stop(): void;
    readonly new: () => Promise<void>;
    /** The conversation, as sent to the model. */
    messages(): readonly SessionMessage[];
    readonly state: SessionState;
    readonly onDidEmit: vscode.Event<SessionEvent>;
  };
  /**
   * Brings the agent tools, in the shape of custom tools, until the registration is disposed of: the tools are then gone, and
   * those of their previews expire that nobody could apply any more. A factory that throws stands in the log.
   */
  registerTool(factory: CustomToolFactory): vscode.Disposable;
}

export interface ApiParts {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly session: Session;
  readonly settings: Settings;
  readonly workspace: Paths;
  readonly customTools: { register(factory: CustomToolFactory): vscode.Disposable };
}

interface Paths {
  pathOf(input: string): string;
}

export function createApi(parts: ApiParts): RedlineApi {
  const { store, invoker, session, settings, workspace, customTools } = parts;
  const list = (): PreviewInfo[] => store.list(settings.order).map(infoOf);
  const changed = new Emitter<PreviewInfo>();
  store.onDidChange(preview => changed.fire(infoOf(preview)));
  const actionParts: ActionParts = {
    resolvePath: input => workspace.pathOf(input),
    sides: new Map(),
    run: work => work(),
  };
  return {
    version: 1,
    previews: {
      list,
      get: id => {
        const preview = store.get(id);
        return preview && infoOf(preview);
      },
      peek: () => list()[0],
      get hasPending() {
        return store.hasPending;
      },
      push: action => infoOf(session.stage(pendingActionOf(action, actionParts)).preview),
      resolve: async ({ id, action, reason, extra }) => {
        refuseNoVote(action, reason, extra);
        const target = id ?? list()[0]?.id;
        if (target === undefined) throw new ToolError(NOTHING_PENDING);
        return invoker.resolve({
          id: target,
          action,
          reason,
          ...(extra ? { extra } : {}),
          actor: 'extension',
        });
      },
      onDidChange: changed.event,
      ledger: () => store.ledger(),
    },
    session: {
      prompt: text => session.prompt(text),
      stop: () => session.stop(),
      new: () => session.new(),
      messages: () => session.messages,
      get state() {
        return session.state;
      },
      onDidEmit: session.onDidEmit,
    },
    registerTool: factory => customTools.register(factory),
  };
}

/** Extensions in JavaScript have no compiler that tells them. */
function refuseNoVote(action: unknown, reason: unknown, extra: unknown): void {
  if (action !== 'apply' && action !== 'discard')
    throw new TypeError('`action` must be "apply" or "discard".');
  if (typeof reason !== 'string') throw new TypeError('`reason` must be a string.');
  if (extra !== undefined && (typeof extra !== 'object' || extra === null || Array.isArray(extra)))
    throw new TypeError('`extra` must be an object.');
}

function infoOf(preview: Preview): PreviewInfo {
  const { id, revision, dependsOn, label, sourceToolName, state } = preview;
  const pending = state.kind === 'pending' ? state : undefined;
  return {
    id,
    revision,
    dependsOn,
    label,
    sourceToolName,
    state: state.kind,
    stale: pending !== undefined && pending.stale.length > 0,
    ...(pending?.lastError === undefined ? {} : { lastError: pending.lastError }),
    ...(pending?.recommendation === undefined ? {} : { recommendation: pending.recommendation }),
    files: (preview.changes ?? []).map(({ path, kind }) => ({ path, kind })),
  };
}
