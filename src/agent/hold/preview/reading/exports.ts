import { extensionOf } from './imports.ts';

/** The longest declaration that is compared, in characters; of a longer one only the beginning. */
const MAX_DECLARATION = 1_000;

/**
 * Names that a text exports, as far as its lines show it, each with its declaration. Bodies of functions and values do not belong
 * to it. `undefined` for a language without rules for this.
 */
export function exportsOf(path: string, text: string): ReadonlyMap<string, string> | undefined {
  const reader = readers.get(extensionOf(path));
  return reader && new Map(reader(text).map(([name, declaration]) => [name, plain(declaration)]));
}

/** How the exports of a file differ: names that are gone, and names whose declaration changed. */
export interface ExportChange {
  readonly gone: readonly string[];
  readonly changed: readonly string[];
}

/** @returns `undefined` if nothing that other files can use is gone or has another declaration */
export function exportChange(path: string, before: string, after: string): ExportChange | undefined {
  const [was, is] = [exportsOf(path, before), exportsOf(path, after)];
  if (!was || !is) return undefined;
  const gone = [...was.keys()].filter(name => !is.has(name));
  const changed = [...was].flatMap(([name, old]) => (is.has(name) && is.get(name) !== old ? [name] : []));
  return gone.length + changed.length > 0 ? { gone, changed } : undefined;
}

type Reader = (text: string) => readonly (readonly [name: string, declaration: string])[];

/** Layout does not count. */
function plain(declaration: string): string {
  return declaration
    .replace(/\s+/g, ' ')
    .replace(/,? ?([)\]}])/g, '$1')
    .replace(/([([{]) /g, '$1')
    .trim();
}

const SCRIPT =
  /^export[^\S\r\n]+(?:declare[^\S\r\n]+)?(default[^\S\r\n]+)?(?:abstract[^\S\r\n]+)?(?:async[^\S\r\n]+)?(?:(function\*?|class|const enum|const|let|var|interface|type|enum|namespace)\b[^\S\r\n]*([\w$]+)?)?/gm;
const SCRIPT_LIST = /^export[^\S\r\n]+(?:type[^\S\r\n]+)?\{([^}]{0,4000})\}/gm;
const COMMON_JS = /^(?:module\.)?exports\.([\w$]+)[^\S\r\n]*=/gm;

function script(text: string): [string, string][] {
  const declared = Array.from(text.matchAll(SCRIPT), (match): [string, string][] => {
    const [whole, isDefault, kind, name] = match;
    const id = isDefault ? 'default' : name;
    if (id === undefined) return [];
    return [[id, `${whole} ${restOf(text, match.index + whole.length, kind)}`]];
  });
  const listed = Array.from(text.matchAll(SCRIPT_LIST), ([, list = '']) =>
    list.split(',').flatMap((item): [string, string][] => {
      const name = item.trim().split(/\s+/).at(-1) ?? '';
      return /^[\w$]+$/.test(name) ? [[name, 'listed']] : [];
    }),
  );
  const assigned = Array.from(text.matchAll(COMMON_JS), ([, name = '']): [string, string] => [
    name,
    'assigned',
  ]);
  return [...declared.flat(), ...listed.flat(), ...assigned];
}

/** The declaration after its name: parameters and result of a function, members of a type. */
function restOf(text: string, from: number, kind: string | undefined): string {
  const rest = text.slice(from, from + MAX_DECLARATION);
  switch (kind) {
    case 'interface':
    case 'enum':
    case 'const enum':
      return rest.slice(0, endOf(rest, /^\}|\}[^\S\r\n]*$/m));
    case 'type':
      return rest.slice(0, endOf(rest, /;[^\S\r\n]*(?:\n|$)|\n(?=\S)(?![|&})\]])/));
    case 'function':
    case 'function*':
      return signature(rest);
    case 'class':
      return rest.slice(0, endOf(rest, /\{/));
    case 'const':
    case 'let':
    case 'var': {
      const [type = ''] = rest.split(/=(?!>)|[;\n]/, 1);
      const value = rest.slice(type.length).replace(/^=\s*/, '');
      return /^(?:async\s*)?\(/.test(value) ? `${type} ${signature(value)}` : type;
    }
    default:
      return '';
  }
}

function endOf(text: string, pattern: RegExp): number {
  const match = pattern.exec(text);
  return match ? match.index + match[0].length : text.length;
}

/** The parameters, to the bracket that closes them, and the text between them and the body. */
function signature(text: string): string {
  let depth = 0;
  for (const { 0: bracket, index } of text.matchAll(/[()[\]{}]/g)) {
    depth += '([{'.includes(bracket) ? 1 : -1;
    if (depth > 0 || bracket !== ')') continue;
    const [result = ''] = text.slice(index + 1).split(/=>|\{[^\S\r\n]*(?:\n|$)|[;\n]|\{[^}\n]*\}\s*$/, 1);
    return text.slice(0, index + 1) + result.replace(/\{\s*return\b.*$/, '');
  }
  return text;
}

/** A reader for one pattern, which matches a whole declaration and names it in its first group. */
function declarations(pattern: RegExp): Reader {
  return text => Array.from(text.matchAll(pattern), ([whole, name = '']): [string, string] => [name, whole]);
}

const readers = new Map<string, Reader>(
  (
    [
      [['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs'], script],
      [
        ['py', 'pyi'],
        declarations(
          /^(?:(?:async[^\S\r\n]+)?def[^\S\r\n]+|class[^\S\r\n]+)([A-Za-z]\w*)(?:\([^)]{0,1000}\)(?:[^\S\r\n]*->[^:\n]*)?)?/gm,
        ),
      ],
      [
        ['go'],
        declarations(/^(?:func[^\S\r\n]+(?:\([^)\n]*\)[^\S\r\n]*)?|type[^\S\r\n]+)([A-Z]\w*)[^{\n]*/gm),
      ],
      [
        ['rs'],
        declarations(
          /^pub[^\S\r\n]+(?:(?:async|const|unsafe)[^\S\r\n]+)*(?:fn|struct|enum|trait|type|mod|static|const|union)[^\S\r\n]+(\w+)[^{;=]{0,1000}/gm,
        ),
      ],
    ] as const
  ).flatMap(([extensions, reader]) => extensions.map(extension => [extension, reader] as const)),
);
