import { textResult, type AgentToolResult } from '../pendingAction.ts';
import { nameOf, type Preview } from '../preview.ts';
import { toolResult, type Handled, type Resolved } from './resolved.ts';
import { RETURNED_ERROR } from './resolveTexts.ts';

/**
 * The result for a model that voted. If the apply returned an error, the result begins with the state of the preview. The fixed
 * sentence about a discard names neither its id nor the model's title, so another one does.
 */
export function modelResult(resolved: Resolved | Handled): AgentToolResult {
  if (resolved.kind === 'handled') return resolved.result;
  const result = toolResult(resolved);
  const { content } = result;
  if (resolved.kind === 'returnedError')
    return { ...result, content: [...textResult(returnedErrorText(resolved.preview)).content, ...content] };
  if (resolved.kind !== 'discarded' || resolved.answer?.content !== undefined) return result;
  const { id, modelTitle } = resolved.preview;
  const named = modelTitle === undefined ? id : nameOf(resolved.preview);
  return { ...result, content: [...content, ...textResult(`This was ${named}.`).content] };
}

/** The line before the error that the model's own apply returned. */
export function returnedErrorText(preview: Preview): string {
  return `${nameOf(preview)} counts as applied: it ${RETURNED_ERROR}. The error:`;
}
