import * as vscode from 'vscode';
import type { GitPorts } from '../../agent/tools/git/gitTool.ts';
import type { SymbolPorts } from '../../agent/tools/symbols/symbolsTool.ts';
import { activeGit } from '../elsewhere/gitApi.ts';
import type { VsCodeWorkspace } from './workspace.ts';

/** What `symbols` and `rename_symbol` need of VS Code. */
export function symbolPorts(workspace: VsCodeWorkspace): SymbolPorts {
  return {
    services: async () => {
      const { VsCodeLanguageServices } = await import('./languageServices.ts');
      return new VsCodeLanguageServices(workspace);
    },
    files: workspace,
    isAvailable: () => workspace.folderRoots().length > 0,
  };
}

/** What `git` needs of VS Code: the git that the user has configured. */
export function gitPorts(workspace: VsCodeWorkspace): GitPorts {
  return {
    isAvailable: () => vscode.workspace.isTrusted && workspace.folderRoots().length > 0,
    program: () => activeGit()?.git.path ?? 'git',
    locate: async path => {
      const { gitPlaceOf } = await import('./gitPlace.ts');
      return gitPlaceOf(path, workspace.folderRoots());
    },
  };
}
