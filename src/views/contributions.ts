/**
 * Every name that others know the extension by, once: command ids with the types of their arguments, context keys, views
 * and URI schemes; setting keys are those of `host/settings.ts`. A test holds it against package.json.
 */
import type { Uri } from 'vscode';
import type { SeenRevisions } from '../agent/preview/preview.ts';

export const EXTENSION_ID = 'redline.redline';

/** Authority = preview id; path = the file's own URI path; `?base` = the side it was made on. */
export const PREVIEW_SCHEME = 'redline-preview';

/** The ledger as a read-only document. */
export const LEDGER_SCHEME = 'redline-ledger';

export const views = {
  container: 'redline',
  chat: 'redline.chat',
  pending: 'redline.pending',
  history: 'redline.history',
} as const;

export const contextKeys = {
  hasPending: 'redline.hasPending',
  running: 'redline.running',
  /** The active editor is the multi-file diff of a preview. */
  multiDiff: 'redline.multiDiff',
} as const;

/** Tools for the agents of VS Code and of other extensions, and the tool of ours that each one is. */
export const languageModelTools = {
  redline_propose_edit: 'edit_file',
  redline_ast_edit: 'ast_edit',
} as const;

export type LanguageModelToolName = keyof typeof languageModelTools;

/** The arguments of each command as those who call it pass them; the palette passes none. */
export interface CommandArguments {
  /** The previews in `chain`, which it is made on, are applied with it, if they are still at the revisions there. */
  'redline.preview.apply': [previewId?: string, reason?: string, revision?: number, chain?: SeenRevisions];
  'redline.preview.discard': [previewId?: string, reason?: string, revision?: number];
  'redline.preview.discardWithReason': [previewId?: string, reason?: string, revision?: number];
  /** With a path, that file's diff of a preview that has several. */
  'redline.preview.open': [previewId?: string, path?: string];
  'redline.preview.openFile': [previewId?: string];
  /** Without arguments the file or hunk in the active preview editor. Hunks count from 0. */
  'redline.preview.applyFile': [previewId?: string, path?: string, revision?: number];
  'redline.preview.discardFile': [previewId?: string, path?: string, revision?: number];
  'redline.preview.applyHunk': [previewId?: string, path?: string, hunk?: number, revision?: number];
  'redline.preview.discardHunk': [previewId?: string, path?: string, hunk?: number, revision?: number];
  /** Moves a stale preview onto what is there now. */
  'redline.preview.rebase': [previewId?: string];
  /** Makes a proposal writable; saving it makes the next revision. */
  'redline.preview.edit': [previewId?: string, path?: string];
  'redline.preview.openAll': [];
  'redline.preview.applyAll': [];
  'redline.preview.discardAll': [];
  'redline.preview.next': [];
  'redline.preview.previous': [];
  /** Stages a discarded preview's changes anew; asks which when none is named. */
  'redline.preview.reopen': [previewId?: string];
  /** Stages the inverse of an applied preview; asks which when none is named. */
  'redline.preview.undo': [previewId?: string];
  /** Takes an expired preview out of sight; all of them when none is named. */
  'redline.preview.dismiss': [previewId?: string];
  'redline.showLedger': [];
  'redline.session.new': [];
  'redline.session.stop': [];
  'redline.session.continue': [];
  /** Takes the conversation back; before a prompt, whose text is then in the chat's input. Asks where to when not told. */
  'redline.session.revert': [node?: number];
  /** Goes on with one of the stored conversations. */
  'redline.session.open': [sessionId?: string];
  /** Without an id the conversation that is open. */
  'redline.session.rename': [sessionId?: string];
  'redline.session.delete': [sessionId?: string];
  /** With a file that is where it is written: Markdown, or the log itself if its name ends in `.jsonl`. */
  'redline.session.export': [sessionId?: string, file?: Uri];
  /** Goes on where a branch ended. Rows of the view pass themselves. */
  'redline.history.switchBranch': [node?: number];
  /** Shows a message in the chat. */
  'redline.history.show': [node?: number];
  'redline.session.togglePlanMode': [];
  'redline.clearHistory': [];
  /** Made by VS Code itself from the view's id. */
  'redline.chat.focus': [];
  /** Shows the chat with the selection or the file of the active editor attached. */
  'redline.chat.attach': [];
  'redline.selectModel': [];
  'redline.setApiKey': [];
  'redline.customTools.new': [];
  'redline.customTools.reload': [];
  'redline.showLog': [];
}

export type CommandId = keyof CommandArguments;
