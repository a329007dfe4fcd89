import * as vscode from 'vscode';
import type { ResolveAction } from '../../agent/hold/preview/preview.ts';
import type { Resolved } from '../../agent/hold/preview/resolve/resolved.ts';
import type { Agent } from '../agent.ts';
import type { CommandArguments, CommandId } from '../contributions.ts';
import type { ProposalEdits } from '../review/documents/proposalEdits.ts';
import type { ReviewList } from '../review/reviewList.ts';
import type { ReviewTally } from '../review/reviewTally.ts';
import type { ModeSwitch } from '../settings.ts';
import type { ModelInfo } from './chatFeed.ts';
import { LocalCommands } from './localCommands.ts';
import type { WebviewMessage } from './protocol.ts';

/** Dependencies of the chats. */
export interface ChatCtx extends Agent {
  readonly extensionUri: vscode.Uri;
  readonly mode: ModeSwitch;
  readonly model: () => ModelInfo;
  readonly edits: ProposalEdits;
  readonly review: ReviewList;
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
 * @param tell shows an answer whose conversation is no longer open.
 */
export function hostedCommands(options: ChatCtx, tell: (answer: string) => void): LocalCommands {
  const { store, execute } = options;
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

type Execute = ChatCtx['execute'];
type MessageType = WebviewMessage['type'];

/** Messages of the chat page that each stand for one command. */
const COMMANDS = {
  stop: run => run('redline.session.stop'),
  open: (run, { id, path }) => run('redline.preview.open', id, path),
  alwaysRunHere: (run, { id, revision }) => run('redline.sandbox.alwaysRunHere', id, revision),
  runOnDisk: (run, { id }) => run('redline.sandbox.runOnDisk', id),
  runChecks: (run, { id }) => run('redline.checks.run', id),
  checkOutput: (run, { result }) => run('redline.checks.showOutput', result),
  rebase: (run, { id }) => run('redline.preview.rebase', id),
  undo: (run, { id }) => run('redline.preview.undo', id),
  reopen: (run, { id }) => run('redline.preview.reopen', id),
  openTurn: (run, { ids }) => run('redline.preview.openAll', ids, vscode.l10n.t('Changes of One Turn')),
  more: (run, { ids }) => run('redline.preview.more', ids),
  undoTurn: (run, { ids }) => run('redline.preview.undoTurn', ids),
  edit: (run, { id }) => run('redline.preview.edit', id),
  revert: (run, { node }) => run('redline.session.revert', node),
  retry: run => run('redline.session.retry'),
  continue: run => run('redline.session.continue'),
  propose: (run, { path, code }) => run('redline.chat.proposeCode', path, code),
  action: (run, { name }) => {
    if (name === 'manageTrust') return vscode.commands.executeCommand('workbench.trust.manage');
    return run(`redline.${name}`);
  },
} satisfies {
  readonly [T in MessageType]?: (run: Execute, message: WebviewMessage & { type: T }) => Thenable<unknown>;
};

/** Runs the command that a message of the chat page stands for. */
export function runForPage(
  message: Extract<WebviewMessage, { type: keyof typeof COMMANDS }>,
  execute: Execute,
): Thenable<unknown> {
  const command = COMMANDS[message.type] as (run: Execute, message: WebviewMessage) => Thenable<unknown>;
  return command(execute, message);
}
