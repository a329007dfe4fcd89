import * as vscode from 'vscode';
import type { SessionMessage } from '../../agent/model/messages.ts';
import { needsModelText } from '../../agent/model/offline/answers.ts';
import type { Agent } from '../agent.ts';
import { execute } from '../commandRegistry.ts';
import { oneLine } from '../plainText.ts';
import { showInfo } from '../toast.ts';

/** The most characters of the prompt that the question shows. */
const MAX_SHOWN = 60;

/** Once a model is chosen: offers to ask it the last prompt, if no model has answered that because there was none. */
export async function offerToAskAgain({ session, providers }: Agent): Promise<void> {
  const prompt = unansweredPrompt(session.tree.messages);
  if (prompt === undefined || providers.isOffline || session.state !== 'idle') return;
  const ask = vscode.l10n.t('Ask Again');
  const text = vscode.l10n.t('Ask the model “{0}”?', oneLine(prompt, MAX_SHOWN));
  if ((await showInfo(text, ask)) === ask) await execute('redline.session.retry');
}

/** The last prompt, if the answer to it is that a model is needed. */
export function unansweredPrompt(messages: readonly SessionMessage[]): string | undefined {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const prompt = messages[at];
  const answer = messages.slice(at + 1).findLast(({ role }) => role === 'assistant');
  if (prompt?.role !== 'user' || answer?.role !== 'assistant') return undefined;
  const isMissing = answer.errorCode === 'noModel' || answer.text === needsModelText(vscode.l10n);
  return isMissing ? prompt.text : undefined;
}
