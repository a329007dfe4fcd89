/**
 * The extension's public names, each declared once: command ids with their argument types, context keys, views and URI
 * schemes. Setting keys are in `settings.ts`. A test checks all of them against package.json.
 */
import type { Comment, CommentReply, Uri } from 'vscode';
import type { SeenRevisions } from '../agent/hold/preview/preview.ts';
import type { ConflictChoice } from '../agent/hold/preview/rebase/conflictMarkers.ts';

export const EXTENSION_ID = 'redline.redline';

/** The controller of comments on lines of previews, and the key of the workspace state that stores them. */
export const COMMENTS = 'redline.comments';

/** Key in the workspace state for the previews that are in front. */
export const IN_FRONT = 'redline.inFront';

/** Authority: the preview id. Path: the URI path of the file itself. `?base`: the base side instead of the proposal. */
export const PREVIEW_SCHEME = 'redline-preview';

/** The ledger as a read-only document. */
export const LEDGER_SCHEME = 'redline-ledger';

/** Texts that are shown as read-only documents, and never stored. */
export const TEXT_SCHEME = 'redline-text';

export const views = {
  container: 'redline',
  chat: 'redline.chat',
  pending: 'redline.pending',
  history: 'redline.history',
} as const;

export const contextKeys = {
  hasPending: 'redline.hasPending',
  /** Something is pending that Apply All applies. */
  canApplyAll: 'redline.canApplyAll',
  /** An expired preview is listed, which the user has not dismissed. */
  hasExpired: 'redline.hasExpired',
  /** The user has applied or discarded a preview. */
  hasReviewed: 'redline.hasReviewed',
  running: 'redline.running',
  /** VS Code's own agents use the MCP server, whose tools replace the language model tools. */
  usesMcp: 'redline.usesMcp',
  /** The active editor shows a preview that is pending. */
  shownPending: 'redline.shownPending',
  /** That preview cannot be applied as it is, see `blockOf`. */
  shownBlocked: 'redline.shownBlocked',
  /** That preview is stale. */
  shownStale: 'redline.shownStale',
  /** The active editor is the multi-file diff of a preview. */
  multiDiff: 'redline.multiDiff',
  /** The user is voting with the keyboard, and the focus may be nowhere until the next diff is loaded. */
  goesOn: 'redline.goesOn',
} as const;

/** `@redline` in VS Code's own chat. */
export const PARTICIPANT = 'redline.participant';

/** The vendor of Redline's entry in the model list of VS Code's own chat, which lets requests go to `@redline`. */
export const OWN_VENDOR = 'redline';

/** Offers the MCP server of the window to VS Code's own agents. */
export const MCP_PROVIDER = 'redline.mcp';

/** How VS Code names the server of that provider, and how the names of that server's tools begin in VS Code. */
export const MCP_LABEL = 'Redline';
export const MCP_TOOL_PREFIX = 'mcp_redline_';

/** Tools for the agents of VS Code and of other extensions, and the built-in tool that runs each. */
export const languageModelTools = {
  redline_propose_edit: 'edit_file',
  redline_ast_edit: 'ast_edit',
} as const;

export type LanguageModelToolName = keyof typeof languageModelTools;

type HunkArguments = [previewId?: string, path?: string, hunk?: number, revision?: number];

/** The arguments of the commands that only lenses, rows, lists and the chat's page call: the manifest does not name them. */
interface OwnCommandArguments {
  /** Opens the row that is selected in the pending view. */
  'redline.preview.openSelected': [];
  /** Offers further actions on a hunk, its file and the whole; with ids: on all of these. */
  'redline.preview.more': [
    previews?: string | readonly string[],
    path?: string,
    hunk?: number,
    revision?: number,
  ];
  /** The difference between a file's proposal and the one that the user looked at before. */
  'redline.preview.showSinceLooked': [previewId?: string, path?: string];
  /** Saves the edits typed into the proposals of a preview, and applies it. */
  'redline.preview.saveAndApply': [previewId?: string, revision?: number];
  /** Drops unsaved edits of the proposals of a preview. */
  'redline.preview.revertEdits': [previewId?: string];
  /** Settles the conflict whose first marker is in this line of a proposal, counted from 0. */
  'redline.preview.settleConflict': [
    previewId: string,
    path: string,
    line: number,
    choice: ConflictChoice,
    revision: number,
  ];
  /** Undoes these applied previews, which are in the order in which they were applied. For the chat. */
  'redline.preview.undoTurn': [previewIds: readonly string[]];
  /** Reverts to before the last prompt, and sends it again. */
  'redline.session.retry': [];
  /** Stages code as the whole content of a file. For the chat. */
  'redline.chat.proposeCode': [path: string, code: string];
  /** Writes the ledger to `file` as JSON Lines. Without a file it asks where. */
  'redline.ledger.export': [file?: Uri];
  /** Applies the command of a preview, and lets the agent run later ones on its own in the isolated sandbox. */
  'redline.sandbox.alwaysRunHere': [id: string, revision?: number];
  /** Proposes a sandboxed preview's command for the disk. */
  'redline.sandbox.runOnDisk': [id: string];
  /** Opens the output of a check: of a result, or of the last one. */
  'redline.checks.showOutput': [resultId?: string];
  /** Finds the preview that makes a check fail: the check of a result, or the last one that failed. */
  'redline.checks.findBreaking': [resultId?: string];
}

