import * as vscode from 'vscode';
import type { ResolveAction } from '../../agent/preview/preview.ts';
import type { Resolved } from '../../agent/preview/resolve/resolved.ts';
import type { ChatViewOptions } from './chatView.ts';
import { LocalCommands } from './localCommands.ts';

/** The slash commands that need no model, run by the same commands as keys and menus. */
export function hostedCommands(options: ChatViewOptions): LocalCommands {
  const { store, session, execute } = options;
  return new LocalCommands({
    ...options,
    l10n: vscode.l10n,
    vote: (action, id, reason, revision) => voteByCommand(options, action, id, reason, revision),
    open: id => execute('redline.preview.open', id),
    nameOf: file => vscode.workspace.asRelativePath(file),
    discardAll: async () => {
      if (!store.hasPending) return undefined;
      const discarded = await execute('redline.preview.discardAll');
      return typeof discarded === 'number' ? discarded : 0;
    },
    revert: request => session.revert(request),
  });
}

/**
 * Runs the command of the Apply or Discard button for the revision that was seen.
 * @returns how the vote ended; nothing if there was none.
 */
export function voteByCommand(
  { execute }: Pick<ChatViewOptions, 'execute'>,
  action: ResolveAction,
  id: string,
  reason: string | undefined,
  revision: number,
): Thenable<Resolved['kind'] | undefined> {
  const voted =
    action === 'apply'
      ? execute('redline.preview.apply', id, reason, revision)
      : execute('redline.preview.discard', id, reason, revision);
  return voted as Thenable<Resolved['kind'] | undefined>;
}
