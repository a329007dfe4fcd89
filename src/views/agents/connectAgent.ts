import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { messageOf, PathError, ToolError } from '../../agent/base/errors.ts';
import type { Sentence } from '../../agent/base/localiser.ts';
import { programCall } from '../../agent/base/system/programCall.ts';
import { agentHolds, IN_VIEW, shellHold } from '../../agent/clients/setUp/agentHolds.ts';
import { connectedText } from '../../agent/clients/setUp/connectedText.ts';
import { SetUpRefusal } from '../../agent/clients/setUp/jsonConfig.ts';
import { knownAgents, type ConfigFile, type KnownAgent } from '../../agent/clients/setUp/knownAgents.ts';
import { claudeGrants, grantsText, isNewer } from '../../agent/clients/setUp/ownGrants.ts';
import { setUpText } from '../../agent/clients/setUp/setUpText.ts';
import { changeOf, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import { queueResolveHandler } from '../../agent/hold/preview/queueResolveHandler.ts';
import { assertCanHoldFile, proposedSide, readText } from '../../agent/hold/preview/textFile.ts';
import type { Ctx } from '../ctx.ts';
import { sentenceFor } from '../texts/errorSentence.ts';
import { showError, showInfo } from '../toast.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import { programFile } from './agentServer.ts';
import { installedAgents, openAgentTerminal } from './agentTerminal.ts';

/** Time limit for a program to print its version, in milliseconds. */
const VERSION_MS = 5_000;

/** A workspace folder; workspace paths begin with its name if several are open. */
type Folder = ReturnType<VsCodeWorkspace['folders']>[number] & { readonly prefix: string };

/**
 * Stages the changes to an agent's configuration that connect it in a workspace folder, and opens them; only the user can apply
 * them. For any other MCP client, and where a file cannot be changed safely, it shows the steps.
 * @param args the id of an agent, and the URI of a workspace folder; it asks for missing ones.
 * @returns the id of the preview, if there is something to change.
 */
export async function connectAgent(ctx: Ctx, [id, uri]: readonly unknown[]): Promise<string | undefined> {
  const agent = knownAgents.find(each => each.id === id) ?? (id === 'other' ? id : await pickAgent());
  if (agent === 'other') return showSteps(ctx, undefined);
  if (agent && 'program' in agent) {
    await openAgentTerminal(ctx, [agent.program, uri]);
    return undefined;
  }
  const folder = agent && (await chooseFolder(ctx.workspace, uri));
  if (!folder) return undefined;
  try {
    const changes = await changesFor(agent, folder, ctx);
    if (changes.length > 0) return await stage(ctx, agent, folder, changes);
  } catch (error) {
    const sentence = refusalSentence(error);
    if (sentence === undefined) throw error;
    const steps = vscode.l10n.t('Show Steps');
    void showError(`${sentence} ${vscode.l10n.t('Nothing was changed.')}`, steps).then(button =>
      button === steps ? showSteps(ctx, agent) : undefined,
    );
    return undefined;
  }
  await ctx.settings.setAgentsEnabled(true);
  const name = path.basename(folder.fsPath);
  void showInfo(vscode.l10n.t('{0} is already set up in {1}: there is nothing to change.', agent.name, name));
  return undefined;
}

/** Closes all connections; proposals stay pending, and the agents' configuration stays as it is. */
export async function disconnectAllAgents({ settings }: Ctx): Promise<void> {
  await settings.setAgentsEnabled(false);
  void showInfo(
    vscode.l10n.t(
      'Agents in other programs can no longer connect to Redline. What they proposed stays pending.',
    ),
  );
}

async function showSteps(ctx: Ctx, agent: KnownAgent | undefined): Promise<undefined> {
  const { settings, globalStorage } = ctx;
  await settings.setAgentsEnabled(true);
  const content = await setUpText(agent, programFile(globalStorage, 'redline-mcp'));
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
  await vscode.window.showTextDocument(document);
  if (agent) return;
  const { l10n } = vscode;
  const open = l10n.t('Open Agent Terminal');
  const told = l10n.t('Its own tools still write. In an agent terminal, all that it writes waits for you.');
  void showInfo(told, open).then(button => (button === open ? openAgentTerminal(ctx, []) : undefined));
}

/** Stages a preview that belongs to no conversation, so that no model and no agent can vote on it, or finds it pending. */
async function stage(
  { opener, ...host }: Ctx,
  agent: KnownAgent,
  { prefix, fsPath }: Folder,
  changes: readonly FileChange[],
): Promise<string> {
  const { name, shell } = agent;
  const suffix = prefix === '' ? '' : `: ${prefix}`;
  const label = `Connect ${name}${suffix}`;
  const title: Sentence = l10n => `${l10n.t('Connect {0}', name)}${suffix}`;
  const pending = () =>
    [...host.store.open].find(preview => preview.purpose === 'setUp' && preview.label === label);
  const details = pending() ? '' : [...(await notesOn(agent, fsPath)), shell(host.l10n)].join(' ');
  const same = pending(); // perhaps of a second click meanwhile
  if (same) {
    await opener.open(same);
    return same.id;
  }
  const { preview, stored } = queueResolveHandler(
    host,
    {
      label,
      title,
      changes,
      sourceToolName: 'connect_agent',
      purpose: 'setUp',
      humanOnly: true,
      details,
    },
    null,
  );
  await stored;
  await opener.open(preview);
  return preview.id;
}

/** Warnings about edits that Redline cannot hold back, given how the agent is set up on this machine. */
async function notesOn({ id, name }: KnownAgent, folder: string): Promise<readonly string[]> {
  const { l10n } = vscode;
  const notes = id === 'claude' ? grantsText(await claudeGrants(folder, homedir()), l10n) : [];
  const tried = agentHolds.find(each => each.name === name)?.version ?? '';
  const told = tried === '' ? '' : await versionOf(id);
  if (!isNewer(told, tried)) return notes;
  return [...notes, l10n.t('Yours is newer than the version that this was tried with, {0}.', tried)];
}

/** Output of `program --version`, run outside the workspace; empty if it fails. */
function versionOf(program: string): Promise<string> {
  const call = programCall(program, ['--version'], homedir(), process.env);
  const { isVerbatim: windowsVerbatimArguments } = call;
  return new Promise(resolve => {
    const options = { cwd: homedir(), timeout: VERSION_MS, windowsHide: true, windowsVerbatimArguments };
    execFile(call.program, call.args, options, (_, text) => resolve(text));
  });
}

/** @throws SetUpRefusal, ToolError or PathError if a file cannot be changed safely. */
async function changesFor(
  { files }: KnownAgent,
  { prefix }: Folder,
  { workspace, globalStorage }: Ctx,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = [];
  for (const file of files) {
    const { at, side } = await find(file, prefix, workspace);
    const text = await connectedText(file, at, side?.text ?? null, programFile(globalStorage, 'redline-mcp'));
    if (!side) await assertCanHoldFile(workspace, at);
    const change = changeOf(at, side, await proposedSide(workspace, at, side, text));
    if (change) changes.push(change);
  }
  return changes;
}

/** The file under its first possible name that exists, else under the last one. */
async function find({ names }: ConfigFile, prefix: string, workspace: VsCodeWorkspace) {
  for (const name of names.slice(0, -1)) {
    const at = await workspace.resolvePath(path.posix.join(prefix, name));
    const side = await readText(workspace, at);
    if (side) return { at, side };
  }
  const at = await workspace.resolvePath(path.posix.join(prefix, names.at(-1) ?? ''));
  return { at, side: await readText(workspace, at) };
}

/** Reason why a configuration file is not changed; `undefined` for any other error. */
function refusalSentence(error: unknown): string | undefined {
  const { l10n } = vscode;
  if (error instanceof PathError) return sentenceFor(error, l10n);
  if (error instanceof ToolError) return messageOf(error);
  if (!(error instanceof SetUpRefusal)) return undefined;
  const { file, place } = error;
  return place
    ? l10n.t('{0} is not valid at line {1}, column {2}. Correct it first.', file, place.line, place.column)
    : l10n.t('{0} is written in a way that Redline cannot change safely. Change it by hand.', file);
}

async function chooseFolder(workspace: VsCodeWorkspace, uri: unknown): Promise<Folder | undefined> {
  const open = workspace.folders();
  const folders = open.map(folder => ({ ...folder, prefix: open.length > 1 ? folder.name : '' }));
  const [first, ...others] = folders;
  if (!first)
    return void showInfo(
      vscode.l10n.t('First open the folder that the agent works in: its configuration is written there.'),
    );
  if (uri !== undefined) return folders.find(({ fsPath }) => vscode.Uri.file(fsPath).toString() === uri);
  if (others.length === 0) return first;
  const items = folders.map(folder => ({ label: folder.prefix, description: folder.fsPath, folder }));
  const title = vscode.l10n.t('Connect in which folder?');
  return (await vscode.window.showQuickPick(items, { title }))?.folder;
}

/** Summary of which writes of a connected agent wait for approval, over all its modes. */
export function holdsText(name: string): string {
  const { l10n } = vscode;
  const { modes = [] } = agentHolds.find(each => each.name === name) ?? {};
  const connected = modes.filter(({ mode }) => mode !== IN_VIEW);
  const writes = connected.filter(mode => mode.edits === 'writes' || shellHold(mode) === 'writes');
  const asks = connected.some(mode => shellHold(mode) === 'asks');
  return [
    l10n.t('Edits wait here.'),
    asks ? l10n.t('Its shell asks first.') : l10n.t('So do writes by its shell.'),
    ...(writes.length > 0
      ? [l10n.t('Not held: {0}.', writes.map(({ mode }) => modeText(mode)).join(', '))]
      : []),
  ].join(' ');
}

/** The mode's name in its program, translated if the mode is a place to start the agent in. */
function modeText(mode: string): string {
  if (mode === 'in a subfolder without git') return vscode.l10n.t('in a subfolder without git');
  return mode === 'in another worktree' ? vscode.l10n.t('in another worktree') : mode;
}

/** @returns the program of the agent to start, or the agent to connect */
async function pickAgent(): Promise<KnownAgent | 'other' | { readonly program: string } | undefined> {
  const { l10n } = vscode;
  const found = await installedAgents();
  const items = [
    ...found.map(({ name, program }) => ({
      label: l10n.t('Start {0} Here', name),
      description: program,
      detail: l10n.t(
        'What it writes in its view of the workspace waits here, by its edit tools or by its shell.',
      ),
      agent: { program },
    })),
    ...knownAgents.map(agent => ({
      label: l10n.t('Connect {0}', agent.name),
      description: agent.files.map(({ names }) => names.at(-1)).join(', '),
      detail: holdsText(agent.name),
      agent,
    })),
    {
      label: l10n.t('Connect Another…'),
      description: l10n.t('shows the steps'),
      detail: l10n.t('Its own tools still write.'),
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