/** The arguments of each command; the palette passes none. */
export interface CommandArguments extends OwnCommandArguments {
  /** Also applies the previews in `chain`, on which this one depends, if they are still at the revisions given there. */
  'redline.preview.apply': [previewId?: string, reason?: string, revision?: number, chain?: SeenRevisions];
  'redline.preview.discard': [previewId?: string, reason?: string, revision?: number];
  'redline.preview.discardWithReason': [
    preview?: string | { readonly previewId: string; readonly path?: string; readonly revision?: number },
    reason?: string,
    revision?: number,
  ];
  /** With `path`: the diff of that file, in a preview of several files; with `hunk`, counted from 0, at that hunk. */
  'redline.preview.open': [previewId?: string, path?: string, hunk?: number];
  'redline.preview.openFile': [previewId?: string];
  /** Marks a preview, or one of its files, as looked at. */
  'redline.preview.markViewed': [previewId?: string];
  /** Without arguments: the file or hunk at the cursor of the active preview editor. Hunks count from 0. */
  'redline.preview.applyFile': [previewId?: string, path?: string, revision?: number, reason?: string];
  'redline.preview.discardFile': [previewId?: string, path?: string, revision?: number, reason?: string];
  'redline.preview.applyHunk': [...HunkArguments, reason?: string];
  'redline.preview.discardHunk': [...HunkArguments, reason?: string];
  'redline.preview.discardHunkWithReason': [...HunkArguments];
  /** Rebases a stale preview onto the current content of its files. */
  'redline.preview.rebase': [previewId?: string];
  /** Makes a proposal writable; saving it creates the next revision. */
  'redline.preview.edit': [previewId?: string, path?: string];
  /** With ids: these, in any state; otherwise all pending ones. */
  'redline.preview.openAll': [previewIds?: readonly string[], title?: string];
  'redline.preview.applyAll': [];
  'redline.preview.discardAll': [];
  'redline.preview.next': [];
  'redline.preview.previous': [];
  /** Go to the hunk after or before the cursor, across files and previews. */
  'redline.preview.nextHunk': [];
  'redline.preview.previousHunk': [];
  /** Stages the changes of a discarded preview again. Without an id it asks which. */
  'redline.preview.reopen': [previewId?: string];
  /** Undoes an applied preview, at once where its files are as the apply left them. Without an id it asks which. */
  'redline.preview.undo': [previewId?: string];
  /** Hides an expired preview; without an id, all of them. */
  'redline.preview.dismiss': [previewId?: string];
  'redline.openTour': [];
  'redline.showLedger': [];
  /** Shows the decision that the line at the cursor came with. */
  'redline.whoApprovedLine': [];
  /** VS Code's comment threads call these, with the reply or the comment. */
  'redline.comment.add': [reply: CommentReply];
  'redline.comment.delete': [comment: Comment];
  'redline.comment.edit': [comment: Comment];
  'redline.comment.save': [comment: Comment];
  'redline.comment.cancel': [comment: Comment];
  /** Sends the waiting comments on previews. */
  'redline.review.send': [];
  'redline.session.new': [];
  'redline.session.stop': [];
  'redline.session.continue': [];
  /** Reverts the conversation to before a message; the text of a prompt returns to the chat input. Without a node it asks which. */
  'redline.session.revert': [node?: number];
  /** Continues a stored conversation. Without an id it asks which. */
  'redline.session.open': [sessionId?: string];
  /** Without an id: the open conversation. */
  'redline.session.rename': [sessionId?: string];
  'redline.session.delete': [sessionId?: string];
  /** Writes to `file`: the log itself if the name ends in `.jsonl`, else Markdown. Without a file it asks where. */
  'redline.session.export': [sessionId?: string, file?: Uri];
  /** Continues where a branch ended. Rows of the view pass themselves. */
  'redline.history.switchBranch': [node?: number];
  'redline.session.togglePlanMode': [];
  'redline.clearHistory': [];
  /** Contributed by VS Code itself for each view. */
  'redline.chat.focus': [];
  /** Attaches the selection or the file of the active editor to the chat, and shows it. */
  'redline.chat.attach': [];
  /** With the name of a language model of VS Code, `vendor/id`: uses it without asking. */
  'redline.selectModel': [languageModel?: string];
  'redline.setApiKey': [];
  /** Stages the configuration of an agent, by its id, in a workspace folder, by its URI. It asks for missing arguments. */
  'redline.agents.connect': [agent?: string, folder?: string];
  'redline.agents.disconnectAll': [];
  /** Opens a terminal in which a program works in a view of a workspace folder, by its URI. It asks for missing arguments. */
  'redline.agents.openTerminal': [program?: string, folder?: string];
  /** Brings the changes of a branch or worktree into review. Without its name or path it asks which. */
  'redline.elsewhere.reviewBranch': [source?: string];
  /** Brings the changes of a patch into review. Without a file it asks for one or the clipboard. */
  'redline.elsewhere.reviewPatch': [source?: Uri | 'clipboard'];
  /** Takes uncommitted changes of files into a preview. Rows of Source Control pass themselves; without any it asks which. */
  'redline.elsewhere.holdBack': [...files: Uri[]];
  /** Commits applied changes. The title of a repository in Source Control passes itself; without it, the command asks which. */
  'redline.elsewhere.stageApplied': [repository?: Uri];
  'redline.customTools.new': [];
  'redline.customTools.reload': [];
  'redline.showLog': [];
  /** Opens the last request to the model in the open conversation. */
  'redline.showLastRequest': [];
  /** Copies the data that a bug report needs to the clipboard. */
  'redline.copyDiagnostics': [];
  /** Shows the state of the sandbox, and who starts commands in it. */
  'redline.sandbox.show': [];
  /** Runs the checks on a preview with those that it builds on, or on all pending ones. */
  'redline.checks.run': [id?: string];
  /** Lists further actions on checks. */
  'redline.checks.show': [];
}

export type CommandId = keyof CommandArguments;
