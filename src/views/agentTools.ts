import * as vscode from 'vscode';
import type { Disposable } from '../agent/base/disposable.ts';
import type { Logger } from '../agent/base/logger.ts';
import type { CommandRuns } from '../agent/sandbox/commands/commandRuns.ts';
import type { ReadInstructions } from '../agent/session/sessionOptions.ts';
import type { AstEngine, WorkerAstEngine } from '../agent/session/tools/ast/worker/client.ts';
import { builtInTools, type BuiltInToolPorts } from '../agent/session/tools/builtIn.ts';
import type { CommandRunner } from '../agent/session/tools/command/commandRunner.ts';
import type { EditorTools } from '../agent/session/tools/editor/editorTools.ts';
import type { TextSearch } from '../agent/hold/preview/textSearch.ts';
import type { GitPorts } from '../agent/session/tools/git/readGit.ts';
import type { ToolRegistry } from '../agent/session/tools/registry.ts';
import type { SymbolPorts } from '../agent/session/tools/symbols/symbolsTool.ts';
import type { HostConsent } from '../agent/session/tools/web/fetchPage.ts';
import type { EngineFolders } from './chat/search/structuralEngine.ts';
import type { HostConsents } from './web/hostConsents.ts';
import { activeGit } from './workspace/gitApi.ts';
import type { Settings } from './settings.ts';
import type { VsCodeCommandRunner } from './agents/terminal/commandRunner.ts';
import type { SandboxLeave, WindowSandboxes } from './agents/terminal/windowSandboxes.ts';
import type { InstructionFiles } from './workspace/instructionFiles.ts';
import type { VsCodeWorkspace } from './workspace/workspace.ts';

// The VS Code services that the agent's tools need. Most code is loaded with the first call.

/** The built-in tools in this window. */
export function windowTools(
  workspace: VsCodeWorkspace,
  engine: AstEngine,
  others: Omit<BuiltInToolPorts, 'astSearcher' | 'symbols' | 'git'>,
): ToolRegistry {
  return builtInTools({
    astSearcher: { engine, scope: workspace },
    symbols: symbolPorts(workspace),
    git: gitPorts(workspace),
    ...others,
  });
}

/** Searches files by structure. */
export function structuralEngineIn(folders: EngineFolders, logger: Logger): AstEngine & Disposable {
  let loading: Promise<WorkerAstEngine> | undefined;
  const load = (): Promise<WorkerAstEngine> =>
    (loading ??= import('./chat/search/structuralEngine.ts').then(({ createStructuralEngine }) =>
      createStructuralEngine(folders, logger),
    ));
  return {
    warm: () =>
      void load().then(
        engine => engine.warm(),
        () => undefined, // The search that needs it says why.
      ),
    run: async (...search) => (await load()).run(...search),
    dispose: () =>
      void loading?.then(
        engine => engine.dispose(),
        () => undefined,
      ),
  };
}

/** Searches the files of the workspace. */
export function textSearchIn(lineWorker: string, workspace: VsCodeWorkspace, logger: Logger): TextSearch {
  let loaded: TextSearch | undefined;
  return {
    search: async (...query) => {
      const { WorkspaceTextSearch } = await import('./chat/search/textSearch.ts');
      loaded ??= new WorkspaceTextSearch(workspace, logger, lineWorker);
      return loaded.search(...query);
    },
  };
}

/** The services behind `symbols` and `rename_symbol`. */
function symbolPorts(workspace: VsCodeWorkspace): SymbolPorts {
  return {
    services: async () => {
      const { VsCodeLanguageServices } = await import('./workspace/languageServices.ts');
      return new VsCodeLanguageServices(workspace);
    },
    files: workspace,
    isAvailable: () => workspace.folderRoots().length > 0,
  };
}

/** The services behind `git`: the git that the user has configured. */
function gitPorts(workspace: VsCodeWorkspace): GitPorts {
  return {
    isAvailable: () => vscode.workspace.isTrusted && workspace.folderRoots().length > 0,
    program: () => activeGit()?.git.path ?? 'git',
    locate: async path => {
      const { gitPlaceOf } = await import('./workspace/gitPlace.ts');
      return gitPlaceOf(path, workspace.folderRoots());
    },
  };
}

/** Which hosts `fetch_url` may read. */
export function hostConsent(
  load: () => Promise<HostConsents>,
  settings: Pick<Settings, 'fetchHosts'>,
): HostConsent {
  return {
    isAvailable: () => vscode.workspace.isTrusted,
    isNamed: host => settings.fetchHosts.some(named => named.trim().toLowerCase() === host),
    ask: async (...asked) => (await load()).ask(...asked),
  };
}

/** Loads the runner of commands in the user's shell. */
export function runnerLoader(
  workspace: VsCodeWorkspace,
  settings: Settings,
): () => Promise<VsCodeCommandRunner> {
  return async () => {
    const { VsCodeCommandRunner } = await import('./agents/terminal/commandRunner.ts');
    return new VsCodeCommandRunner(workspace, settings);
  };
}

/** Runs the commands that the user approves, and those that may run in the sandbox. */
export function commandRunner(
  load: () => Promise<VsCodeCommandRunner>,
  sandboxes: WindowSandboxes,
  leave: SandboxLeave,
): CommandRunner {
  return {
    isTrusted: () => vscode.workspace.isTrusted,
    plan: async (...command) => (await load()).plan(...command),
    run: async (...command) => (await load()).run(...command),
    filesOf: async plan => (await load()).filesOf(plan),
    sandboxes,
    mayRunInSandbox: () => leave.isGiven,
  };
}

/** Updates the VS Code tools that the user allows. The code that calls them is loaded once one is allowed. */
export function editorToolsRefresher(
  registry: ToolRegistry,
  runs: CommandRuns,
  settings: Settings,
  logger: Logger,
): () => Promise<void> {
  let loaded: Promise<EditorTools> | undefined;
  return async () => {
    if (!loaded && settings.toolsFromVsCode.length === 0) return;
    loaded ??= import('./editorTools/editorToolHost.ts').then(({ createEditorTools }) =>
      createEditorTools({ registry, runs, settings, logger }),
    );
    await (await loaded).refresh();
  };
}

/** Reads the instructions of the project before each request. */
export function instructionReader(workspace: VsCodeWorkspace, logger: Logger): ReadInstructions {
  let loaded: InstructionFiles | undefined;
  return async workedOn => {
    const { InstructionFiles } = await import('./workspace/instructionFiles.ts');
    loaded ??= new InstructionFiles(workspace, () => vscode.workspace.isTrusted, logger);
    return loaded.read(workedOn);
  };
}
