import { shortened } from '../base/cutText.ts';
import { ToolError } from '../base/errors.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Logger } from '../base/logger.ts';
import { plural } from '../base/phrases.ts';
import type { ResolveCall } from '../session/forcing/modelResolver.ts';
import { textOf, type FileChange } from '../hold/preview/fileChange.ts';
import type { SessionOverlay } from '../hold/preview/overlay.ts';
import { textResult, type PendingAction } from '../hold/preview/pendingAction.ts';
import { isOpen, type AgentName, type PreviewOrigin, type Preview } from '../hold/preview/preview.ts';
import { queueResolveHandler, type ResolveHost } from '../hold/preview/queueResolveHandler.ts';
import type { Handled, Resolved } from '../hold/preview/resolve/resolved.ts';
import { outdatedVoteText, idsOf } from '../hold/preview/resolve/resolveTexts.ts';
import { buildsOnText } from '../hold/preview/resolve/waitTexts.ts';
import type { ModelAuthority } from '../hold/preview/resolveSettings.ts';
import type { ReviewComment } from '../hold/preview/reviewComments.ts';
import type { FolderRoot, Workspace } from '../hold/preview/workspace.ts';
import { executeToolCall } from '../session/tools/execute.ts';
import type { ToolRegistry } from '../session/tools/registry.ts';
import type { Tool } from '../session/tools/tool.ts';
import { seenFrom } from './agentPlace.ts';
import { CallQueue } from './callQueue.ts';
import { clientToolOf, SHARED_TOOLS, type ClientTool, ownTools } from './clientTools.ts';
import { Decisions } from './decisions.ts';
import { OwnPreviews } from './ownPreviews.ts';

/** The most proposals of one agent that are pending, and the most characters of proposed text in them. */
export const MAX_PENDING = 500;
const MAX_PENDING_CHARS = 20_000_000;
/** The longest reason of an agent that is kept, in characters. */
const MAX_REASON_CHARS = 1_000;

/** The ports of agents of other programs. */
export interface ClientHost extends ResolveHost {
  /** The registry of the tools that such agents share with Redline's own session. */
  readonly tools: ToolRegistry;
  readonly workspace: Workspace;
  /** The open folders, for agents that name the folder they work in. */
  readonly folders?: () => readonly FolderRoot[];
  readonly logger: Logger;
  readonly authority: () => ModelAuthority;
  /** Whether plan mode is on: then votes are only recorded. */
  readonly isPlanning: () => boolean;
  /** The comments on previews that the user has sent. By default there are none. */
  readonly sentComments?: () => readonly ReviewComment[];
  /** Shows an agent's answer to one of them. */
  readonly answerComment?: (id: string, text: string) => void;
}

/** The identity of a connected agent. */
export interface ClientIdentity {
  /** Unique to this agent, in the origins of its previews. An agent that reconnects with it goes on with them. */
  readonly id: string;
  readonly agent: AgentName;
  /**
   * How much of the ledger an earlier connection of this agent has heard, see {@link AgentClient.heard}. By default, all of it so
   * far.
   */
  readonly heard?: number | undefined;
  /** The folder in which it works, as a real path, if the agent names it. */
  readonly cwd?: string | undefined;
}

/** The result of a call. */
export interface ClientResult {
  readonly text: string;
  readonly isError: boolean;
}

/**
 * An agent of another program. It proposes changes, which are staged like all others and which the user resolves; it sees the
 * files as if its own pending proposals were applied, and sees and votes on no previews but its own. Closing the connection
 * leaves them pending.
 */
export class AgentClient implements Disposable {
  readonly #host: ClientHost;
  readonly #identity: ClientIdentity;
  readonly #previews: OwnPreviews;
  readonly #decisions: Decisions;
  readonly #overlay: SessionOverlay;
  readonly #queue = new CallQueue();
  readonly #ownTools: readonly Tool[];
  /** The comments that it was told to look at. */
  readonly #toldOf = new Set<string>();

