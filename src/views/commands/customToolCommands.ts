import * as vscode from 'vscode';
import type { LazyCustomTools } from '../tools/lazyCustomTools.ts';
import { newCustomTool, type NewCustomToolOptions } from './newCustomTool.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface CustomToolCommandsOptions extends NewCustomToolOptions {
  readonly customTools: LazyCustomTools;
}

/** Commands about custom tools. */
export function customToolCommands(options: CustomToolCommandsOptions): CommandHandlers {
  const { customTools } = options;
  return {
    'redline.customTools.new': async () => {
      await newCustomTool(options);
      await customTools.refresh();
    },
    'redline.customTools.reload': async () => {
      await customTools.reload();
      const problems = customTools.problems.length;
      const text =
        problems === 0
          ? vscode.l10n.t('Custom tools are loaded.')
          : vscode.l10n.t('Custom tools are loaded, with {0} problems.', problems);
      vscode.window.setStatusBarMessage(text, 5_000);
    },
  };
}
