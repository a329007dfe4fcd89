import { runChecksTool } from '../session/tools/runChecksTool.ts';
import type { ToolSpec } from '../session/model/chatProvider.ts';
import { specOf } from '../session/tools/toolSpec.ts';
import type { Tool } from '../session/tools/tool.ts';
import type { News } from './decisions.ts';
import type { ListedPreviews } from './ownPreviews.ts';
import { answerTool, type AskedComments } from './tools/answer.ts';
import { proposeChangesTool } from './tools/proposeChanges.ts';
import { proposeEditTool } from './tools/proposeEdit.ts';
import { statusTool } from './tools/status.ts';
import { resolveOwnTool, withdrawTool } from './tools/votes.ts';
import { waitTool } from './tools/wait.ts';
import { builtInTools } from '../session/tools/builtIn.ts';

/** A tool, as offered to an agent. */
export interface ClientTool extends ToolSpec {
  /** The name that its user sees. */
  readonly label: string;
  readonly readOnly: boolean;
}

/** The tools of Redline's own session that other agents get, too. They see the agent's own pending changes as if applied. */
export const SHARED_TOOLS = [
  'ast_edit',
  'ast_grep',
  'read_file',
  'search_text',
  'list_files',
  'run_checks',
] as const;

/** Instructions for every agent: sent when it connects, and written into its instruction file by *Connect an Agent…*. */
export const INSTRUCTIONS =
  'Redline holds back your changes for the user to review in VS Code. Change files only with propose_edit, ' +
  'propose_changes and ast_edit of the redline server, never with other tools or a shell. These return at once ' +
  'with a preview; nothing is on disk until the user applies it, so go on with your work. read_file, search_text and ' +
  'ast_grep show the files as if your pending previews were applied; the disk does not. The decision of the user comes ' +
  'before the result of a later call; a refusal is an answer, not an error. Call wait if you cannot go on without a ' +
  'decision, and status to list what is pending.';

export function clientToolOf(tool: Tool): ClientTool {
  return { ...specOf(tool), label: tool.label, readOnly: tool.readOnly === true };
}

/** The tools that only agents of other programs have. */
export function ownTools(
  previews: ListedPreviews,
  decisions: News,
  comments: AskedComments,
): readonly Tool[] {
  return [
    proposeEditTool,
    proposeChangesTool,
    statusTool(previews, () => comments.all()),
    waitTool(previews, decisions),
    withdrawTool,
    resolveOwnTool,
    answerTool(comments),
  ];
}

const notHere = (): never => {
  throw new Error('Tools run in the window.');
};

/** The tools of every window, as descriptions: they run there. */
export function allClientTools(): readonly ClientTool[] {
  const shared = builtInTools({
    textSearch: { search: notHere },
    astSearcher: {
      engine: { run: notHere, warm: notHere },
      scope: { folders: notHere, unsaved: notHere, read: notHere, placeOf: notHere, encodingOf: notHere },
    },
  });
  const previews = { open: [], ended: [] };
  const own = ownTools(
    previews,
    { hasNews: false, onDidHappen: notHere },
    { all: () => [], answer: notHere },
  );
  // Only the window knows whether there are checks.
  const checks = runChecksTool({ list: notHere, withBase: notHere, run: notHere });
  return [...own, ...SHARED_TOOLS.flatMap(name => shared.get(name) ?? []), checks].map(clientToolOf);
}
