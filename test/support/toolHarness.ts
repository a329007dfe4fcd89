import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type { RevertRequest } from '../../src/agent/session/conversation/revert.ts';
import type { ResolveCall } from '../../src/agent/session/forcing/modelResolver.ts';
import type { ToolResultMessage } from '../../src/agent/session/model/messages.ts';
import { textResult, type PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import { stagedText } from '../../src/agent/hold/preview/resolve/waitTexts.ts';
import { builtInTools } from '../../src/agent/session/tools/builtIn.ts';
import { executeToolCall } from '../../src/agent/session/tools/execute.ts';
import type { Tool, ToolContext } from '../../src/agent/session/tools/tool.ts';
import { draft } from './drafts.ts';
import { MemoryWorkspace } from './memoryWorkspace.ts';
import { nothingPending } from './pendingSides.ts';

/** Runs single tool calls on a workspace in memory, without a session. Staged actions are only collected, with their titles in English. */
export class ToolHarness {
  readonly workspace: MemoryWorkspace;
  readonly staged: PendingAction[] = [];
  /** When staged actions count as stored on disk. */
  stored: Promise<void> = Promise.resolve();
  readonly resolved: ResolveCall[] = [];
  readonly reverts: Omit<RevertRequest, 'actor'>[] = [];
  /** Progress reports of the calls. */
  readonly updates: string[] = [];
  /** Logged errors. */
  readonly errors: string[] = [];
  readonly controller = new AbortController();
  readonly #tools: readonly Tool[];
  userReviews = false;
  /** Stores the images that calls show. Where it is absent, none can be shown. */
  keepImage: ToolContext['showImage'];

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}, tools: readonly Tool[] = []) {
    this.workspace = new MemoryWorkspace(files);
    this.#tools = [...builtInTools().createTools(), ...tools];
  }

  /** The result of a call. Arguments that are a string are sent as they are. */
  run(name: string, args: unknown): Promise<ToolResultMessage> {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return executeToolCall(
      { id: 'call_1', name, arguments: text },
      {
        tools: this.#tools,
        describeStaged: staged => stagedText(staged, this),
        stage: action => ({ preview: this.#stage(action), stored: this.stored }),
        logger: { ...silentLogger, error: message => void this.errors.push(message) },
        context: {
          signal: this.controller.signal,
          workspace: this.workspace,
          pending: nothingPending,
          ...(this.keepImage ? { showImage: this.keepImage } : {}),
          onUpdate: progress => void this.updates.push(progress),
          resolve: call => {
            this.resolved.push(call);
            return Promise.resolve({ kind: 'handled', result: textResult('resolved') });
          },
          revert: request => void this.reverts.push(request),
        },
      },
    );
  }

  #stage({ title, ...action }: PendingAction): Preview {
    const said = typeof title === 'function' ? title(english) : title;
    const id = `p${this.staged.push({ ...action, ...(said === undefined ? {} : { title: said }) })}`;
    const { label, sourceToolName, changes } = action;
    const staged = draft({ label, sourceToolName, changes: changes ?? null });
    return { ...staged, id, revision: 1, state: { kind: 'pending', stale: [] } };
  }
}
