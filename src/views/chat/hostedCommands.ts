import * as vscode from 'vscode';
import type { ResolveAction } from '../../agent/preview/preview.ts';
import type { Resolved } from '../../agent/preview/resolve/resolved.ts';
import type { Agent } from '../agent.ts';
import type { CommandArguments, CommandId } from '../contributions.ts';
import type { ProposalEdits } from '../review/documents/proposalEdits.ts';
import type { ReviewTally } from '../review/reviewTally.ts';
import type { ModeSwitch } from '../settings.ts';
import type { ModelInfo } from './chatFeed.ts';
import { LocalCommands } from './localCommands.ts';

/** What the chats work with. */
export interface ChatCtx extends Agent {
  readonly extensionUri: vscode.Uri;
  readonly mode: ModeSwitch;
  readonly model: () => ModelInfo;
  readonly edits: ProposalEdits;
  readonly reviewDone: ReviewTally;
  /** The preview in the active editor. */
  readonly activePreviewId: () => string | undefined;
  /** The oldest revision of a preview that an editor shows; `undefined` if none shows it. */
  readonly shownRevision: (id: string) => number | undefined;
  /** Called before a prompt is sent. */
  readonly onWillPrompt: () => void;
  /** Called when the chat panel gets the focus. */
  readonly onDidFocus: () => void;
  readonly execute: <K extends CommandId>(id: K, ...args: CommandArguments[K]) => Thenable<unknown>;
}

/**
 * The slash commands that need no model, run by the same commands as keys and menus.
 * @param tell tells an answer whose conversation is no longer open.
 */
export function hostedCommands(options: ChatCtx, tell: (answer: string) => void): LocalCommands {
  const { store, session, execute } = options;
  return new LocalCommands({
    ...options,
    tell,
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
  { execute }: ChatCtx,
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
