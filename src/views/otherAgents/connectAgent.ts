import * as vscode from 'vscode';
import { english, type Localiser, type Sentence } from '../../agent/base/localiser.ts';
import { knownAgents, type KnownAgent } from '../../agent/clients/setUp/knownAgents.ts';
import { setUpText } from '../../agent/clients/setUp/setUpText.ts';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import type { Overlay } from '../../agent/preview/overlay.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { queueResolveHandler } from '../../agent/preview/queueResolveHandler.ts';
import type { Invoker } from '../../agent/preview/resolve/invoker.ts';
import type { PreviewOpener } from '../review/previewOpener.ts';
import type { Settings } from '../settings.ts';
import { showError, showInfo } from '../toast.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import { bridgeFile } from './agentServer.ts';
import type { OtherAgents } from './otherAgents.ts';
import { SetUpFolder } from './setUpFolder.ts';
import { SetUpRecords } from './setUpRecords.ts';
import { setUpSentence } from './setUpSentences.ts';

export interface ConnectAgentOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly overlay: Overlay;
  readonly l10n: Localiser;
  readonly workspace: VsCodeWorkspace;
  readonly settings: Settings;
  readonly opener: PreviewOpener;
  readonly globalStorage: vscode.Uri;
  readonly globalState: vscode.Memento;
  readonly otherAgents: Pick<OtherAgents, 'followed'>;
}

/** An agent in a folder. */
interface Place {
  readonly agent: KnownAgent;
  readonly folder: SetUpFolder;
}

/**
 * Stages what connects an agent in a folder of the workspace, and opens it: changes of the agent's configuration there, which only
 * the user can apply. For any other MCP client it shows the steps.
 * @param args the id of an agent, and the URI of a workspace folder; it asks for what is missing.
 * @returns the id of the preview, if there is something to change.
 */
export async function connectAgent(
  options: ConnectAgentOptions,
  args: readonly unknown[],
): Promise<string | undefined> {
  const [id, uri] = args;
  const agent = knownAgents.find(each => each.id === id) ?? (id === 'other' ? id : await pickAgent());
  if (agent === 'other') return void (await showSteps(options));
  const folder = agent && (await chooseFolder(foldersOf(options), uri));
  if (!folder) return undefined;
  return refusing(async () => {
    const changes = await folder.connecting(agent, bridgeFile(options.globalStorage));
    if (changes.length > 0) return stage(options, connecting(agent), folder, changes);
    await options.settings.setAgentsEnabled(true);
    return void showInfo(
      vscode.l10n.t('{0} is already set up in {1}: there is nothing to change.', agent.name, folder.name),
    );
  });
}

/**
 * Stages what removes from an agent's configuration what Redline added, and opens it.
 * @param args the id of an agent, and the URI of a workspace folder; it asks for what is missing.
 * @returns the id of the preview, if there is something to change.
 */
export async function disconnectAgent(
  options: ConnectAgentOptions,
  [id, uri]: readonly unknown[],
): Promise<string | undefined> {
  await options.otherAgents.followed;
  const connected = await connectedIn(foldersOf(options));
  const meant = connected.filter(
    ({ agent, folder }) =>
      (id === undefined || agent.id === id) && (uri === undefined || folder.uri.toString() === uri),
  );
  if (meant.length === 0) return void showInfo(vscode.l10n.t('No agent is connected in the open folders.'));
  const place = meant.length === 1 && id !== undefined ? meant[0] : await pickPlace(meant);
  if (!place) return undefined;
  const { agent, folder } = place;
  return refusing(async () => {
    const changes = await folder.disconnecting(agent);
    const unknown = await folder.unknownRestrictions(agent);
    if (changes.length === 0) {
      await folder.forget(agent);
      return void showInfo(
        vscode.l10n.t(
          'Nothing from Redline is left in the configuration of {0} in {1}.',
          agent.name,
          folder.name,
        ),
      );
    }
    const preview = await stage(options, disconnecting(agent), folder, changes);
    if (unknown.length > 0)
      void showInfo(
        vscode.l10n.t(
          'Redline has no record of who disabled the edit tools of {0} in {1}, and leaves them disabled.',
          agent.name,
          unknown.join(', '),
        ),
      );
    return preview;
  });
}

