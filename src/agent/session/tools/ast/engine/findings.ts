import { Buffer } from 'node:buffer';
import { beginningOf } from '../../../../base/cutText.ts';
import { sideOfBytes, sideOfText, type TextSide } from '../../../../hold/preview/fileChange.ts';
import { lineCounter } from '../../../../hold/text/lineCounter.ts';
import { lineAt } from '../../../../hold/text/lines.ts';
import { applyTextEdits, type TextEdit } from '../../../../hold/text/textEdit.ts';
import { AstError, type MatchPlace, type MatchRow, type SentFile } from '../worker/protocol.ts';
import { isOutsideStrings, type AstGrepNapi, type SyntaxNode } from './astGrepNapi.ts';
import type { EditShape } from './editShape.ts';
import type { Range } from './fileLayout.ts';
import { embeddedTexts, type LanguagePatterns } from './patternCompiler.ts';
import { replacementEdits, mergeEdits, outermostMatches, OverlapError, type Match } from './replacements.ts';
import { breakSyntax, statementsAround } from './syntaxCheck.ts';

/** The most characters of a match that a search shows. */
const MAX_ROW_CHARS = 200;
/** The most matches of one file that a search shows. */
const MAX_ROWS = 100;

/** The findings of one pattern in one text. */
export interface OpFinding {
  /** The index of the pattern. */
  readonly op: number;
  readonly matches: readonly Match[];
  /** The replacements; empty for a pattern that only searches. */
  readonly edits: readonly TextEdit[];
  readonly shapes: ReadonlyMap<TextEdit, EditShape>;
  /** The statements that hold them, see {@link statementsAround}. */
  readonly statements: readonly Match[];
  /** The number of matches inside other matches, which are left alone. */
  readonly nested: number;
  readonly rewrites: boolean;
}

/**
 * The findings of one pattern, from the nodes that matched.
 * @param offset where in `source` the parsed text begins; -1 if only the parsed text has a byte order mark
 * @throws AstError if a match would be replaced by code with unbound variables.
 */
export function findingOf(
  napi: AstGrepNapi,
  op: LanguagePatterns['ops'][number],
  nodes: readonly SyntaxNode[],
  source: string,
  offset: number,
): OpFinding {
  if (op.unbound && nodes.length > 0) throw new AstError({ code: 'unbound', ...op.unbound });
  const { outer, nested } = outermostMatches(nodes, offset);
  const matches = op.template ? [] : outer.map(({ start, end }) => ({ start, end }));
  const strings = {
    in: (root: SyntaxNode): readonly Range[] => napi.stringsIn(root, source, op.language),
    isOutside: (node: SyntaxNode): boolean => isOutsideStrings(node, op.language),
  };
  const shapes = new Map<TextEdit, EditShape>();
  const edits = op.template ? replacementEdits(outer, op.template, source, offset, strings, shapes) : [];
  const statements = op.template ? statementsAround(op.language.id, outer, offset) : [];
  return { op: op.index, matches, edits, shapes, statements, nested, rewrites: op.template !== null };
}

/**
 * Combines the findings of all patterns in a file; `null` when there is no match, or no edit that changes anything.
 * @throws AstError for overlapping edits.
 */
export function combineFindings(
  napi: AstGrepNapi,
  patterns: LanguagePatterns,
  path: string,
  before: TextSide,
  findings: readonly OpFinding[],
  syntaxErrors: boolean,
): SentFile | null {
  const nested = findings.reduce((sum, finding) => sum + finding.nested, 0);
  const ops = [
    ...new Set(findings.flatMap(({ op, matches, edits }) => (matches.length + edits.length > 0 ? [op] : []))),
  ];
  if (!findings.some(finding => finding.rewrites)) {
    const matches = findings.flatMap(finding => finding.matches).sort((a, b) => a.start - b.start);
    if (matches.length === 0) return null;
    const found = { kind: 'rows', rows: rowsOf(before.text, matches) } as const;
    return { path, matches: matches.length, ops, nested, syntaxErrors, newSyntaxErrors: false, found };
  }
  const edits = mergedEdits(path, before.text, findings);
  if (edits.length === 0) return null;
  const text = applyTextEdits(before.text, edits);
  const statements = findings.flatMap(finding => finding.statements);
  const shapeOf = (edit: TextEdit): EditShape | undefined =>
    findings.find(({ shapes }) => shapes.has(edit))?.shapes.get(edit);
  const after = sideOfText(text, before.encoding);
  const sent = { ...after, text: after.text === text ? null : after.text };
  return {
    path,
    matches: edits.length,
    ops,
    nested,
    syntaxErrors,
    newSyntaxErrors: breakSyntax(napi, patterns, before.text, edits, statements, shapeOf),
    found: { kind: 'edits', before, after: sent, edits },
  };
}

