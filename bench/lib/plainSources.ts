import type { AstGrepNapi } from '../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { languageOf } from '../../src/agent/session/tools/ast/engine/languages.ts';

/** Stands for a line feed in a string. */
const FOLDED = '\ue000';
/** The spaces that stand for a tab. */
const TAB = ' '.repeat(8);

/**
 * A source and a rewrite as the ast-grep CLI lays them out well: with LF, spaces, and strings on one line. Redline differs from
 * the CLI in such files alone, and is to give what the CLI gives on this form, converted back.
 */
export interface PlainSource {
  readonly text: string;
  readonly out: string;
  /** Converts the rewritten text back. */
  readonly restore: (rewritten: string) => string;
}

/** The plain form; `undefined` for a source that mixes line endings or indentations, which cannot be converted back. */
export function plainSource(
  napi: AstGrepNapi,
  name: string,
  text: string,
  out: string,
): PlainSource | undefined {
  const isCrlf = text.includes('\r\n');
  const folded = foldStrings(napi, name, isCrlf ? text.replaceAll('\r\n', '\n') : text);
  const hasTabs = /^ *\t/m.test(folded);
  const plain = hasTabs ? withLeads(folded, lead => lead.replaceAll('\t', TAB)) : folded;
  const restore = (rewritten: string): string => {
    const tabbed = hasTabs ? withLeads(rewritten, lead => lead.replaceAll(TAB, '\t')) : rewritten;
    const unfolded = tabbed.replaceAll(FOLDED, '\n');
    return isCrlf ? unfolded.replaceAll('\n', '\r\n') : unfolded;
  };
  if (restore(plain) !== text) return undefined;
  const hasLines = text.includes('\n');
  return {
    text: plain,
    out: plainRewrite(hasLines ? out.replaceAll('\r\n', '\n') : out, hasTabs, folded),
    restore,
  };
}

function plainRewrite(out: string, hasTabs: boolean, source: string): string {
  const folded = out.replace(/`[^`]*`/g, string => string.replaceAll('\n', FOLDED));
  const leads = [...folded.matchAll(/\n( +)/g)].map(([, lead = '']) => lead.length);
  const step = leads.reduce((a, b) => divisor(a, b), 0);
  const unit = /^ +(?![ \r\n*])/m.exec(source)?.[0];
  if (hasTabs && step > 0)
    return withLeads(folded, lead => lead.replaceAll(' '.repeat(step), TAB).replaceAll('\t', TAB), 1);
  if (hasTabs || unit !== undefined)
    return withLeads(folded, lead => lead.replaceAll('\t', hasTabs ? TAB : (unit ?? '')), 1);
  return folded;
}

/** Converts the white space at the start of each line from this one on. */
function withLeads(text: string, convert: (lead: string) => string, from = 0): string {
  return text
    .split('\n')
    .map((line, n) => (n < from ? line : line.replace(/^[ \t]+/, convert)))
    .join('\n');
}

function foldStrings(napi: AstGrepNapi, name: string, text: string): string {
  const language = languageOf(name);
  if (!language || !napi.supports(language.id)) return text;
  let folded = text;
  for (const { start, end } of napi.stringsIn(napi.parse(language.id, text), text, language))
    folded = folded.slice(0, start) + folded.slice(start, end).replaceAll('\n', FOLDED) + folded.slice(end);
  return folded;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
