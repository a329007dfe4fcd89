import * as vscode from 'vscode';
import { languageModelTools, type LanguageModelToolName } from '../contributions.ts';
import type { ProposalParts } from './proposal.ts';

/**
 * Registers tools for the agents of VS Code and of other extensions. A call stages a preview, waits until the user resolves it in
 * Redline, and returns the outcome. Redline's own session is not involved.
 */
export function registerLanguageModelTools(parts: ProposalParts): vscode.Disposable {
  const names = Object.keys(languageModelTools) as LanguageModelToolName[];
  return vscode.Disposable.from(
    ...names.map(name =>
      vscode.lm.registerTool(name, {
        prepareInvocation: () => ({
          invocationMessage: vscode.l10n.t('Waiting for your Apply or Discard in Redline'),
        }),
        invoke: async ({ input }, token) => {
          const { propose } = await import('./proposal.ts');
          const text = await propose(name, input, token, parts);
          return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
        },
      }),
    ),
  );
}
