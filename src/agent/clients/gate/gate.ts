import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { safeName } from '../../base/safeName.ts';
import { isRecord, parsedJson } from '../../base/json.ts';

/** The tools of Redline's server, as each agent names them: after the name of the server. */
const OWN =
  /(?:^|[^a-z0-9])redline[^a-z0-9]{1,2}(?:propose_edit|propose_changes|ast_edit|ast_grep|read_file|search_text|list_files|run_checks|status|wait|withdraw|resolve|answer)$/i;

/**
 * Tools that write nothing, of Copilot CLI and of VS Code's own agents, without case and marks. Other tools may write, or start
 * something that writes.
 */
const READING = new Set([
  ...['view', 'grep', 'glob', 'rg', 'reportintent', 'updatetodo', 'askuser', 'webfetch', 'websearch'],
  ...['readbash', 'listbash', 'stopbash', 'readagent', 'listagents', 'skill', 'fetchcopilotclidocumentation'],
  ...['read', 'readfile', 'readnotebookcelloutput', 'copilotgetnotebooksummary', 'listdir', 'listdirectory'],
  ...['search', 'codebase', 'filesearch', 'grepsearch', 'semanticsearch', 'textsearch', 'findfiles'],
  ...['findtextinfiles', 'usages', 'listcodeusages', 'vscodelistcodeusages', 'getsearchviewresults'],
  ...['searchworkspacesymbols', 'problems', 'geterrors', 'changes', 'getchangedfiles', 'testfailure'],
  ...['fetch', 'fetchwebpage', 'githubrepo', 'think', 'todos', 'todo', 'managetodolist'],
  ...['getterminaloutput', 'terminallastcommand', 'terminalselection', 'vscodeapi', 'getvscodeapi'],
  ...['vscodeaskquestions', 'viewimage', 'resolvememoryfileuri'],
]);

/**
 * Why an agent may not use a tool; `undefined` if it may: if the tool is known to write nothing, is one of Redline's, or is one
 * that the user allows.
 * @param input the text that the agent gives its hook, unparsed
 * @param allowed further tools, by the names that the agent has for them
 */
export function refusalOf(input: string, allowed: readonly string[]): string | undefined {
  const name = toolIn(input);
  if (name === undefined) return 'Redline could not read which tool this is. Nothing was run.';
  if (OWN.test(name) || allowed.includes(name) || READING.has(name.toLowerCase().replace(/[^a-z0-9]/g, '')))
    return undefined;
  return (
    `${safeName(name)} may change files, so it was not run: Redline holds back changes for the user to review. ` +
    'Use propose_edit, propose_changes or ast_edit of the redline server instead.'
  );
}

/** The name of the tool, in the form of Copilot CLI or of VS Code. */
function toolIn(input: string): string | undefined {
  const told = parsedJson(input);
  const name = isRecord(told) ? (told['toolName'] ?? told['tool_name']) : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** The output by which the hook refuses a tool, in the form of each agent. */
export function refusalText(reason: string): string {
  const decision = { permissionDecision: 'deny', permissionDecisionReason: reason };
  return JSON.stringify({
    ...decision,
    hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision },
  });
}

/**
 * The first argument of a hook in the home folder, which runs in every project: with this argument, the hook refuses tools only in
 * connected folders. Redline once told users to create such a hook.
 */
export const CONNECTED_ONLY = '--connected-only';

/** The file of a project that *Connect an Agent…* writes. */
const HOOK = path.join('.github', 'hooks', 'redline.json');

/**
 * Whether the folder in which the agent works, or one above it, is connected.
 * @param input the text that the agent gives its hook, unparsed; if it names no folder, the answer is true
 */
export function isConnected(input: string): boolean {
  const cwd = cwdIn(input);
  if (cwd === undefined || !path.isAbsolute(cwd)) return true;
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, HOOK))) return true;
    if (path.dirname(folder) === folder) return false;
  }
}

function cwdIn(input: string): string | undefined {
  const told = parsedJson(input);
  const cwd = isRecord(told) ? told['cwd'] : undefined;
  return typeof cwd === 'string' ? cwd : undefined;
}
