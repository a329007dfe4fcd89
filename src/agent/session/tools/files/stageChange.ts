import type { Sentence } from '../../../base/localiser.ts';
import { changeOf, type FileSide } from '../../../hold/preview/fileChange.ts';
import type { LabelParts } from '../../../hold/preview/label.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import type { TextEdit } from '../../../hold/text/textEdit.ts';
import type { ToolContext } from '../tool.ts';
import { asIfApplied, assertApplicable, assertCanHoldFile } from '../../../hold/preview/textFile.ts';

/** The proposed content of one file, and how the tool describes it. */
export interface ProposedFile {
  readonly path: string;
  readonly before: FileSide | null;
  readonly after: FileSide;
  /** Whether the proposed text came with other line endings than those of the file, which it then got. */
  readonly keepsLineEndings?: boolean;
  /** The edits that turn `before` into `after`, if the tool knows them. */
  readonly edits?: readonly TextEdit[];
  readonly sourceToolName: string;
  readonly label: string;
  readonly labelParts?: LabelParts;
  /** The title for the user, in place of the label. */
  readonly title: string | Sentence;
  readonly modelTitle?: string | undefined;
  /** The summary by which the model checks its change. */
  readonly summary: string;
}

/**
 * Stages the change of one file. If the content stays the same, stages nothing and says so.
 * @throws ToolError if a file stands where the folder of a new one would be, or the file is read-only.
 */
export async function stageChange(context: ToolContext, file: ProposedFile): Promise<AgentToolResult> {
  const change = changeOf(file.path, file.before, file.after);
  if (!change) {
    const asIf = asIfApplied(context.pending, file.path);
    const content = file.keepsLineEndings
      ? `this content${asIf}, apart from line endings, which are kept`
      : `exactly this content${asIf}`;
    return textResult(`Nothing to change: ${file.path} already has ${content}. Nothing was staged.`);
  }
  if (change.kind === 'create') await assertCanHoldFile(context.workspace, file.path);
  await assertApplicable(context.workspace, [change]);
  const made = change.kind === 'modify' && file.edits ? { ...change, edits: file.edits } : change;
  const { label, labelParts, title, modelTitle, sourceToolName } = file;
  const named = {
    ...(labelParts ? { labelParts } : {}),
    ...(modelTitle === undefined ? {} : { modelTitle }),
  };
  context.stage({ label, ...named, title, sourceToolName, changes: [made] });
  const note = file.keepsLineEndings ? ' The line endings of the file are kept.' : '';
  const [head, ...diff] = file.summary.split('\n');
  return textResult([`${head}${note}`, ...diff].join('\n'));
}
