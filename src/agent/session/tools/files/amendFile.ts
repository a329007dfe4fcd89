import { ToolError } from '../../../base/errors.ts';
import { amendedChanges, proposedText } from '../../../hold/preview/amendment.ts';
import { textOf } from '../../../hold/preview/fileChange.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import { sideToStore } from '../../../hold/preview/textFile.ts';
import { applyTextEdits } from '../../../hold/text/textEdit.ts';
import { givenTitle } from '../titles.ts';
import type { ToolContext } from '../tool.ts';
import { locateEdits, type OldNew } from './locateEdits.ts';
import { MAX_RESULT_DIFF_CHARS, shownDiff } from '../../../hold/preview/shownDiffs.ts';
import { rewriteSummary } from '../../../hold/text/rewriteSummary.ts';
import { shownEdits } from './shownEdits.ts';

/**
 * Revises the proposal for a file in a pending preview of the model, instead of staging another preview on top of it.
 * @returns the whole change of the file as now proposed; for a new file, only the edits
 * @throws ToolError if the preview cannot be amended, or an edit does not fit its text
 */
export async function amendFile(
  id: string,
  path: string,
  edits: readonly OldNew[],
  title: string | undefined,
  context: ToolContext,
): Promise<AgentToolResult> {
  const own = await context.own?.();
  if (!own) throw new ToolError('Nothing can be amended here. Leave out amend.');
  const preview = own.toAmend(id);
  const proposed = proposedText(preview, path);
  const located = await locateEdits(`${path} as ${id} proposes it`, proposed.text, edits);
  const text = applyTextEdits(proposed.text, located);
  if (text.includes('\0'))
    throw new ToolError(`The text would contain the character NUL, which cannot be shown. Remove it.`);
  const after = sideToStore(path, text, proposed.encoding);
  if (after.hash === proposed.hash)
    return textResult(`Nothing to change: ${id} already proposes exactly this content of ${path}.`);
  const changes = await amendedChanges(preview, path, after);
  const { preview: amended } = own.amend(preview, changes, givenTitle(title));
  const change = changes.findLast(each => each.path === path);
  if (!change) return textResult(`${id} no longer changes ${path}.`);
  if (located.length > edits.length) {
    // In several places, which the model need not have read.
    const diff = await shownDiff(amended, 0, MAX_RESULT_DIFF_CHARS);
    context.noteShown?.(amended, { from: 0, ...diff });
    return textResult(diff.text, { places: located.length });
  }
  // For a new file, a diff would show the file's beginning instead of the edits.
  const shown = change.before
    ? await rewriteSummary(path, textOf(change.before), text)
    : [`${path}: a new file.`, ...shownEdits(proposed.text, located)].join('\n');
  return textResult(shown);
}
