import * as vscode from 'vscode';
import { commitText, type CommittedText, type TypedText } from '../../../agent/hold/preview/commitText.ts';
import type { Agent } from '../../agent.ts';

/**
 * Makes a person's typing the next revision of a proposal.
 * @throws FileSystemError if the preview is not pending, or its encoding lacks a character of the text.
 */
export async function commitTyped(
  { store, rebaser }: Agent,
  typed: TypedText,
): Promise<CommittedText & { kind: 'committed' }> {
  const { previewId } = typed;
  const isPlan = store.get(previewId)?.kind === 'plan';
  const committed = await commitText(store, typed);
  switch (committed.kind) {
    case 'committed':
      if (!isPlan) void rebaser.refresh([previewId]);
      return committed;
    case 'notPending':
      throw vscode.FileSystemError.Unavailable(vscode.l10n.t('This preview is no longer pending.'));
    case 'emptyPlan':
      throw vscode.FileSystemError.Unavailable(vscode.l10n.t('A plan cannot be empty.'));
    case 'lacks':
      throw vscode.FileSystemError.Unavailable(
        vscode.l10n.t(
          'Not saved: the file is stored as {0}, which lacks a character that you typed.',
          committed.encoding,
        ),
      );
  }
}
