import { applyTextEdits, type TextEdit } from '../../../../hold/text/textEdit.ts';
import type { AstGrepNapi, SyntaxNode } from './astGrepNapi.ts';
import { lacksEnd, type EditShape, type PlacedEdit } from './editShape.ts';
import { embeddedTexts, type LanguagePatterns } from './patternCompiler.ts';
import type { Match, MatchedNode } from './replacements.ts';

/** The languages in which a statement can be parsed on its own, and the nodes there that are lists of statements, also of broken code. */
const separable = new Set(['TypeScript', 'Tsx', 'JavaScript']);
const lists = new Set(['program', 'statement_block', 'ERROR']);

/**
 * The statements that hold matches, in a language where each can be parsed on its own. Empty if one of the matches is in no
 * statement.
 */
export function statementsAround(
  language: string,
  matches: readonly MatchedNode[],
  offset: number,
): readonly Match[] {
  if (!separable.has(language)) return [];
  const found: Match[] = [];
  for (const { node, end } of matches) {
    if (end <= (found.at(-1)?.end ?? -1)) continue;
    const statement = statementOf(node);
    if (!statement) return [];
    const range = statement.range();
    found.push({ start: range.start.index + offset, end: range.end.index + offset });
  }
  return found;
}

function statementOf(node: SyntaxNode): SyntaxNode | undefined {
  let at = node;
  for (let parent = at.parent(); parent; parent = at.parent()) {
    if (lists.has(parent.kind())) return at;
    at = parent;
  }
  return undefined;
}

/**
 * Whether edits bring new syntax errors into a text. Parsing takes nearly all the time of a search, so at first only the statements
 * with edits are parsed, and those only where the shape of an edit is new.
 * @param statements that hold the edits, if they are known
 * @param shapeOf the shape of an edit, if it has one that can be relied on
 */
export function breakSyntax(
  napi: AstGrepNapi,
  patterns: LanguagePatterns,
  before: string,
  edits: readonly TextEdit[],
  statements: readonly Match[],
  shapeOf: (edit: TextEdit) => EditShape | undefined,
): boolean {
  const { id } = patterns.language;
  const edited = separable.has(id) ? editedStatements(before, edits, statements) : undefined;
  if (edited !== undefined) {
    const placed = edited.flatMap(({ own }) => own);
    if (placed.every(({ edit, endsStatement }) => shapeOf(edit)?.keepsSyntax(before, edit, endsStatement)))
      return false;
    if (napi.countErrors(napi.parse(id, edited.map(({ text }) => text).join('\n;\n'))) === 0) {
      for (const { text, own } of edited)
        for (const one of own) shapeOf(one.edit)?.learn(napi, id, text, before, one);
      return false;
    }
  }
  const now = syntaxErrors(napi, patterns, applyTextEdits(before, edits));
  return now > 0 && now > syntaxErrors(napi, patterns, before);
}

function syntaxErrors(napi: AstGrepNapi, { language, embedded }: LanguagePatterns, text: string): number {
  const root = napi.parse(language.id, text);
  let count = napi.countErrors(root);
  if (embedded.length === 0) return count;
  for (const inner of embeddedTexts(root)) {
    const patterns = embedded.find(each => each.language.id === inner.language);
    if (patterns) count += syntaxErrors(napi, patterns, inner.node.text());
  }
  return count;
}

/** A statement after its edits. */
interface EditedStatement {
  readonly text: string;
  readonly own: readonly PlacedEdit[];
}

/** The edited statements; `undefined` if they would not show whether the whole parses. */
function editedStatements(
  before: string,
  edits: readonly TextEdit[],
  statements: readonly Match[],
): readonly EditedStatement[] | undefined {
  const outer: Match[] = [];
  for (const each of [...statements].sort((a, b) => a.start - b.start || b.end - a.end))
    if (each.start >= (outer.at(-1)?.end ?? 0)) outer.push(each);
  const parts: EditedStatement[] = [];
  let next = 0;
  for (const { start, end } of outer) {
    const own: PlacedEdit[] = [];
    let text = '';
    let from = start;
    for (let edit = edits[next]; edit && edit.start >= start && edit.end <= end; edit = edits[++next]) {
      text += before.slice(from, edit.start);
      own.push({ edit, at: text.length, endsStatement: edit.end === end });
      text += edit.text;
      from = edit.end;
    }
    text += before.slice(from, end);
    if (isJoined(before, { start, end }, text)) return undefined;
    parts.push({ text, own });
  }
  return next === edits.length ? parts : undefined;
}

/** Whether an edited statement may run into the one before or after it. */
function isJoined(text: string, { start, end }: Match, now: string): boolean {
  const old = text.slice(start, end);
  const isGone = now.trim() === '';
  const begins = isGone || (CONTINUES.test(now) && !CONTINUES.test(old));
  if (begins && /[^;{}\s]\s*$/.test(text.slice(Math.max(0, start - NEAR), start))) return true;
  if (!isGone && !lacksEnd(old, now)) return false;
  GAP.lastIndex = end;
  const [gap = '', next = '}'] = GAP.exec(text) ?? [];
  return next !== '}' && (!gap.includes('\n') || CONTINUES.test(next));
}

/** White space and comments, and the character after them. */
const GAP = /(?:\s|\/\/.*\n|\/\*[^]*?\*\/)*([^])?/y;
/** Code that continues the line before it, if that line can be continued. */
const CONTINUES = /^\s*[^\w\s$#@{;'"]/;
/** How far before a statement its neighbour is looked for, in characters. */
const NEAR = 1_000;
