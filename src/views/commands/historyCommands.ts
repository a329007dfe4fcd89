import * as vscode from 'vscode';
import type { Session } from '../../agent/session/session.ts';
import { renderNodeId, type NodeId } from '../../agent/tree/nodeId.ts';
import type { LazyChatView } from '../chat/lazyChatView.ts';
import { placeOf } from '../history/historyRows.ts';
import { withoutIcons } from '../plainText.ts';
import { showInfo } from '../toast.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface HistoryCommandsOptions {
  readonly session: Session;
  readonly chat: Pick<LazyChatView, 'putBack' | 'show'>;
}

/** How long the status bar says where the conversation is now, in milliseconds. */
const SAID_MS = 6_000;
/** The most messages that can be picked from. */
const MAX_PICKS = 200;

/** Going back, going over to another branch, and finding a message in the chat. */
export function historyCommands({ session, chat }: HistoryCommandsOptions): CommandHandlers {
  return {
    'redline.session.revert': async (...args) => {
      if (isLostRow(args)) return tellLostRow();
      const [given] = args;
      if (isStart(given)) return void (await go(session, null));
      const node = nodeOf(given) ?? (await pickNode(session));
      const message = node === undefined ? undefined : session.tree.get(node)?.message;
      if (node === undefined || !message) return;
      const { target } = placeOf(session.tree, node);
      // An abandoned prompt may follow right where the conversation is: its text is wanted all the same.
      const isThere = session.tree.active === target && message.role === 'user';
      if (!isThere && !(await go(session, target))) return;
      if (message.role === 'user') await chat.putBack(message.text, message.attachments ?? []);
    },
    'redline.history.switchBranch': async (...args) => {
      if (isLostRow(args)) return tellLostRow();
      const node = nodeOf(args[0]);
      if (node !== undefined && session.tree.has(node)) await go(session, session.tree.tipOf(node));
    },
    'redline.history.show': async given => {
      const node = nodeOf(given);
      if (node !== undefined) await chat.show(shownNode(session, node));
    },
  };
}

/** Whether the conversation is there now. */
async function go(session: Session, target: NodeId | null): Promise<boolean> {
  const { applied, abandonedNodeIds } = await session.revert({ category: null, target, summary: null });
  if (!applied) {
    void showInfo(vscode.l10n.t('The conversation is there already.'));
    return false;
  }
  const place = target === null ? vscode.l10n.t('the beginning') : renderNodeId(target);
  const count = abandonedNodeIds.length;
  const text =
    count === 0
      ? vscode.l10n.t('The conversation goes on from {0}.', place)
      : vscode.l10n.t('The conversation goes on from {0}. What came after it is a branch in History.', place);
  void vscode.window.setStatusBarMessage(text, SAID_MS);
  return true;
}

/** A result is shown with the answer that asked for it. */
function shownNode({ tree }: Session, node: NodeId): NodeId {
  let shown = tree.get(node);
  while (shown?.message.role === 'tool' && shown.parentId !== null) shown = tree.get(shown.parentId);
  return shown?.id ?? node;
}

async function pickNode({ tree }: Session): Promise<NodeId | undefined> {
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
    void showInfo(vscode.l10n.t('Nothing was said yet.'));
    return undefined;
  }
  const placeHolder = vscode.l10n.t('Revert to which message? What comes after it stays in History.');
  return (await vscode.window.showQuickPick(picks, { placeHolder }))?.node;
}

/** The message that a row, or another caller, means. Menus pass the row itself. */
function nodeOf(given: unknown): NodeId | undefined {
  const node = typeof given === 'object' && given !== null && 'node' in given ? given.node : given;
  return typeof node === 'number' && Number.isSafeInteger(node) ? node : undefined;
}

/** VS Code names no row that was being drawn anew while it was clicked on, because a message came. */
function isLostRow(args: readonly unknown[]): boolean {
  return args.length > 0 && args[0] === undefined;
}

function tellLostRow(): void {
  void showInfo(vscode.l10n.t('That row was just being drawn anew. Please try it again.'));
}

function isStart(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'kind' in given && given.kind === 'start';
}
