import * as vscode from 'vscode';
import type { LazyChatView } from '../chat/lazyChatView.ts';
import type { CommandHandlers } from './registerCommand.ts';

/** Commands that lead into the chat. */
export function chatCommands(chat: LazyChatView): CommandHandlers {
  return {
    // The explorer passes the clicked file and all selected ones; an editor only its own, which is the active one.
    'redline.chat.attach': (_clicked, selected) =>
      chat.attach(Array.isArray(selected) ? selected.filter(uri => uri instanceof vscode.Uri) : []),
  };
}
