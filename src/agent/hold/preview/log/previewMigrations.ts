import { isRecord } from '../../../base/json.ts';

/**
 * Functions that turn a line of the preview log into one of the next version, by the version of the line. The other versions have
 * lines that the next one reads: 2 stored the text after a modification even where its edits give it, 3 repeated unchanged parts
 * in a new revision, 5 had neither links nor binary files, 6 no amendments, 7 stored each rebase, and 8 had texts in lines and
 * binary files in a folder of their own: see `migratePreviews`.
 */
export const previewMigrations: Readonly<Record<number, (line: unknown) => unknown>> = {
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
  /** Version 4 derived the purpose of a preview from the name of its source, which others can take. */
  4: line => {
    if (!isRecord(line)) return line;
    if (line['type'] === 'staged') return { ...line, preview: previewFrom4(line['preview']) };
    if (line['type'] !== 'revised' || line['part'] === undefined) return line;
    return { ...line, part: previewFrom4(line['part']) };
  },
};

/** Keeps only previews that no foreign tool and no extension could have staged. */
function previewFrom4(preview: unknown): unknown {
  if (!isRecord(preview)) return preview;
  const { sourceToolName, kind, origin, humanOnly, details, undoes } = preview;
  const isOwnAction = kind === 'action' && humanOnly === true && isRecord(details);
  const isOwn: Readonly<Record<string, readonly [purpose: string, is: boolean]>> = {
    run_command: ['command', isOwnAction && typeof details['command'] === 'string'],
    call_tool: ['toolCall', isOwnAction && typeof details['tool'] === 'string'],
    connect_agent: ['setUp', origin === null && humanOnly === true],
    hold_back: ['holdBack', isRecord(origin) && isRecord(origin['agent'])],
    revert_to_state: ['revert', Array.isArray(undoes)],
  };
  const [purpose, is] =
    typeof sourceToolName === 'string' && Object.hasOwn(isOwn, sourceToolName)
      ? (isOwn[sourceToolName] ?? ['', false])
      : ['', false];
  return { ...preview, ...(is ? { purpose } : {}), ...labelFrom4(preview) };
}

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

/** Version 4 took the counts out of labels, also out of those by others. */
function labelFrom4({ label, sourceToolName }: Readonly<Record<string, unknown>>): object {
  if (typeof label !== 'string' || sourceToolName !== 'ast_edit') return {};
  const [all, replacements, files, place] =
    /^AST Edit: (\d+) replacements? in (\d+) files?(.*)$/s.exec(label) ?? [];
  if (all === undefined) return {};
  const counts = [
    { noun: 'replacement', count: Number(replacements) },
    { noun: 'file', count: Number(files) },
  ] as const;
  const labelParts = ['AST Edit: ', counts[0], ' in ', counts[1], ...(place ? [place] : [])];
  return { labelParts };
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
