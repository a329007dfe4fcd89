import * as vscode from 'vscode';
import { addsToFile, namesServer, recordAfter } from '../../agent/clients/setUp/configFiles.ts';
import {
  agentWithServerIn,
  configFileNamed,
  isNamed,
  knownAgents,
  type KnownAgent,
} from '../../agent/clients/setUp/knownAgents.ts';
import { stepsOf, type FileStep } from '../../agent/preview/fileChange.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Settings } from '../settings.ts';
import { showInfo } from '../toast.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import { SetUpFolder } from './setUpFolder.ts';
import { SetUpRecords } from './setUpRecords.ts';
import { nextStep } from './setUpSentences.ts';

export interface SetUpAppliedOptions {
  readonly store: PreviewStore;
  readonly workspace: VsCodeWorkspace;
  readonly settings: Settings;
  readonly globalState: vscode.Memento;
}

/** An agent whose configuration begins or ceases to name Redline. */
interface Changed {
  readonly agent: KnownAgent;
  readonly folder: SetUpFolder;
  readonly isConnected: boolean;
}

/**
 * Follows a preview of agents' configuration that was applied, as a whole or in part, or what undoes one: records what Redline
 * added, and lets agents connect, or asks whether they still may.
 */
export async function setUpApplied(options: SetUpAppliedOptions, preview: Preview): Promise<void> {
  const records = new SetUpRecords(options.globalState);
  const folders = SetUpFolder.all(options.workspace, records);
  const whole = preview.part ? options.store.get(preview.part.previewId) : undefined;
  const isOurs = !preview.editedByUser && !whole?.editedByUser;
  const changed: Changed[] = [];
  const completed: Changed[] = [];
  for (const step of (preview.changes ?? []).flatMap(stepsOf)) {
    const folder = folders.find(each => each.nameOf(step.path) !== undefined);
    if (!folder) continue;
    const { ofServer, hasGained } = await follow(step, folder, records, isOurs);
    changed.push(...ofServer);
    if (hasGained) completed.push(...(await connectedBy(step, folder)));
  }
  const named = changed.filter(({ isConnected }) => isConnected);
  // What was missing may be the rest of an agent's configuration that names the server already.
  const connected = changed.length > 0 ? named : completed;
  if (connected.length > 0) {
    await options.settings.setAgentsEnabled(true);
    for (const { agent, folder } of connected) void showInfo(nextStep(agent, folder.name));
  }
  const [gone] = changed.filter(({ isConnected }) => !isConnected);
  // Not awaited: the user may answer much later, and meanwhile other previews are followed.
  if (gone) void tellDisconnected(gone, records, options.settings);
}

/** The agents that read the file, and whose configuration names the server. */
async function connectedBy({ path }: FileStep, folder: SetUpFolder): Promise<readonly Changed[]> {
  const name = folder.nameOf(path) ?? '';
  const found: Changed[] = [];
  for (const agent of knownAgents)
    if (agent.files.some(file => isNamed(file, name)) && (await folder.namesServer(agent)))
      found.push({ agent, folder, isConnected: true });
  return found;
}

/** Records what Redline added to a file, and tells whether the change added any of it. */
async function follow(
  { path, before, after }: FileStep,
  folder: SetUpFolder,
  records: SetUpRecords,
  isOurs: boolean,
): Promise<{ readonly ofServer: readonly Changed[]; readonly hasGained: boolean }> {
  const name = folder.nameOf(path) ?? '';
  const file = configFileNamed(name);
  if (!file) return { ofServer: [], hasGained: false };
  const [old, now] = [before?.text ?? null, after?.text ?? null];
  const record = await recordAfter(file, records.of(folder.uri, name), old, now, isOurs);
  await records.set(folder.uri, name, record);
  const hasGained = await addsToFile(file, old, now);
  const agent = agentWithServerIn(name);
  if (!agent) return { ofServer: [], hasGained };
  const isConnected = await namesServer(file, now);
  const isAbout = isConnected || (await namesServer(file, old));
  return { ofServer: isAbout ? [{ agent, folder, isConnected }] : [], hasGained };
}

async function tellDisconnected(
  { agent, folder }: Changed,
  records: SetUpRecords,
  settings: Settings,
): Promise<void> {
  const done = vscode.l10n.t(
    '{0} is no longer connected in {1}. If it runs there, restart it.',
    agent.name,
    folder.name,
  );
  if (records.hasServer || !settings.agentsEnabled) return void showInfo(done);
  const stop = vscode.l10n.t('Stop Listening');
  const none = vscode.l10n.t('No agent is connected any more, but Redline still listens for them.');
  const button = await showInfo(`${done} ${none}`, stop);
  if (button === stop) await settings.setAgentsEnabled(false);
}
