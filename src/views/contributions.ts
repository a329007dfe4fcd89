/**
 * Every name that others know the extension by, once: command ids with the types of their arguments, context keys,
 * views, the URI scheme and the setting keys. A test holds it against package.json.
 */
export const EXTENSION_ID = 'redline.redline';

/** Authority = preview id; path = the file's own URI path; `?base` = the side it was made on. */
export const PREVIEW_SCHEME = 'redline-preview';

export const views = {
  container: 'redline',
  chat: 'redline.chat',
} as const;

export const contextKeys = {
  hasPending: 'redline.hasPending',
  running: 'redline.running',
} as const;

/** The arguments of each command as those who call it pass them; the palette passes none. */
export interface CommandArguments {
  'redline.preview.apply': [previewId?: string, reason?: string, revision?: number];
  'redline.preview.discard': [previewId?: string, reason?: string, revision?: number];
  'redline.preview.discardWithReason': [previewId?: string, reason?: string, revision?: number];
  'redline.preview.open': [previewId?: string];
  'redline.preview.openFile': [previewId?: string];
  'redline.preview.applyAll': [];
  'redline.preview.discardAll': [];
  'redline.preview.next': [];
  'redline.preview.previous': [];
  'redline.session.new': [];
  'redline.session.stop': [];
  'redline.session.continue': [];
  'redline.session.togglePlanMode': [];
  'redline.clearHistory': [];
  /** Made by VS Code itself from the view's id. */
  'redline.chat.focus': [];
  'redline.setApiKey': [];
  'redline.showLog': [];
}

export type CommandId = keyof CommandArguments;
