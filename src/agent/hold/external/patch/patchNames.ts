import { LOST, nameOfBytes } from '../fileNames.ts';

/** A name at the start of a line, and the rest of the line. */
interface NameAndRest {
  readonly name: string;
  readonly rest: string;
}

/** A name as git and diff print it: in quotes with escapes, or plain up to the end. */
export function nameIn(text: string): string {
  return quotedIn(text)?.name ?? plain(text);
}

/** The name after `--- ` or `+++ `, and the text after a tab, such as a time. */
export function nameAndNote(line: string): readonly [name: string, note: string] {
  const text = line.slice('--- '.length);
  const quoted = quotedIn(text);
  if (quoted) return [quoted.name, quoted.rest.trim()];
  const [name = '', ...notes] = text.split('\t');
  return [plain(name), notes.join('\t').trim()];
}

/** Marks U+FFFD as a lost character, which it may be in a clipboard, though never in a patch in UTF-8. */
function plain(name: string): string {
  return name.replaceAll('\ufffd', LOST);
}

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/** @returns `undefined` unless the text begins with a name in quotes */
export function quotedIn(text: string): NameAndRest | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  if (!quoted) return undefined;
  const [whole, inner = ''] = quoted;
  const parts = inner.match(/\\[0-3][0-7]{2}|\\.|[^\\]+/gsu) ?? [];
  const bytes = parts.map(part => {
    if (!part.startsWith('\\')) return Buffer.from(part);
    const escaped = part.slice(1);
    return Buffer.from([ESCAPES[escaped] ?? (Number.parseInt(escaped, 8) || 0x3f)]);
  });
  return { name: nameOfBytes(Buffer.concat(bytes)), rest: text.slice(whole.length) };
}

/** The two names of one file after `diff --git `, with their prefixes. */
export type NamePair = readonly [old: string, now: string];

/**
 * Splits the names after `diff --git `, which differ in their prefixes at most.
 * @returns `undefined` where a file could have several names
 */
export function namesOfHead(text: string): NamePair | undefined {
  const quoted = quotedIn(text);
  if (quoted) return [quoted.name, nameIn(quoted.rest.slice(1))];
  const quote = text.indexOf(' "');
  if (quote > 0) return [plain(text.slice(0, quote)), nameIn(text.slice(quote + 1))];
  let best: NamePair | undefined;
  let longest = 0;
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) {
    const pair: NamePair = [plain(text.slice(0, at)), plain(text.slice(at + 1))];
    if (pair[0] === pair[1]) return pair;
    const common = commonName(...pair)?.length ?? 0;
    if (common <= longest) continue;
    [best, longest] = [pair, common];
  }
  return best;
}

/** The name that two names with different prefixes have in common; `undefined` if there is none. */
export function commonName(old: string, now: string): string | undefined {
  let length = 0;
  while (length < old.length && length < now.length && old.at(-1 - length) === now.at(-1 - length)) length++;
  const common = length === 0 ? '' : old.slice(-length);
  if (common === old || common === now) return common;
  const slash = common.indexOf('/');
  return slash < 0 || slash === common.length - 1 ? undefined : common.slice(slash + 1);
}
