import type * as vscode from 'vscode';
import type { Logger } from '../../agent/base/log.ts';
import { untilAborted } from '../../agent/base/abort.ts';
import { OutcomeWatch } from '../../agent/preview/outcomeWatch.ts';
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
 * Stages what another agent proposes, and waits until it is resolved. Whoever cancels only stops waiting: what was staged
 * stays pending.
 * @returns what that agent is told: what was staged, and what became of it.
 * @throws Error with the text for that agent when nothing can be made of its input, or it was cancelled.
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
  const watch = new OutcomeWatch(host.store);
  try {
    const { content, isError } = await executeToolCall(
      { id: name, name, arguments: JSON.stringify(input) },
      {
        tools: own ? [{ ...own, name }] : [],
        logger: log,
        userReviews: true,
        stage: action => {
          const proposed = { ...action, sourceToolName: name };
          const queued = queueResolveHandler({ ...host, remind: () => undefined }, proposed, null);
          watch.add(queued.preview.id);
          return queued;
        },
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
    return `${content}\n${await outcomeOf(watch, controller.signal)}`.trimEnd();
  } finally {
    cancelling.dispose();
    watch.dispose();
  }
}

/** @throws Error with what happened so far and what is still pending, when `signal` fires before all are decided on. */
async function outcomeOf(watch: OutcomeWatch, signal: AbortSignal): Promise<string> {
  return untilAborted(signal, () => watch.outcome()).catch(() => {
    const { open, happened } = watch;
    if (open.length === 0) return happened;
    const interrupted = `Interrupted before it was decided on. Still pending in Redline: ${open.join(', ')}.`;
    throw new Error(`${happened}\n${interrupted}`.trimStart());
  });
}
