import * as vscode from 'vscode';
import { shortened } from '../../agent/base/cutText.ts';
import { choose } from '../toast.ts';

/** The most characters of an address that the question shows. */
const MAX_URL_CHARS = 500;

/** For how long the user lets the model read from a host; `undefined`: not at all. */
export type Allowed = 'once' | 'session' | 'always' | undefined;

/**
 * Asks the user whether the model may read from a host.
 * @param url the whole address, which the host would get.
 */
export async function askForHost(host: string, url: string): Promise<Allowed> {
  const once = vscode.l10n.t('Once');
  const session = vscode.l10n.t('In This Session');
  const always = vscode.l10n.t('Always in This Workspace');
  const shown = shortened(url, MAX_URL_CHARS);
  const answer = await choose(
    vscode.l10n.t('The agent wants to read from {0}.', host),
    vscode.l10n.t(
      '{0}\n\nThe host gets this address. What it answers becomes part of the conversation. If you allow the host for longer, the agent can send it other addresses without a question.',
      shown,
    ),
    once,
    session,
    always,
  );
  if (answer === session) return 'session';
  if (answer === always) return 'always';
  return answer === once ? 'once' : undefined;
}
