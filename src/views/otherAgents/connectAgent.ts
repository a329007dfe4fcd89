import * as vscode from 'vscode';
import { knownAgents, setUpText, type KnownAgent } from '../../agent/clients/setUp.ts';
import type { Settings } from '../settings.ts';
import { showInfo } from '../toast.ts';
import { bridgeFile } from './agentServer.ts';

export interface ConnectAgentOptions {
  readonly settings: Settings;
  readonly globalStorage: vscode.Uri;
}

/**
 * Lets agents of other programs connect, and shows what a person does to set one up. Changes no file of that agent.
 * @param given the id of an agent; without one it asks which.
 */
export async function connectAgent(options: ConnectAgentOptions, given: unknown): Promise<void> {
  const agent = knownAgents.find(({ id }) => id === given) ?? (await pick());
  if (!agent) return;
  await options.settings.setAgentsEnabled(true);
  const content = setUpText(agent, bridgeFile(options.globalStorage));
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
  await vscode.window.showTextDocument(document);
}

/** Ends all connections; what was proposed stays pending. */
export async function disconnectAgents({ settings }: ConnectAgentOptions): Promise<void> {
  await settings.setAgentsEnabled(false);
  void showInfo(
    vscode.l10n.t(
      'Agents of other programs can no longer connect to Redline. What they proposed stays pending.',
    ),
  );
}

async function pick(): Promise<KnownAgent | undefined> {
  const items = knownAgents.map(agent => ({
    label: agent.id === 'other' ? vscode.l10n.t('Any MCP client') : agent.name,
    agent,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Connect an agent'),
    placeHolder: vscode.l10n.t('Its changes are then held back here for your review'),
  });
  return picked?.agent;
}
