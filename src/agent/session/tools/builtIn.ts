import { astEditTool } from './ast/astEdit.ts';
import { astGrepTool } from './ast/astGrep.ts';
import type { AstSearcher } from './ast/structuralSearch.ts';
import { deleteFileTool } from './files/deleteFile.ts';
import { editFileTool } from './files/editFile.ts';
import { listFilesTool } from './files/listFiles.ts';
import { readFileTool } from './files/readFile.ts';
import { renameFileTool } from './files/renameFile.ts';
import { searchTextTool } from './files/searchText.ts';
import type { TextSearch } from '../../hold/preview/textSearch.ts';
import { writeFileTool } from './files/writeFile.ts';
import type { CommandRuns } from '../../sandbox/commands/commandRuns.ts';
import { commandOutputTool } from './command/commandOutput.ts';
import type { CommandRunner } from './command/commandRunner.ts';
import { runCommandTool } from './command/runCommand.ts';
import { gitTool } from './git/gitTool.ts';
import type { GitPorts } from './git/readGit.ts';
import { getDiagnosticsTool } from './getDiagnostics.ts';
import { askUserTool, type AskUser } from './askUser.ts';
import { pendingTool } from './pending.ts';
import type { Problems } from './problems.ts';
import { fetchUrlTool } from './web/fetchUrl.ts';
import type { HostConsent } from './web/fetchPage.ts';
import { todoTool } from './todo.ts';
import { ToolRegistry } from './registry.ts';
import { renameSymbolTool, symbolsTool, type SymbolPorts } from './symbols/symbolsTool.ts';
import { resolveTool } from './resolve.ts';
import { revertToStateTool } from './revertToState.ts';

/** Ports that some built-in tools need beyond the `ToolContext` of a call. */
export interface BuiltInToolPorts {
  /** For `search_text`. */
  readonly textSearch: TextSearch;
  /** For `ast_grep` and `ast_edit`. */
  readonly astSearcher: AstSearcher;
  /** For `run_command` and `command_output`. */
  readonly commands: { readonly runner: CommandRunner; readonly runs: CommandRuns };
  /** For `get_diagnostics`. */
  readonly problems: Problems;
  /** For `symbols` and `rename_symbol`. */
  readonly symbols: SymbolPorts;
  /** For `git`. */
  readonly git: GitPorts;
  /** For `fetch_url`. */
  readonly hosts: HostConsent;
  /** For `ask_user`. */
  readonly askUser: AskUser;
  /** For `revert_to_state`, which exists only while this returns true. */
  readonly isRevertEnabled: () => boolean;
}

/** A new registry with all of Redline's own tools, except those whose port is not given. */
export function builtInTools(ports: Partial<BuiltInToolPorts> = {}): ToolRegistry {
  const { textSearch, astSearcher, commands, problems, symbols, git, hosts, askUser, isRevertEnabled } =
    ports;
  const registry = new ToolRegistry();
  const tools = [
    readFileTool,
    listFilesTool,
    editFileTool,
    writeFileTool,
    deleteFileTool,
    renameFileTool,
    pendingTool,
    resolveTool,
    todoTool,
    ...(textSearch ? [searchTextTool(textSearch)] : []),
    ...(astSearcher ? [astGrepTool(astSearcher), astEditTool(astSearcher)] : []),
    ...(commands ? [runCommandTool(commands.runner, commands.runs), commandOutputTool(commands.runs)] : []),
    ...(problems ? [getDiagnosticsTool(problems)] : []),
    ...(symbols ? [symbolsTool(symbols), renameSymbolTool(symbols)] : []),
    ...(git ? [gitTool(git)] : []),
    ...(hosts ? [fetchUrlTool(hosts)] : []),
    ...(askUser ? [askUserTool(askUser)] : []),
    ...(isRevertEnabled ? [revertToStateTool(isRevertEnabled)] : []),
  ];
  for (const tool of tools) registry.register(tool);
  return registry;
}
