import type * as vscode from 'vscode';
import { untilAborted } from '../../agent/base/async.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { textResult } from '../../agent/hold/preview/pendingAction.ts';
import { queueResolveHandler, type ResolveHost } from '../../agent/hold/preview/queueResolveHandler.ts';
import { OutcomeWait } from '../../agent/hold/preview/resolve/outcomeWait.ts';
import { stagedText } from '../../agent/hold/preview/resolve/waitTexts.ts';
import type { Workspace } from '../../agent/hold/preview/workspace.ts';
import { executeToolCall } from '../../agent/session/tools/execute.ts';
import type { ToolRegistry } from '../../agent/session/tools/registry.ts';
import { languageModelTools, type LanguageModelToolName } from '../contributions.ts';

export interface ProposalParts extends ResolveHost {
  readonly tools: ToolRegistry;
  readonly workspace: Workspace;
  readonly logger: Logger;
}

/**
 * Stages another agent's proposal and waits until it is resolved. Cancelling only ends the wait: the preview stays pending.
 * @returns a text for the agent: the staged changes, and the outcome.
 * @throws Error with a text for the agent if its input cannot be staged, or the call was cancelled.
 */
export async function propose(
  name: LanguageModelToolName,
  input: unknown,
  token: vscode.CancellationToken,
  { tools, workspace, logger, ...host }: ProposalParts,
): Promise<string> {
  const controller = new AbortController();
  const cancelling = token.onCancellationRequested(() => controller.abort());
  if (token.isCancellationRequested) controller.abort();
  const tool = tools.get(languageModelTools[name]);
  const wait = new OutcomeWait(host.store);
  try {
    const { content, isError } = await executeToolCall(
      { id: name, name, arguments: JSON.stringify(input) },
      {
        tools: tool ? [{ ...tool, name }] : [],
        logger,
        describeStaged: staged => stagedText(staged, { userReviews: true }),
        stage: action => {
          const proposed = { ...action, sourceToolName: name };
          const queued = queueResolveHandler(host, proposed, null);
          wait.add(queued.preview.id);
          return queued;
        },
        context: {
          signal: controller.signal,
          workspace,
          pending: host.overlay.of(undefined),
          resolve: () => Promise.resolve({ kind: 'handled', result: textResult('The user resolves it.') }),
          revert: () => undefined,
        },
      },
    );
    if (isError) throw new Error(content);
    return `${content}\n${await waitForOutcome(wait, controller.signal)}`.trimEnd();
  } finally {
    cancelling.dispose();
    wait.dispose();
  }
}

/** @throws Error with the outcomes so far and the pending previews, if `signal` fires before everything is resolved. */
async function waitForOutcome(wait: OutcomeWait, signal: AbortSignal): Promise<string> {
  return untilAborted(signal, () => wait.outcome()).catch(() => {
    const { open, happened } = wait;
    if (open.length === 0) return happened;
    const interrupted = `Interrupted before the user decided. Still pending in Redline: ${open.join(', ')}.`;
    throw new Error(`${happened}\n${interrupted}`.trimStart());
  });
}
