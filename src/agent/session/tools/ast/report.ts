import { shortened } from '../../../base/cutText.ts';
import { quoted, safeName } from '../../../base/safeName.ts';
import { listed, plural } from '../../../base/phrases.ts';
import { finalNewlineNotes } from '../../../hold/text/finalNewline.ts';
import { lineCounter, type LinePlace } from '../../../hold/text/lineCounter.ts';
import { countEndings, splitLines } from '../../../hold/text/lines.ts';
import { counted } from '../../../hold/preview/label.ts';
import type { TextEdit } from '../../../hold/text/textEdit.ts';
import { SELECTOR_ADVICE, type SearchResult } from './structuralSearch.ts';
import type { AstFile, AstSummary } from './worker/protocol.ts';

/** The most files whose matches a report shows. */
const MAX_FILES = 40;
/** The most replacements or matches that it shows of one file. */
const MAX_EDITS = 10;
/** The most lines that it shows of each side of a replacement. */
const MAX_LINES = 3;
const MAX_LINE_CHARS = 120;
/** The most paths that it lists in one sentence. */
const MAX_NAMES = 20;

/** Matches a report that leaves out a line of an edit, or a part of one. */
export const CUT_REPORT = /^(?:\[|[-+] \[)|…$/m;

/** `AST Edit: 12 replacements in 3 files` */
export function editLabel(files: readonly AstFile[]): ReturnType<typeof counted> {
  const replacements = { noun: 'replacement', count: total(files) } as const;
  return counted('AST Edit: ', replacements, ' in ', { noun: 'file', count: files.length });
}

/** The report to the model about staged replacements. */
export function editReport({ files, summary, pending }: SearchResult): string {
  return [
    editLabel(files).label,
    ...body(files, 'replacement', editRows),
    ...notes(files, summary, pending, 'not replaced; call ast_edit again for them'),
  ].join('\n');
}

/** The report to the model about the matches of a search. */
export function matchReport({ files, summary, pending }: SearchResult): string {
  const head = `${plural(total(files), 'match', 'matches')} in ${plural(files.length, 'file')}`;
  return [head, ...body(files, 'match', matchRows), ...notes(files, summary, pending, 'not listed')].join(
    '\n',
  );
}

/** The report to the model when nothing matched; `outcome` is a sentence about the consequence. */
export function nothingReport(summary: AstSummary, outcome?: string): string {
  const head = [
    `No match in ${plural(summary.searched, 'file')}.`,
    ...(outcome === undefined ? [] : [outcome]),
  ].join(' ');
  return [head, ...notes([], summary, [], ''), ...invalidNotes(summary)].join('\n');
}

function total(files: readonly AstFile[]): number {
  return files.reduce((sum, file) => sum + file.matches, 0);
}

/** The changes by the edits of files, line by line and bounded. */
export function editedFiles(
  files: readonly { readonly path: string; readonly before: string; readonly edits: readonly TextEdit[] }[],
): readonly string[] {
  const counted = files.map(file => ({ ...file, matches: file.edits.length }));
  return body(counted, 'edit', ({ before, edits }) => rowsOfEdits(before, edits));
}

function body<File extends { readonly path: string; readonly matches: number }>(
  files: readonly File[],
  noun: string,
  rowsOf: (file: File) => readonly (readonly string[])[],
): string[] {
  const lines: string[] = [];
  for (const file of files.slice(0, MAX_FILES)) {
    const all = rowsOf(file);
    lines.push(
      '',
      `${safeName(file.path)} (${plural(file.matches, noun, noun === 'match' ? 'matches' : undefined)})`,
    );
    lines.push(...all.slice(0, MAX_EDITS).flat());
    const hidden = file.matches - Math.min(all.length, MAX_EDITS);
    if (hidden > 0) lines.push(`[${hidden} more in this file not shown]`);
  }
  if (files.length > MAX_FILES)
    lines.push('', `[${plural(files.length - MAX_FILES, 'more file')} not shown]`);
  return lines;
}

function editRows({ found }: AstFile): string[][] {
  return found.kind === 'edits' ? rowsOfEdits(found.before.text, found.edits) : [];
}

function rowsOfEdits(before: string, edits: readonly TextEdit[]): string[][] {
  const placeOf = lineCounter(before);
  let moved = 0;
  return joinedByLine(before, edits.slice(0, MAX_EDITS)).flatMap(([edit, count]) => {
    const rows = editedRows(before, edit, placeOf(edit.start), moved);
    moved += countEndings(edit.text) - countEndings(before, edit.start, edit.end);
    return [rows, ...Array.from({ length: count - 1 }, () => [])];
  });
}

/** The edits, which are in order, with those on one line joined, and how many each one joins. */
function joinedByLine(before: string, edits: readonly TextEdit[]): readonly (readonly [TextEdit, number])[] {
  const joined: [TextEdit, number][] = [];
  for (const edit of edits) {
    const [last, count] = joined.at(-1) ?? [];
    const between = last && before.slice(last.end, edit.start);
    if (last && count && between !== undefined && edit.start >= last.end && !/[\r\n]/.test(between))
      joined.splice(-1, 1, [
        { start: last.start, end: edit.end, text: last.text + between + edit.text },
        count + 1,
      ]);
    else joined.push([edit, 1]);
  }
  return joined;
}

/** The whole lines that the edit touches, before and after it. */
function editedRows(text: string, edit: TextEdit, { line, start }: LinePlace, moved: number): string[] {
  const tail = /[^\r\n]*/y;
  tail.lastIndex = edit.end;
  const [rest = ''] = tail.exec(text) ?? [];
  const head = text.slice(start, edit.start);
  const notes = finalNewlineNotes(text, edit);
  return [
    ...signed('-', line, text.slice(start, edit.end + rest.length)),
    ...notes.before,
    ...signed('+', line + moved, head + edit.text + rest),
    ...notes.after,
  ];
}

function signed(sign: string, line: number, text: string): string[] {
  const rows = splitLines(text).map(row => row.replace(/(?<![\r\n])[\r\n]+$/, ''));
  if (rows.length === 0) return [];
  const shown = rows
    .slice(0, MAX_LINES)
    .map((row, i) => `${sign}${line + i}:${shortened(row, MAX_LINE_CHARS)}`);
  return rows.length > MAX_LINES
    ? [...shown, `${sign} [${plural(rows.length - MAX_LINES, 'more line')}]`]
    : shown;
}

function matchRows({ found }: AstFile): string[][] {
  if (found.kind !== 'rows') return [];
  return found.rows.map(({ line, column, text }) => [
    `${line}:${column}: ${shortened(text, MAX_LINE_CHARS)}`,
  ]);
}

/** @param nestedEnd a sentence on the fate of matches inside other matches. */
function notes(
  files: readonly AstFile[],
  summary: AstSummary,
  pending: readonly string[],
  nestedEnd: string,
): string[] {
  const broken = files.filter(file => file.syntaxErrors).map(file => file.path);
  const newlyBroken = files.filter(file => file.newSyntaxErrors).map(file => file.path);
  const nested = files.reduce((sum, file) => sum + file.nested, 0);
  const parts = [
    pending.length > 0 &&
      `Some files are shown as they would be with these pending previews applied: ${named(pending)}.`,
    newlyBroken.length > 0 &&
      `The parser no longer understands these files with the edits, though it did before: ${named(newlyBroken)}. Check the replacement; if it is wrong, the preview should be discarded.`,
    broken.length > 0 &&
      `The parser does not fully understand these files, so matches there may be missing or wrong: ${named(broken)}. The files may be correct all the same.`,
    nested > 0 && `${plural(nested, 'more match', 'more matches')} inside these matches: ${nestedEnd}.`,
    ...unmatchedNotes(summary),
    summary.tooLarge.length > 0 && `Not searched, larger than 5 MB: ${named(summary.tooLarge)}.`,
    summary.notText.length > 0 && `Not searched, not text in UTF-8 or UTF-16: ${named(summary.notText)}.`,
  ].filter(part => part !== false);
  return parts.length === 0 ? [] : ['', ...parts];
}

/** Notes on how the patterns that match nowhere were read. */
function unmatchedNotes({ unmatched }: AstSummary): string[] {
  const read = new Map<string, string[]>();
  for (const { pat, language, kind } of unmatched)
    read.set(pat, [...(read.get(pat) ?? []), `${kind} in ${language}`]);
  const rows = [...read].map(
    ([pat, kinds]) => `${quoted(pat)} matches nothing; it was read as ${listed(kinds)}.`,
  );
  return rows.length === 0 ? [] : [...rows, SELECTOR_ADVICE];
}

function invalidNotes(summary: AstSummary): string[] {
  return summary.invalid.map(
    ({ pat, language, reason }) => `${quoted(pat)} is not a pattern in ${language}: ${reason}.`,
  );
}

function named(paths: readonly string[]): string {
  const shown = paths
    .slice(0, MAX_NAMES)
    .map(path => safeName(path))
    .join(', ');
  return paths.length > MAX_NAMES ? `${shown} [and ${paths.length - MAX_NAMES} more]` : shown;
}