/** Ends all connections; what was proposed stays pending, and the configuration of the agents stays as it is. */
export async function disconnectAllAgents({ settings }: ConnectAgentOptions): Promise<void> {
  await settings.setAgentsEnabled(false);
  void showInfo(
    vscode.l10n.t(
      'Agents in other programs can no longer connect to Redline. What they proposed stays pending.',
    ),
  );
}

async function showSteps({ settings, globalStorage }: ConnectAgentOptions): Promise<void> {
  await settings.setAgentsEnabled(true);
  const content = setUpText(bridgeFile(globalStorage));
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
  await vscode.window.showTextDocument(document);
}

function connecting({ name }: KnownAgent): Sentence {
  return l10n => l10n.t('Connect {0}', name);
}

function disconnecting({ name }: KnownAgent): Sentence {
  return l10n => l10n.t('Disconnect {0}', name);
}

/** Stages a preview that belongs to no conversation, so that no model and no agent can vote on it, or finds it pending. */
async function stage(
  { opener, ...host }: ConnectAgentOptions,
  what: Sentence,
  { prefix }: SetUpFolder,
  changes: readonly FileChange[],
): Promise<string> {
  const title: Sentence = l10n => (prefix === '' ? what(l10n) : `${what(l10n)}: ${prefix}`);
  const label = title(english);
  const same = host.store.all().find(preview => preview.label === label && isCurrent(preview, changes));
  if (same) {
    await opener.open(same);
    return same.id;
  }
  const { preview, stored } = queueResolveHandler(
    host,
    { label, title, sourceToolName: 'connect_agent', purpose: 'setUp', changes, humanOnly: true },
    null,
  );
  await stored;
  await opener.open(preview);
  return preview.id;
}

/** Whether a pending preview makes these changes. */
function isCurrent({ purpose, state, changes }: Preview, wanted: readonly FileChange[]): boolean {
  const hashes = (of: readonly FileChange[]): string =>
    of.map(({ path, before, after }) => [path, before?.hash, after?.hash].join()).join();
  return purpose === 'setUp' && state.kind === 'pending' && hashes(changes ?? []) === hashes(wanted);
}

/** Says why a configuration file is not changed; any other error is for the boundary of the commands. */
async function refusing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const sentence = setUpSentence(error);
    if (sentence === undefined) throw error;
    return void showError(sentence);
  }
}

function foldersOf({ workspace, globalState }: ConnectAgentOptions): readonly SetUpFolder[] {
  return SetUpFolder.all(workspace, new SetUpRecords(globalState));
}

async function connectedIn(folders: readonly SetUpFolder[]): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (const folder of folders)
    for (const agent of knownAgents) if (await folder.has(agent)) places.push({ agent, folder });
  return places;
}

async function chooseFolder(folders: readonly SetUpFolder[], uri: unknown): Promise<SetUpFolder | undefined> {
  const [first, ...others] = folders;
  if (!first)
    return void showInfo(
      vscode.l10n.t('Open the folder in which the agent works first: its configuration is written there.'),
    );
  if (uri !== undefined) return folders.find(folder => folder.uri.toString() === uri);
  if (others.length === 0) return first;
  const items = folders.map(folder => ({ label: folder.prefix, description: folder.uri.fsPath, folder }));
  const title = vscode.l10n.t('Connect in which folder?');
  return (await vscode.window.showQuickPick(items, { title }))?.folder;
}

async function pickAgent(): Promise<KnownAgent | 'other' | undefined> {
  const items = [
    ...knownAgents.map(agent => ({
      label: agent.name,
      description: agent.files.map(({ names }) => names.at(-1)).join(', '),
      agent,
    })),
    {
      label: vscode.l10n.t('Any MCP client'),
      description: vscode.l10n.t('shows the steps'),
      agent: 'other' as const,
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Connect an agent'),
    placeHolder: vscode.l10n.t(
      'Its changes are then held back here. You first see what will be written, and where.',
    ),
  });
  return picked?.agent;
}

async function pickPlace(places: readonly Place[]): Promise<Place | undefined> {
  const items = places.map(place => ({ label: place.agent.name, description: place.folder.name, place }));
  const title = vscode.l10n.t('Disconnect an agent');
  return (await vscode.window.showQuickPick(items, { title }))?.place;
}
