import type * as vscode from 'vscode';
import type { Logger } from '../../agent/base/log.ts';
import { textResult } from '../../agent/preview/pendingAction.ts';
import { queueResolveHandler, type ResolveHost } from '../../agent/preview/queueResolveHandler.ts';
import type { Workspace } from '../../agent/preview/workspace.ts';
import { executeToolCall } from '../../agent/tools/execute.ts';
import type { ToolRegistry } from '../../agent/tools/registry.ts';
import { languageModelTools, type LanguageModelToolName } from '../contributions.ts';

export interface ProposalParts extends Omit<ResolveHost, 'remind'> {
  readonly tools: ToolRegistry;
  readonly workspace: Workspace;
  readonly log: Logger;
}

/**
 * Stages what another agent proposes.
 * @returns what that agent is told.
 * @throws Error with the text for that agent when nothing can be made of its input.
 */
export async function propose(
  name: LanguageModelToolName,
  input: unknown,
  token: Pick<vscode.CancellationToken, 'isCancellationRequested' | 'onCancellationRequested'>,
  { tools, workspace, log, ...host }: ProposalParts,
): Promise<string> {
  const controller = new AbortController();
  const cancelling = token.onCancellationRequested(() => controller.abort());
  if (token.isCancellationRequested) controller.abort();
  const own = tools.get(languageModelTools[name]);
  try {
    const { content, isError } = await executeToolCall(
      { id: name, name, arguments: JSON.stringify(input) },
      {
        tools: own ? [{ ...own, name }] : [],
        logger: log,
        userReviews: true,
        stage: action =>
          queueResolveHandler(
            { ...host, remind: () => undefined },
            { ...action, sourceToolName: name },
            null,
          ),
        context: {
          signal: controller.signal,
          workspace: host.overlay.on(workspace),
          pendingOn: path => host.overlay.at(path)?.previewId,
          resolve: () => Promise.resolve(textResult('The user resolves it.')),
          revert: () => undefined,
        },
      },
    );
    if (isError) throw new Error(content);
    return content;
  } finally {
    cancelling.dispose();
  }
}
