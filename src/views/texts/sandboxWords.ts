import * as vscode from 'vscode';
import type { NoSandboxReason, SandboxStatus } from '../../agent/sandbox/commands/sandbox.ts';

/** Describes the sandbox in a sentence and, if it is not isolated, gives the reason. */
export function sandboxSentence({ engine, isolated, why }: SandboxStatus): string {
  const { l10n } = vscode;
  const because = why ? ` ${whySentence(why)}` : '';
  if (engine === undefined) return l10n.t('There is no sandbox, so commands run on disk.') + because;
  return isolated
    ? l10n.t('Commands run in an isolated sandbox, which sees pending previews.')
    : l10n.t('Commands run in a copy of the workspace, which sees pending previews but is not isolated.') +
        because;
}

/** Why there is no isolated sandbox, or none at all, in a sentence. */
export function whySentence({ reason, detail }: NonNullable<SandboxStatus['why']>): string {
  return reasonSentence(reason) + (detail === undefined ? '' : ` (${detail})`);
}

function reasonSentence(reason: NoSandboxReason): string {
  const { l10n } = vscode;
  switch (reason) {
    case 'off':
      return l10n.t('The setting redline.sandbox.engine says so.');
    case 'noFolder':
      return l10n.t('No folder on this machine’s disk is open.');
    case 'system':
      return l10n.t('The isolated sandbox needs Linux.');
    case 'namespaces':
      return l10n.t('This system does not allow user namespaces, which the isolated sandbox needs.');
    case 'mount':
      return l10n.t('Overlays cannot be mounted on this file system.');
    case 'bubblewrap':
      return l10n.t('Bubblewrap is not installed. Install the package “bubblewrap” and reload the window.');
    case 'leaks':
      return l10n.t('A test reached something outside the isolated sandbox, so it is not used.');
    case 'tooLarge':
      return l10n.t('The workspace is larger than what redline.sandbox.maxCopySize allows.');
    case 'copy':
      return l10n.t('The workspace could not be copied.');
  }
}
