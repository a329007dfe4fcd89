import { Buffer } from 'node:buffer';
import { sideOfBytes, sideOfText, type FileSide } from '../../preview/fileChange.ts';
import { applyTextEdits, type TextEdit } from '../../preview/textEdit.ts';
import { editsOf, mergeEdits, outermost, OverlapError, type Match } from './edits.ts';
import type { Plan } from './plan.ts';
import { AstError, type MatchRow, type SentFile } from './protocol.ts';
import type { Structure, SyntaxNode } from './structure.ts';

/** The most characters of a match that a search shows. */
const MAX_ROW_CHARS = 200;
/** The most matches of one file that a search shows. */
const MAX_ROWS = 100;

/** What one pattern found in one file. */
export interface OpFinding {
  readonly matches: readonly Match[];
  /** Empty for a pattern that only searches. */
  readonly edits: readonly TextEdit[];
  readonly nested: number;
  readonly rewrites: boolean;
}

/** What one pattern of a plan makes of its matches in a text that begins `offset` before or after what was parsed. */
export function findingOf(
  op: Plan['ops'][number],
  nodes: readonly SyntaxNode[],
  source: string,
  offset: number,
): OpFinding {
  const { outer, nested } = outermost(nodes, offset);
  const matches = op.template ? [] : outer.map(({ start, end }) => ({ start, end }));
  const edits = op.template ? editsOf(outer, op.template, source, offset) : [];
  return { matches, edits, nested, rewrites: op.template !== null };
}

/** All findings of a file together; `null` when nothing is left of them. @throws AstError for overlapping edits. */
export function fileOf(
  path: string,
  before: FileSide,
  findings: readonly OpFinding[],
  syntaxErrors: boolean,
): SentFile | null {
  const nested = findings.reduce((sum, finding) => sum + finding.nested, 0);
  if (!findings.some(finding => finding.rewrites)) {
    const matches = findings.flatMap(finding => finding.matches).sort((a, b) => a.start - b.start);
    if (matches.length === 0) return null;
    const found = { kind: 'rows', rows: rowsOf(before.text, matches) } as const;
    return { path, matches: matches.length, nested, syntaxErrors, found };
  }
  const edits = merged(path, before.text, findings);
  if (edits.length === 0) return null;
  const text = applyTextEdits(before.text, edits);
  const after = sideOfText(text, before.encoding);
  const sent = { ...after, text: after.text === text ? null : after.text };
  return {
    path,
    matches: edits.length,
    nested,
    syntaxErrors,
    found: { kind: 'edits', before, after: sent, edits },
  };
}

function merged(path: string, text: string, findings: readonly OpFinding[]): TextEdit[] {
  try {
    return mergeEdits(
      text,
      findings.map(finding => finding.edits),
    );
  } catch (error) {
    if (!(error instanceof OverlapError)) throw error;
    throw new AstError({ code: 'overlap', path, line: text.slice(0, error.offset).split('\n').length });
  }
}

/**
 * Searches a text that was read already: of an editor with unsaved changes, of a page with scripts and styles in it, or
 * of a file that changed while it was searched.
 * @returns `undefined` when the bytes are no text.
 */
export function searchBytes(
  structure: Structure,
  plan: Plan,
  path: string,
  bytes: Uint8Array,
): SentFile | null | undefined {
  const before = sideOfBytes(bytes);
  if (!before) return undefined;
  const findings: OpFinding[] = [];
  const errors = searchText(structure, plan, before.text, before.text, 0, findings);
  return fileOf(path, before, findings, errors);
}

/** Adds the findings in `text`, which begins at `offset` of `source`; tells whether it has syntax errors. */
function searchText(
  structure: Structure,
  plan: Plan,
  text: string,
  source: string,
  offset: number,
  into: OpFinding[],
): boolean {
  const bytes = Buffer.from(text);
  const ops = plan.ops.filter(op => op.mayMatch(bytes));
  if (ops.length === 0 && plan.inner.length === 0) return false;
  const root = structure.parse(plan.language.id, text);
  const outer = new Map<number, readonly Match[]>();
  for (const op of ops) {
    const nodes = root.findAll({ rule: { pattern: op.pat } });
    const finding = findingOf(op, nodes, source, offset);
    outer.set(op.index, op.template ? finding.edits : finding.matches);
    into.push(finding);
  }
  let errors = [...outer.values()].some(matches => matches.length > 0) && structure.hasErrors(root);
  for (const { language, node } of innerTexts(root)) {
    const start = offset + node.range().start.index;
    const inner = plan.inner.find(candidate => candidate.language.id === language);
    // A match of the whole is not searched for more of them.
    const left = inner?.ops.filter(
      ({ index }) => !outer.get(index)?.some(match => match.start <= start && start < match.end),
    );
    if (!inner || !left) continue;
    errors = searchText(structure, { ...inner, ops: left }, node.text(), source, start, into) || errors;
  }
  return errors;
}

/** The scripts and styles of a page. */
function innerTexts(root: SyntaxNode): { language: string; node: SyntaxNode }[] {
  if (root.kind() !== 'document') return [];
  const of = (kind: string, language: (tag: string) => string): { language: string; node: SyntaxNode }[] =>
    root.findAll({ rule: { kind } }).flatMap(element => {
      const [tag] = element.children();
      return element
        .children()
        .filter(child => child.kind() === 'raw_text')
        .map(node => ({ language: language(tag?.text() ?? ''), node }));
    });
  return [
    ...of('script_element', tag => (/\blang\s*=\s*["']?ts["'\s>]/.test(tag) ? 'TypeScript' : 'JavaScript')),
    ...of('style_element', () => 'Css'),
  ];
}

function rowsOf(text: string, matches: readonly Match[]): MatchRow[] {
  let line = 1;
  let at = 0;
  return matches.slice(0, MAX_ROWS).map(({ start, end }) => {
    for (let feed = text.indexOf('\n', at); feed >= 0 && feed < start; feed = text.indexOf('\n', at)) {
      line++;
      at = feed + 1;
    }
    const [first = ''] = text.slice(start, Math.min(end, start + MAX_ROW_CHARS + 1)).split(/\r?\n/, 1);
    const cut = start + first.length < end;
    return { line, column: start - at + 1, text: cut ? `${first.slice(0, MAX_ROW_CHARS)}…` : first };
  });
}
