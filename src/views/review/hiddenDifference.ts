import * as vscode from 'vscode';
import { hunksOfChange, isText, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import { encodingTitle, type TextEncoding } from '../../agent/hold/text/encodings.ts';
import { LINE_ENDING_NAMES, lineEndingOf } from '../../agent/hold/text/lines.ts';
import { unseenLines, type UnseenLines } from '../../agent/hold/text/unseenLines.ts';
import { escapeInvisible, plural } from '../plainText.ts';

/** The permission bits of most new files, which need no mention. */
const USUAL_MODES = [0o644, 0o664];

const known = new WeakMap<FileChange, Promise<readonly string[]>>();

/**
 * Short texts about differences that VS Code's diff editor does not show, or hides by default, even if the diff shows other
 * changes.
 */
export function hiddenDifferences(change: FileChange): Promise<readonly string[]> {
  let notes = known.get(change);
  if (!notes) known.set(change, (notes = notesOn(change)));
  return notes;
}

/** The differences that no rebase or edit of the change alters. */
export function lastingDifferences(change: FileChange): readonly string[] {
  if (change.kind === 'rename') return [movedText(change)];
  const mode = 'mode' in change ? change.mode : undefined;
  if (mode !== undefined && !USUAL_MODES.includes(mode))
    return [vscode.l10n.t('with the permissions {0}', mode.toString(8).padStart(3, '0'))];
  return [];
}

/** Names the new folder of a file that keeps its name, and the old path of any other. */
function movedText({ path, from }: Extract<FileChange, { kind: 'rename' }>): string {
  const nameAt = (whole: string): number => whole.lastIndexOf('/') + 1;
  const isSameName = path.slice(nameAt(path)) === from.slice(nameAt(from));
  return isSameName
    ? vscode.l10n.t('moved to {0}', escapeInvisible(path.slice(0, nameAt(path))) || './')
    : vscode.l10n.t('moved from {0}', escapeInvisible(from));
}

async function notesOn(change: FileChange): Promise<readonly string[]> {
  const { before, after } = change;
  if (change.kind === 'rename' && change.before.hash === change.after.hash)
    return [vscode.l10n.t('{0}, content unchanged', movedText(change))];
  const notes = [...lastingDifferences(change)];
  if (!before || !after || before.hash === after.hash || !isText(before) || !isText(after)) return notes;
  if (encodingName(before.encoding) !== encodingName(after.encoding)) {
    notes.push(
      vscode.l10n.t('encoding {0} → {1}', encodingName(before.encoding), encodingName(after.encoding)),
    );
  }
  if (before.text === after.text) return notes;
  const unseen = await unseenLines(before.text, await hunksOfChange(change));
  const [oldEnding, newEnding] = [lineEnding(before.text), lineEnding(after.text)];
  const endings =
    oldEnding && newEnding && oldEnding !== newEnding
      ? vscode.l10n.t('line endings {0} → {1}', oldEnding, newEnding)
      : undefined;
  notes.push(...(unseen.isAnySeen ? besides(unseen, endings) : alone(unseen, endings)));
  return notes;
}

/** The notes on a diff that shows nothing at all. */
function alone({ indentation, trailing, lineEndings }: UnseenLines, endings: string | undefined): string[] {
  if (indentation + trailing === 0) return [vscode.l10n.t('only line endings differ')];
  const what =
    indentation === 0
      ? vscode.l10n.t('only trailing spaces differ')
      : trailing === 0
        ? vscode.l10n.t('only indentation differs')
        : vscode.l10n.t('only leading and trailing spaces differ');
  return [what, ...(endings === undefined ? endingNotes(lineEndings) : [endings])];
}

/** Notes on differences other than those that the diff shows. Numbers that may be too low are left out. */
function besides(
  { indentation, trailing, lineEndings, isExact }: UnseenLines,
  endings: string | undefined,
): string[] {
  if (!isExact) {
    return [
      ...(indentation === 0 ? [] : [vscode.l10n.t('indentation differs')]),
      ...(trailing === 0 ? [] : [vscode.l10n.t('trailing spaces differ')]),
      ...(endings !== undefined
        ? [endings]
        : lineEndings === 0
          ? []
          : [vscode.l10n.t('line endings differ')]),
      vscode.l10n.t('spaces may differ in more lines'),
    ];
  }
  return [
    ...(indentation === 0
      ? []
      : [
          plural(
            vscode.l10n.t('indentation differs in 1 line|indentation differs in {0} lines'),
            indentation,
          ),
        ]),
    ...(trailing === 0
      ? []
      : [
          plural(
            vscode.l10n.t('trailing spaces differ in 1 line|trailing spaces differ in {0} lines'),
            trailing,
          ),
        ]),
    ...(endings === undefined ? endingNotes(lineEndings) : [endings]),
  ];
}

function endingNotes(lines: number): string[] {
  if (lines === 0) return [];
  const forms = vscode.l10n.t('the line ending differs in 1 line|line endings differ in {0} lines');
  return [plural(forms, lines)];
}

function encodingName(encoding: TextEncoding): string {
  const isMarked = encoding.bom && encoding.name === 'utf8';
  return isMarked ? vscode.l10n.t('UTF-8 with BOM') : encodingTitle(encoding);
}

/** The text's line ending; `undefined` if it has none or mixes several. */
function lineEnding(text: string): string | undefined {
  const kind = lineEndingOf(text);
  return kind === undefined || kind === 'mixed' ? undefined : LINE_ENDING_NAMES[kind];
}
