import type { ReviewComment } from '../preview/reviewComments.ts';
import type { Tool } from '../tools/tool.ts';
import type { Decisions } from './decisions.ts';
import type { OwnPreviews } from './ownPreviews.ts';
import { proposeChangesTool } from './tools/proposeChanges.ts';
import { proposeEditTool } from './tools/proposeEdit.ts';
import { statusTool } from './tools/status.ts';
import { resolveOwnTool, withdrawTool } from './tools/votes.ts';
import { waitTool } from './tools/wait.ts';

/** The tools that only agents of other programs have. */
export function ownTools(
  previews: Pick<OwnPreviews, 'open' | 'ended'>,
  decisions: Pick<Decisions, 'hasNews' | 'onDidHappen'>,
  comments: () => readonly ReviewComment[] = () => [],
): readonly Tool[] {
  return [
    proposeEditTool,
    proposeChangesTool,
    statusTool(previews, comments),
    waitTool(previews, decisions),
    withdrawTool,
    resolveOwnTool,
  ];
}
