/** Codicons by the state of a preview, or of a turn. */
export const STATE_ICONS = {
  pending: 'diff',
  applying: 'loading',
  applied: 'check',
  mixed: 'pass',
  undone: 'discard',
  discarded: 'close',
  failed: 'error',
  expired: 'history',
} as const;
