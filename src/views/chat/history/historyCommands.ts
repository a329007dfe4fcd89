import * as vscode from 'vscode';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { renderNodeId, type NodeId } from '../../../agent/session/conversation/nodeId.ts';
import { LEFT } from '../../../agent/session/conversation/validateRevert.ts';
import type { Session } from '../../../agent/session/session.ts';
import { shortList, withoutIcons } from '../../plainText.ts';
import type { Agent } from '../../agent.ts';
import { confirm, showInfo, showWarning } from '../../toast.ts';
import { revertTargetOf } from './branches.ts';
import type { Ctx } from '../../ctx.ts';

/** How long the status bar shows where the conversation continues, in milliseconds. */
const STATUS_MS = 6_000;
/** The most messages that the list offers. */
const MAX_PICKS = 200;

/** Reverts to a message or, for a prompt, to before it and puts its text back into the input. Asks for one if none is given. */
export async function revert({ session, chat }: Ctx, args: readonly unknown[]): Promise<void> {
  const [given] = args;
  const node = nodeOf(given) ?? (await pickNode(session));
  const message = node === undefined ? undefined : session.tree.get(node)?.message;
  if (node === undefined || !message) return;
  const target = revertTargetOf(session.tree, node);
  // An abandoned prompt may directly follow the current message: there is nothing to revert, but its text is put back.
  const isThere = session.tree.active === target && message.role === 'user';
  if (!isThere && !(await revertTo(session, target))) return;
  if (message.role !== 'user') return;
  const view = await chat.view();
  await view.focus();
  view.putBack([{ text: message.text, attachments: message.attachments ?? [] }]);
}

/** Deletes the contents of all resolved previews, if the user agrees. */
export async function clearHistory({ store }: Agent): Promise<void> {
  // What is decided while the question is open stays. Earlier decisions may have been made while the clock was ahead.
  const endOf = ({ state, stagedAt }: Preview): number => Date.parse('by' in state ? state.by.at : stagedAt);
  const until = store.all().reduce((last, each) => Math.max(last, endOf(each) + 1), Date.now());
  const agreed = await confirm(
    vscode.l10n.t('Delete the content of all previews that are decided?'),
    vscode.l10n.t(
      'You can no longer undo or reopen them. The ledger still shows who decided what, when and why.',
    ),
    vscode.l10n.t('Clear History'),
  );
  if (!agreed) return;
  const damaged = await store.forgetResolved(new Date(until));
  if (damaged.length > 0)
    void showWarning(
      vscode.l10n.t(
        'The history is cleared. The contents of these previews are missing or damaged in the storage and were left alone: {0}.',
        shortList(damaged),
      ),
    );
}

/** Reverts to before the last prompt, and sends it again. The old answer stays as a branch. */
export async function retry({ session }: Ctx): Promise<void> {
  const { tree } = session;
  const node = tree.trunk.findLast(id => tree.get(id)?.message.role === 'user');
  const message = node === undefined ? undefined : tree.get(node)?.message;
  if (node === undefined || message?.role !== 'user') {
    void showInfo(vscode.l10n.t('This session has no prompt yet.'));
    return;
  }
  const reverted = revertTo(session, revertTargetOf(tree, node));
  const { moment } = session.queue;
  if (await reverted) await session.prompt(message.text, message.attachments ?? [], moment);
}

/** Switches to the branch that contains a message. */
export async function switchBranch({ session }: Ctx, args: readonly unknown[]): Promise<void> {
  const node = nodeOf(args[0]);
  if (node !== undefined && session.tree.has(node)) await revertTo(session, session.tree.tipOf(node));
}

/** @returns false if the conversation was left meanwhile, or is already there, in which case the user is told */
async function revertTo(session: Session, target: NodeId | null): Promise<boolean> {
  const { applied, reason, abandonedNodeIds } = await session.revert({
    category: null,
    target,
    summary: null,
  });
  if (!applied) {
    if (reason !== LEFT) void showInfo(vscode.l10n.t('The conversation is already there.'));
    return false;
  }
  const text =
    abandonedNodeIds.length === 0
      ? vscode.l10n.t('The conversation continues from here.')
      : vscode.l10n.t('Later messages are kept as a branch in History.');
  void vscode.window.setStatusBarMessage(text, STATUS_MS);
  return true;
}

async function pickNode(session: Session): Promise<NodeId | undefined> {
  const { tree } = session;
  const picks: (vscode.QuickPickItem & { readonly node: NodeId })[] = [];
  for (const node of [...tree.trunk].reverse()) {
    const message = tree.get(node)?.message;
    if (message?.role !== 'user' && (message?.role !== 'assistant' || node === tree.active)) continue;
    const text = withoutIcons(message.text);
    if (text === '') continue;
    const isPrompt = message.role === 'user';
    picks.push({
      label: `$(${isPrompt ? 'account' : 'sparkle'}) ${text}`,
      description: isPrompt ? vscode.l10n.t('before this prompt') : renderNodeId(node),
      node,
    });
    if (picks.length === MAX_PICKS) break;
  }
  if (picks.length === 0) {
    void showInfo(vscode.l10n.t('This session has no messages yet.'));
    return undefined;
  }
  const placeHolder = vscode.l10n.t(
    'Revert to which message? Later messages are kept as a branch in History.',
  );
  const picked = await vscode.window.showQuickPick(picks, { placeHolder });
  // In another conversation, which may be open by now, it would be another message.
  return session.tree === tree ? picked?.node : undefined;
}

/** The node that an argument names. Menus pass the row itself, other callers its number. */
function nodeOf(given: unknown): NodeId | undefined {
  const node = typeof given === 'object' && given !== null && 'node' in given ? given.node : given;
  return typeof node === 'number' && Number.isSafeInteger(node) ? node : undefined;
}
