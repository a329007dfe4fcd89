import { changeOf, type FileSide } from '../../../hold/preview/fileChange.ts';
import { textResult, type AgentToolResult, type PendingAction } from '../../../hold/preview/pendingAction.ts';
import type { TextEdit } from '../../../hold/text/textEdit.ts';
import type { ToolContext } from '../tool.ts';
import { asIfApplied, assertApplicable, assertCanHoldFile } from '../../../hold/preview/textFile.ts';

/** The action of a tool that changes one file, with the file's content in place of the change. */
export interface FileAction extends Omit<PendingAction, 'changes'> {
  readonly path: string;
  readonly before: FileSide | null;
  readonly after: FileSide;
  /** Whether the proposed text came with other line endings and was given those of the file. */
  readonly keepsLineEndings?: boolean;
  /** The edits that turn `before` into `after`, if the tool knows them. */
  readonly edits?: readonly TextEdit[];
  /** In how many places one edit put its text; the model need not have read their lines. */
  readonly places?: number;
  /** The summary by which the model checks its change. */
  readonly summary: string;
}

/**
 * Stages the change of one file. If the content stays the same, stages nothing and says so.
 * @throws ToolError if a file stands where the folder of a new one would be, or the file is read-only.
 */
export async function stageChange(
  context: ToolContext,
  { path, before, after, keepsLineEndings = false, edits, summary, places, ...action }: FileAction,
): Promise<AgentToolResult> {
  const change = changeOf(path, before, after);
  if (!change) {
    const asIf = asIfApplied(context.pending, path);
    const content = keepsLineEndings
      ? `this content${asIf}, apart from line endings, which are kept`
      : `exactly this content${asIf}`;
    return textResult(`Nothing to change: ${path} already has ${content}. Nothing was staged.`);
  }
  if (change.kind === 'create') await assertCanHoldFile(context.workspace, path);
  await assertApplicable(context.workspace, [change]);
  context.stage({ ...action, changes: [change.kind === 'modify' && edits ? { ...change, edits } : change] });
  const note = keepsLineEndings ? ' The line endings of the file are kept.' : '';
  const [head, ...diff] = summary.split('\n');
  return textResult([`${head}${note}`, ...diff].join('\n'), places && { places });
}
