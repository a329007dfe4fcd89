import * as vscode from 'vscode';
import { commandOf } from '../../../agent/sandbox/commands/plannedCommand.ts';
import { execute } from '../../commandRegistry.ts';
import type { Ctx } from '../../ctx.ts';
import { sandboxSentence } from '../../texts/sandboxWords.ts';
import { showInfo, showWarning } from '../../toast.ts';

/** Shows the state of the sandbox, and who starts commands in it. */
export async function showSandbox(ctx: Ctx): Promise<void> {
  const { l10n } = vscode;
  const { hosts, sandboxes, sandboxLeave } = ctx;
  const status = await sandboxes.status();
  const always = { label: l10n.t('Always Run in the Sandbox Here'), run: () => sandboxLeave.give() };
  const ask = { label: l10n.t('Ask Before Each Command Here'), run: () => sandboxLeave.withdraw() };
  const reset = { label: l10n.t('Reset the Sandbox'), run: () => resetSandbox(ctx) };
  const forget = { label: l10n.t('Ask Again About Hosts'), run: async () => (await hosts()).forget() };
  const settings = {
    label: l10n.t('Open Settings'),
    run: () => vscode.commands.executeCommand('workbench.action.openSettings', 'redline.sandbox'),
  };
  const choice = status.isolated ? [sandboxLeave.isGivenHere ? ask : always] : [];
  const picked = await vscode.window.showQuickPick([...choice, reset, forget, settings], {
    title: l10n.t('Redline: Sandbox'),
    placeHolder: sandboxSentence(status),
  });
  await picked?.run();
}

/** Resets the files that git ignores in this conversation's sandbox to those on disk, unless a command runs in it. */
async function resetSandbox({ sandboxes, session }: Ctx): Promise<void> {
  const { l10n } = vscode;
  const sandbox = await sandboxes.of(session.id);
  if (!sandbox) return void showInfo(sandboxSentence(await sandboxes.status()));
  if (sandbox.isBusy) return void showWarning(l10n.t('A command is running in the sandbox. Stop it first.'));
  await sandbox.reset();
  showInfo(l10n.t('The sandbox was reset: ignored files are as on disk.'));
}

/** Lets the agent run commands on its own in this workspace's isolated sandbox, and runs the command whose card was clicked. */
export async function alwaysRunHere(
  { sandboxLeave, store }: Ctx,
  [id, revision]: readonly unknown[],
): Promise<void> {
  const preview = typeof id === 'string' ? store.get(id) : undefined;
  if (!preview || commandOf(preview)?.sandbox?.isolated !== true) return;
  await sandboxLeave.give();
  await execute('redline.preview.apply', preview.id, '', typeof revision === 'number' ? revision : undefined);
}

/** Proposes a sandboxed preview's command for the disk. It needs its own click. */
export async function runOnDisk({ session, store }: Ctx, [id]: readonly unknown[]): Promise<void> {
  const preview = typeof id === 'string' ? store.get(id) : undefined;
  const plan = preview && commandOf(preview);
  if (!plan) return;
  const { moment } = session.queue;
  await execute('redline.chat.focus');
  const { command, folder: cwd } = plan;
  await session.prompt(`/call run_command ${JSON.stringify({ command, cwd, onDisk: true })}`, [], moment);
}
