import { messageOf } from '../../base/errors.ts';
import type { ResolveCall } from '../forcing/modelResolver.ts';
import { textOf, type AgentToolResult } from '../../hold/preview/pendingAction.ts';
import { modelResult } from '../../hold/preview/resolve/resolved.ts';
import type { ToolContext } from './tool.ts';

/**
 * One vote on several previews, one after the other in the given order; each has its own outcome. It is an error if none of the
 * votes could be cast.
 * @throws the abort error when the call's signal fires.
 */
export async function resolveEach(
  ids: readonly string[],
  vote: ResolveCall,
  { resolve, signal }: ToolContext,
): Promise<AgentToolResult> {
  const lines: string[] = [];
  const votes: unknown[] = [];
  for (const id of ids) {
    try {
      const result = modelResult(await resolve({ ...vote, id, voteOn: ids }));
      lines.push(`${id}: ${textOf(result)}`);
      votes.push({ id, details: result.details, ...(result.isError ? { isError: true } : {}) });
    } catch (error) {
      if (signal.aborted) throw error;
      lines.push(`${id}: ${messageOf(error)}`);
      votes.push({ id, isError: true, failed: true });
    }
  }
  const { action, reason } = vote;
  const isError = votes.every(each => (each as { failed?: boolean }).failed === true);
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    details: { action, reason, label: ids.join(', '), votes },
    ...(isError ? { isError } : {}),
  };
}
