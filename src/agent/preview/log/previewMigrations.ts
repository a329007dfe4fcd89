import { isRecord } from '../../base/json.ts';
import type { LogMigration } from '../../base/log/logFormat.ts';

/** Turns a line of the preview log into one of the next version; by the version that the line has. */
export const previewMigrations: Readonly<Record<number, LogMigration>> = {
  /**
   * Version 1 derived a preview's kind, and whether only a human may apply it, from its source; the model was asked about
   * everything but parts and plans; a flag of the line told the two kinds of failure apart; the journal of a commit was
   * called a landing, with its `ground`.
   */
  1: line => {
    if (!isRecord(line)) return line;
    switch (line['type']) {
      case 'staged':
        return { ...line, preview: previewFrom1(line['preview']) };
      case 'revised':
        return line['part'] === undefined ? line : { ...line, part: previewFrom1(line['part']) };
      case 'resolved': {
        const { final, entries, ...rest } = line;
        if (!Array.isArray(entries)) return line;
        return { ...rest, entries: entries.map(entry => attemptFrom1(entry, final === true)) };
      }
      case 'landing': {
        const { ground, ...rest } = line;
        return { ...rest, type: 'commit', ...(ground === undefined ? {} : { rollback: ground }) };
      }
      default:
        return line;
    }
  },
  /** Version 2 stored the text after a modification even where its edits give it. Version 3 can read that. */
  2: line => line,
  /** Version 3 repeated in a new revision what the one before had. Version 4 can read that. */
  3: line => line,
};

const PLAN = 'plan_approval';

function previewFrom1(preview: unknown): unknown {
  if (!isRecord(preview)) return preview;
  const { sourceToolName, changes, origin, part } = preview;
  const isHumanOnly = sourceToolName === 'run_command' || sourceToolName === PLAN;
  const kind = changes !== null ? 'files' : sourceToolName === PLAN ? 'plan' : 'action';
  const asksModel = part === undefined && kind !== 'plan';
  return {
    ...preview,
    kind,
    origin: originFrom1(origin, asksModel),
    ...(isHumanOnly ? { humanOnly: true } : {}),
  };
}

function originFrom1(origin: unknown, asksModel: boolean): unknown {
  if (!isRecord(origin)) return origin;
  const { sessionId, messageId, toolCallId } = origin;
  return { sessionId, call: { messageId, toolCallId }, asksModel };
}

function attemptFrom1(attempt: unknown, isFinal: boolean): unknown {
  if (!isRecord(attempt)) return attempt;
  const { sourceToolName, files, outcome } = attempt;
  const hasFiles = Array.isArray(files) && files.length > 0;
  return {
    ...attempt,
    kind: hasFiles ? 'files' : sourceToolName === PLAN ? 'plan' : 'action',
    outcome: outcome === 'failed' && isFinal ? 'returnedError' : outcome,
  };
}
