import { BrokenReport } from './testReport.ts';

/** An element of XML. Its text is left out. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
}

const MAX_DEPTH = 100;
const OPENING =
  /<(?<name>[A-Za-z_][\w:.-]*)(?<attributes>(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?<end>\/?)>/y;
const CLOSING = /<\/(?<name>[A-Za-z_][\w:.-]*)\s*>/y;
const ATTRIBUTE = /\s+(?<name>[\w:.-]+)\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)')/gy;
/** Beginnings and ends of the parts that are skipped. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Reads a document of XML without a document type.
 * @returns its root
 * @throws BrokenReport if it is cut off, or elements are not nested
 */
export function readXml(text: string): Element {
  const document: Open = { name: '', attributes: {}, children: [] };
  const open: Open[] = [document];
  let at = 0;
  while ((at = nextTag(text, at, open.length > 1)) >= 0) {
    const skipped = SKIPPED.find(([begin]) => text.startsWith(begin, at));
    if (skipped) {
      const end = text.indexOf(skipped[1], at + skipped[0].length);
      if (end < 0) throw new BrokenReport('It is cut off');
      // A tag inside means that the end is lost.
      if (skipped[0] === '<?' && /[<>]/.test(text.slice(at + 1, end))) throw new BrokenReport('No tag');
      if (skipped[0] === '<![CDATA[' && open.length === 1) throw new BrokenReport('Text outside the root');
      at = end + skipped[1].length;
      continue;
    }
    const current = open.at(-1) ?? document;
    const closing = match(CLOSING, text, at);
    const opening = closing ? undefined : match(OPENING, text, at);
    if (closing) {
      if (open.length === 1 || closing.groups['name'] !== current.name) throw new BrokenReport('Not nested');
      open.pop();
    } else if (opening) {
      const { name = '', attributes = '', end } = opening.groups;
      const element: Open = { name, attributes: attributesIn(attributes), children: [] };
      current.children.push(element);
      if (end === '') open.push(element);
      if (open.length > MAX_DEPTH) throw new BrokenReport('Too deep');
    } else throw new BrokenReport('No tag');
    at += (closing ?? opening)?.length ?? 0;
  }
  const [root, ...more] = document.children;
  if (!root || more.length > 0 || open.length > 1) throw new BrokenReport('Not one root');
  return root;
}

interface Open extends Element {
  readonly children: Element[];
}

/** The position of the next tag; -1 at the end. */
function nextTag(text: string, from: number, isInside: boolean): number {
  const at = text.indexOf('<', from);
  const between = text.slice(from, at < 0 ? undefined : at);
  if (!isInside && between.replace('\uFEFF', '').trim() !== '')
    throw new BrokenReport('Text outside the root');
  return at;
}

function match(
  pattern: RegExp,
  text: string,
  at: number,
): { readonly groups: Record<string, string | undefined>; readonly length: number } | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found ? { groups: found.groups ?? {}, length: found[0].length } : undefined;
}

function attributesIn(text: string): Record<string, string> {
  const attributes = new Map<string, string>();
  for (const { groups = {} } of text.matchAll(ATTRIBUTE)) {
    const name = groups['name'] ?? '';
    if (attributes.has(name)) throw new BrokenReport('An attribute twice');
    attributes.set(name, unescaped(groups['double'] ?? groups['single'] ?? ''));
  }
  return Object.fromEntries(attributes);
}

function unescaped(text: string): string {
  return text.replace(/&(#x?)?(\w*)(;?)/g, (_, number: string | undefined, value: string, end: string) => {
    const code = number === undefined ? undefined : Number.parseInt(value, number === '#' ? 10 : 16);
    const isChar = code === undefined ? Object.hasOwn(ENTITIES, value) : code > 0 && code <= 0x10ffff;
    if (!isChar || end === '') throw new BrokenReport('No entity');
    return code === undefined ? (ENTITIES[value] ?? '') : String.fromCodePoint(code);
  });
}
