import * as vscode from 'vscode';
import { messageOf, PathError, ToolError } from '../../agent/base/errors.ts';
import type { KnownAgent } from '../../agent/clients/setUp/knownAgents.ts';
import { SetUpRefusal, type RefusalReason } from '../../agent/clients/setUp/refusal.ts';
import { sentenceFor } from '../texts/errorSentence.ts';

/** What to do once an agent's configuration names Redline. */
export function nextStep({ name, program, asksAbout }: KnownAgent, folder: string): string {
  const start = vscode.l10n.t(
    '{0} is connected in {1}. Start `{2}` there; if it runs already, restart it.',
    name,
    folder,
    program,
  );
  switch (asksAbout) {
    case 'server':
      return `${start} ${vscode.l10n.t('Approve the server “redline” if it asks.')}`;
    case 'folder':
      return `${start} ${vscode.l10n.t('Trust the folder if the agent asks; otherwise it ignores its configuration there.')}`;
    case 'nothing':
      return start;
  }
}

/** A sentence about a configuration file that cannot be changed; `undefined` for any other error. */
export function setUpSentence(error: unknown): string | undefined {
  if (error instanceof SetUpRefusal)
    return `${refusalSentence(error.file, error.reason)} ${vscode.l10n.t('Nothing was changed.')}`;
  if (error instanceof PathError) return sentenceFor(error, vscode.l10n);
  if (error instanceof ToolError) return vscode.l10n.t('Nothing was changed: {0}', messageOf(error));
  return undefined;
}

function refusalSentence(file: string, reason: RefusalReason): string {
  const { l10n } = vscode;
  switch (reason.kind) {
    case 'invalid':
      return l10n.t(
        '{0} is not valid at line {1}, column {2}. Correct it first.',
        file,
        reason.line,
        reason.column,
      );
    case 'shape': {
      const key = reason.keys.join('.');
      if (key === '') return l10n.t('{0} does not contain an object, which this agent requires.', file);
      return reason.wants === 'list'
        ? l10n.t('“{0}” in {1} is not a list, which this agent requires. Correct it first.', key, file)
        : l10n.t('“{0}” in {1} is not an object, which this agent requires. Correct it first.', key, file);
    }
    case 'openParagraph':
      return l10n.t(
        "Redline's section in {0} begins at line {1} and has no end. Remove what is left of it first.",
        file,
        reason.line,
      );
    case 'tooLarge':
      return l10n.t('{0} is too large for a configuration file.', file);
    case 'unusual':
      return l10n.t(
        '{0} is written in a way that Redline cannot change safely, for example with a duplicate key. Change it by hand.',
        file,
      );
  }
}