  constructor(host: ClientHost, identity: ClientIdentity) {
    this.#host = host;
    this.#identity = identity;
    this.#previews = new OwnPreviews(host.store, identity.id);
    this.#decisions = new Decisions(host.store, this.#previews.has, identity.heard);
    this.#overlay = host.overlay.of(identity.id);
    this.#ownTools = ownTools(this.#previews, this.#decisions, {
      all: () => this.#comments(),
      answer: (id, text) => host.answerComment?.(id, text),
    });
    for (const { id } of this.#comments()) this.#toldOf.add(id);
  }

  /** How much of the ledger it has heard; for the identity of a later connection. */
  get heard(): number {
    return this.#decisions.heard;
  }

  /** Its tools, as a model is offered them. */
  get tools(): readonly ClientTool[] {
    return this.#tools().map(clientToolOf);
  }

  /**
   * Runs one call. The text begins with the decisions since the last call whose result reached the agent. Never rejects.
   * @param args the arguments as the agent sent them; anything that does not fit is an error result.
   */
  async call(
    name: string,
    args: unknown,
    signal: AbortSignal,
    onUpdate?: (progress: string) => void,
  ): Promise<ClientResult> {
    const run = (): Promise<ClientResult> => this.#run(name, args, signal, onUpdate);
    const result = await this.#inOrder(name, run);
    // No one gets the result of a call that was cancelled.
    const news = signal.aborted ? '' : [this.#decisions.take(), ...this.#newComments()].join('\n').trim();
    return news === '' ? result : { ...result, text: `Since your last call:\n${news}\n\n${result.text}` };
  }

  dispose(): void {
    this.#decisions.dispose();
  }

  /** The comments on its own previews. */
  #comments(): readonly ReviewComment[] {
    const sent = this.#host.sentComments?.() ?? [];
    return sent.filter(({ sessionId }) => sessionId === this.#identity.id);
  }

  #newComments(): readonly string[] {
    const untold = this.#comments().filter(({ id }) => !this.#toldOf.has(id));
    for (const { id } of untold) this.#toldOf.add(id);
    if (untold.length === 0) return [];
    return [
      `The user sent ${plural(untold.length, 'comment')} on your previews. Call status to read them, and answer to reply.`,
    ];
  }

  #tools(): readonly Tool[] {
    const { tools } = this.#host;
    return [...this.#ownTools, ...SHARED_TOOLS.flatMap(name => tools.get(name) ?? [])];
  }

  #inOrder(name: string, run: () => Promise<ClientResult>): Promise<ClientResult> {
    if (name === 'wait') return run();
    return this.#isReading(name) ? this.#queue.reading(run) : this.#queue.inTurn(run);
  }

  #isReading(name: string): boolean {
    return this.#tools().some(tool => tool.name === name && tool.readOnly === true);
  }

  #workspaceFor(name: string): Workspace {
    const { workspace, folders } = this.#host;
    const seen = this.#overlay.on(workspace);
    const { cwd } = this.#identity;
    return cwd === undefined || !folders ? seen : seenFrom(cwd, seen, folders, this.#isReading(name));
  }

  async #run(
    name: string,
    args: unknown,
    signal: AbortSignal,
    onUpdate: ((progress: string) => void) | undefined,
  ): Promise<ClientResult> {
    const { logger, ...host } = this.#host;
    const { content, isError } = await executeToolCall(
      { id: name, name, arguments: jsonOf(args) },
      {
        tools: this.#tools(),
        logger,
        describeStaged: heldText,
        stage: action => {
          this.#assertWithinQuota(action);
          const proposed = { ...action, sourceToolName: name };
          return queueResolveHandler(host, proposed, this.#origin);
        },
        context: {
          signal,
          workspace: this.#workspaceFor(name),
          pending: this.#overlay,
          resolve: vote => this.#vote(vote),
          revert: () => undefined,
          onUpdate,
        },
      },
    );
    return { text: content, isError };
  }

  /** @throws ToolError if the agent would have too much pending. */
  #assertWithinQuota({ changes }: PendingAction): void {
    const { open } = this.#previews;
    const rest = 'Wait until the user has decided on some, or withdraw some. Nothing was staged.';
    if (open.length >= MAX_PENDING)
      throw new ToolError(`You have ${MAX_PENDING} pending previews, and can have no more. ${rest}`);
    const pending = open.flatMap(preview => preview.changes ?? []);
    if (charsOf([...pending, ...(changes ?? [])]) > MAX_PENDING_CHARS)
      throw new ToolError(
        `With this, the text of your pending previews would exceed ${MAX_PENDING_CHARS / 1e6} million characters. ${rest}`,
      );
  }

  /** The agent is not asked to resolve anything: other programs cannot be made to call a tool. */
  get #origin(): PreviewOrigin {
    const { id: sessionId, agent } = this.#identity;
    return { sessionId, agent, asksModel: false, setId: this.#previews.setId };
  }

  /** Votes on the revision that it was last told about, as the model of Redline's own session might. */
  async #vote({ id = '', action, reason, voteOn, signal }: ResolveCall): Promise<Resolved | Handled> {
    const { authority, invoker, isPlanning } = this.#host;
    const preview = this.#previews.get(id);
    if (authority() === 'none' && action === 'apply' && isOpen(preview))
      return {
        kind: 'handled',
        result: textResult(
          `Only the user decides on ${id}. Nothing has changed; the decision will come before the result of a later call.`,
        ),
      };
    if (this.#decisions.isChanged(id)) throw new ToolError(outdatedVoteText(preview, preview.revision - 1));
    return invoker.resolve({
      id,
      revision: preview.revision,
      action,
      reason: shortened(reason, MAX_REASON_CHARS),
      actor: 'model',
      isPlanning,
      voteOn,
      signal,
    });
  }
}

function charsOf(changes: readonly FileChange[]): number {
  return changes.reduce((sum, { after }) => sum + textOf(after).length, 0);
}

/** Input that cannot be JSON, such as endlessly nested data, is left to the parser to refuse. */
function jsonOf(args: unknown): string {
  try {
    return JSON.stringify(args ?? {});
  } catch {
    return '';
  }
}

/** The line before the result of a call with which an agent proposes something. */
function heldText(previews: readonly Preview[]): string {
  return (
    `Staged as ${idsOf(previews)}, not on disk, not decided yet.${buildsOnText(previews)} ` +
    'The user reviews it in VS Code. The decision will come before the result of a later call.'
  );
}