function mergedEdits(path: string, text: string, findings: readonly OpFinding[]): TextEdit[] {
  try {
    return mergeEdits(
      text,
      findings.map(finding => finding.edits),
    );
  } catch (error) {
    if (!(error instanceof OverlapError)) throw error;
    const [first, second] = error.edits;
    const placeOf = (edit: TextEdit): MatchPlace => ({
      op: findings.find(finding => finding.edits.includes(edit))?.op ?? 0,
      startLine: lineAt(text, edit.start),
      endLine: lineAt(text, Math.max(edit.start, edit.end - 1)),
    });
    throw new AstError({ code: 'overlap', path, first: placeOf(first), second: placeOf(second) });
  }
}

/**
 * Parses and searches bytes that are already in memory: an unsaved editor, a page with embedded scripts and styles, a
 * small file early in the search, or a file that changed during the search.
 * @returns `null` when nothing was found, `undefined` when the bytes are not text.
 */
export function searchBytes(
  napi: AstGrepNapi,
  patterns: LanguagePatterns,
  path: string,
  bytes: Uint8Array,
): SentFile | null | undefined {
  const before = sideOfBytes(bytes);
  if (!before) return undefined;
  const findings: OpFinding[] = [];
  const errors = searchText(napi, patterns, before.text, before.text, 0, findings);
  return combineFindings(napi, patterns, path, before, findings, errors);
}

/**
 * Adds the findings in `text`, which begins at `offset` of `source`. Returns whether a text with matches has syntax
 * errors.
 */
function searchText(
  napi: AstGrepNapi,
  patterns: LanguagePatterns,
  text: string,
  source: string,
  offset: number,
  into: OpFinding[],
): boolean {
  const bytes = Buffer.from(text);
  const ops = patterns.ops.filter(op => op.mayMatch(bytes));
  if (ops.length === 0 && patterns.embedded.length === 0) return false;
  const root = napi.parse(patterns.language.id, text);
  const outer = new Map<number, readonly Match[]>();
  for (const op of ops) {
    const nodes = root.findAll({ rule: { pattern: op.rule } });
    const finding = findingOf(napi, op, nodes, source, offset);
    outer.set(op.index, op.template ? finding.edits : finding.matches);
    into.push(finding);
  }
  let errors = [...outer.values()].some(matches => matches.length > 0) && napi.hasErrors(root);
  for (const { language, node } of patterns.embedded.length > 0 ? embeddedTexts(root) : []) {
    const start = offset + node.range().start.index;
    const inner = patterns.embedded.find(candidate => candidate.language.id === language);
    // Nothing is searched for inside a match of the same pattern in the page.
    const left = inner?.ops.filter(
      ({ index }) => !outer.get(index)?.some(match => match.start <= start && start < match.end),
    );
    if (!inner || !left) continue;
    errors = searchText(napi, { ...inner, ops: left }, node.text(), source, start, into) || errors;
  }
  return errors;
}

function rowsOf(text: string, matches: readonly Match[]): MatchRow[] {
  const placeOf = lineCounter(text);
  return matches.slice(0, MAX_ROWS).map(({ start, end }) => {
    const { line, start: at } = placeOf(start);
    const [first = ''] = text.slice(start, Math.min(end, start + MAX_ROW_CHARS + 1)).split(/\r\n|\r|\n/, 1);
    const cut = start + first.length < end;
    return { line, column: start - at + 1, text: cut ? `${beginningOf(first, MAX_ROW_CHARS)}…` : first };
  });
}
