// The commands of each part that is loaded with the first use of one of them.

export const PART_COMMANDS = [
  'redline.preview.applyFile',
  'redline.preview.discardFile',
  'redline.preview.applyHunk',
  'redline.preview.discardHunk',
  'redline.preview.rebase',
  'redline.preview.edit',
] as const;
export const HISTORY_COMMANDS = [
  'redline.session.revert',
  'redline.history.switchBranch',
  'redline.history.show',
] as const;
export const STORED_SESSIONS = [
  'redline.session.open',
  'redline.session.rename',
  'redline.session.delete',
  'redline.session.export',
] as const;
export const LEDGER_COMMANDS = [
  'redline.showLedger',
  'redline.preview.undo',
  'redline.preview.reopen',
  'redline.preview.dismiss',
] as const;
export const CUSTOM_TOOL_COMMANDS = ['redline.customTools.new', 'redline.customTools.reload'] as const;
