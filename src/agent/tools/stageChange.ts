import { changeOf, type FileSide } from '../preview/fileChange.ts';
import type { TextEdit } from '../preview/textEdit.ts';
import { textResult, type AgentToolResult } from '../preview/pendingAction.ts';
import type { ToolContext } from './tool.ts';

/** One file's proposed content, and how a tool describes it. */
export interface ProposedFile {
  readonly path: string;
  readonly before: FileSide | null;
  readonly after: FileSide;
  /** Where they are known. */
  readonly edits?: readonly TextEdit[];
  readonly sourceToolName: string;
  readonly label: string;
  /** What the model reads to check its change. */
  readonly summary: string;
}

/** Stages the change of one file. A change that changes nothing stages nothing, and says so. */
export async function stageChange(context: ToolContext, file: ProposedFile): Promise<AgentToolResult> {
  const change = changeOf(file.path, file.before, file.after);
  if (!change)
    return textResult(
      `Nothing to change: ${file.path} already has exactly this content. Nothing was staged.`,
    );
  const made = change.kind === 'modify' && file.edits ? { ...change, edits: file.edits } : change;
  await context.stage({ label: file.label, sourceToolName: file.sourceToolName, changes: [made] });
  return textResult(file.summary);
}
