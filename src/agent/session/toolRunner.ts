import type { Logger } from '../base/log.ts';
import type { ToolCall, ToolResultMessage } from '../model/messages.ts';
import type { Overlay } from '../preview/overlay.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { PreviewOrigin } from '../preview/preview.ts';
import type { QueuedPreview } from '../preview/queueResolveHandler.ts';
import type { Workspace } from '../preview/workspace.ts';
import { executeToolCall } from '../tools/execute.ts';
import type { Conversation } from './conversation.ts';
import type { SessionEvent } from './events.ts';
import type { Requests } from './request.ts';
import type { Reverts } from './reverts.ts';
import type { SessionSettings } from './sessionOptions.ts';
import type { ToolChoices } from './toolChoices.ts';

export interface ToolRunnerOptions {
  readonly workspace: Workspace;
  readonly overlay: Overlay;
  readonly logger: Logger;
  readonly settings: () => SessionSettings;
  readonly conversation: () => Conversation;
  readonly requests: Pick<Requests, 'tools'>;
  readonly choices: Pick<ToolChoices, 'resolve'>;
  readonly reverts: Pick<Reverts, 'request'>;
  readonly stage: (action: PendingAction, origin: PreviewOrigin) => QueuedPreview;
  readonly emit: (event: SessionEvent) => void;
}

/** Runs the calls that the model makes in a conversation, with what of the session tools may reach. */
export class ToolRunner {
  readonly #options: ToolRunnerOptions;

  constructor(options: ToolRunnerOptions) {
    this.#options = options;
  }

  /** Gives the one result of a call, whatever happens. */
  execute(call: ToolCall, signal: AbortSignal): Promise<ToolResultMessage> {
    const { workspace, overlay, logger, settings, requests, choices, reverts, emit } = this.#options;
    const { id: sessionId, answerId: messageId = '' } = this.#options.conversation();
    const origin = { sessionId, messageId, toolCallId: call.id };
    return executeToolCall(call, {
      tools: requests.tools(),
      logger,
      userReviews: settings().modelAuthority === 'none',
      stage: action => this.#options.stage(action, origin),
      context: {
        signal,
        workspace: overlay.on(workspace),
        pendingOn: path => overlay.at(path)?.previewId,
        resolve: resolveCall => choices.resolve(resolveCall),
        revert: request => void reverts.request({ ...request, actor: 'model' }),
        onUpdate: progress => emit({ type: 'tool_update', call, progress }),
      },
    });
  }
}
