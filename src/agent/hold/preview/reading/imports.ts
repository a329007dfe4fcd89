import { beginningOf } from '../../../base/cutText.ts';

/** How much of a text is searched for imports, in characters: they stand at its beginning. */
const MAX_CHARS = 32_000;

/** A module as a text names it: a relative path, or the parts of a name such as `shop.tax` or `@/shop/tax`. */
export interface Import {
  /** How many folders above the importing file's folder the name starts; absent for a name that is not relative. */
  readonly up?: number;
  readonly parts: readonly string[];
  /** The names imported from it, if the text lists them. */
  readonly names: readonly string[];
}

type Reader = (text: string) => readonly Import[];

/**
 * Imports of a file, as far as its lines show them. Nothing is parsed: every window needs this at once, even one without an
 * engine, and only the reading order and a question to the user depend on it.
 * @param path its extension gives the language
 */
export function importsOf(path: string, text: string): readonly Import[] {
  const reader = readers.get(extensionOf(path));
  return reader ? reader(beginningOf(text, MAX_CHARS)) : [];
}

/** Finds, among some files, those that imports mean. */
export class ImportTargets {
  /** The files by the last part of each name that they have as a module. */
  readonly #byLast = new Map<string, { readonly path: string; readonly parts: readonly string[] }[]>();

  constructor(paths: Iterable<string>) {
    for (const path of paths)
      for (const parts of moduleNames(path)) {
        const last = parts.at(-1) ?? '';
        const same = this.#byLast.get(last);
        if (same) same.push({ path, parts });
        else this.#byLast.set(last, [{ path, parts }]);
      }
  }

  /** The paths that an import in this file may mean. */
  of(from: string, { up, parts }: Import): readonly string[] {
    const found = new Set<string>();
    const folder = from.split('/').slice(0, -1);
    const base = up === undefined ? [] : folder.slice(0, Math.max(0, folder.length - up));
    const wanted = [...base, ...parts];
    const isPlain = up === undefined;
    for (const target of this.#byLast.get(wanted.at(-1) ?? '') ?? []) {
      if (target.path === from) continue;
      if (isPlain ? isSameEnd(target.parts, wanted, folder) : isEqual(target.parts, wanted))
        found.add(target.path);
    }
    return [...found];
  }
}

/** Names by which other files import a file: its own with and without extension, and its folder's if it stands for the folder. */
function moduleNames(path: string): readonly (readonly string[])[] {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const folder = parts.slice(0, -1);
  const bare = name.replace(/(?<=.)\.[^.]*$/, '');
  const names = [
    [...folder, name],
    [...folder, bare.replace(/\.d$/, '')],
  ];
  // The files of a Go package have only the name of their folder.
  if (/^(?:index|__init__|mod|lib)$/.test(bare) || name.endsWith('.go')) names.push(folder);
  if (/\.s[ac]ss$/.test(name) && bare.startsWith('_')) names.push([...folder, bare.slice(1)]);
  return names;
}

/**
 * Whether a name that begins at some root means a module: one ends with the other, which has at least two parts, since `events`
 * alone is more likely a package. For a module beside the importing file, or at the root, one part is enough.
 */
function isSameEnd(target: readonly string[], wanted: readonly string[], folder: readonly string[]): boolean {
  if (isEqual(target, wanted) || isEqual(target, [...folder, ...wanted])) return true;
  const length = Math.min(target.length, wanted.length);
  return length > 1 && isEqual(target.slice(-length), wanted.slice(-length));
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}

const scriptPatterns = [
  /^[^\S\r\n]*(?:import|export)\b([^;'"`]{0,2000}?)\bfrom\s{0,20}['"]([^'"\n]+)['"]/gm,
  /^[^\S\r\n]*import()\s{0,20}['"]([^'"\n]+)['"]/gm,
  /\b(?:require|import)()\(\s{0,20}['"]([^'"\n]+)['"]\s{0,20}\)/g,
];

function script(text: string): readonly Import[] {
  return scriptPatterns.flatMap(pattern =>
    Array.from(text.matchAll(pattern), ([, clause = '', name = '']) =>
      named(name.replace(/\.[cm]?[jt]sx?$/, ''), takenNames(clause)),
    ),
  );
}

/** The names in the braces of an import: `{ tax, type Rate as R }`. */
function takenNames(clause: string): readonly string[] {
  const inBraces = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  return Array.from(inBraces.matchAll(/(?:^|,)\s*(?:type\s+)?([\w$]+)/g), ([, name = '']) => name);
}

/** A name with slashes, as it is written. */
function named(name: string, names: readonly string[] = []): Import {
  const all = name.split('/').filter(part => part !== '' && part !== '.');
  const parts = all.filter(part => part !== '..');
  if (/^\.\.?(?:\/|$)/.test(name)) return { up: all.length - parts.length, parts, names };
  // Aliases of the root: @/shop, ~/shop, #shop.
  const [first = '', ...rest] = parts;
  if (first === '@' || first === '~') return { parts: rest, names };
  return { parts: [first.replace(/^#/, ''), ...rest], names };
}

function python(text: string): readonly Import[] {
  const from = Array.from(
    text.matchAll(
      /^[^\S\r\n]*from[^\S\r\n]+(\.*)([\w.]*)[^\S\r\n]+import[^\S\r\n]+(\([^)]{0,2000}|[^\n]*)/gm,
    ),
    ([, dots = '', module = '', list = '']): Import[] => {
      const names = Array.from(list.matchAll(/(?:^|[,(])\s*(\w+)/g), ([, name = '']) => name);
      const parts = module.split('.').filter(Boolean);
      const up = dots === '' ? {} : { up: dots.length - 1 };
      // An imported name may be a module itself.
      return [{ ...up, parts, names }, ...names.map(name => ({ ...up, parts: [...parts, name], names: [] }))];
    },
  );
  const plain = Array.from(text.matchAll(/^[^\S\r\n]*import[^\S\r\n]+([\w., \t]+)/gm), ([, list = '']) =>
    list.split(',').map(name => ({
      parts: (name.trim().split(/\s/)[0] ?? '').split('.').filter(Boolean),
      names: [],
    })),
  );
  return [...from.flat(), ...plain.flat()].filter(({ parts }) => parts.length > 0);
}

function rust(text: string): readonly Import[] {
  const modules = Array.from(
    text.matchAll(/^[^\S\r\n]*(?:pub(?:\([^)\n]*\))?[^\S\r\n]+)?mod[^\S\r\n]+(\w+)[^\S\r\n]*;/gm),
    ([, name = '']): Import => ({ up: 0, parts: [name], names: [] }),
  );
  const uses = Array.from(
    text.matchAll(/^[^\S\r\n]*(?:pub[^\S\r\n]+)?use[^\S\r\n]+(crate|super|self)::([\w:]+)/gm),
    ([, root = '', name = '']): Import[] => {
      const parts = name.split('::').filter(Boolean);
      // The last part may be an item of the module.
      return [parts, parts.slice(0, -1)].map(each =>
        root === 'crate'
          ? { parts: ['src', ...each], names: [] }
          : { up: root === 'super' ? 1 : 0, parts: each, names: [] },
      );
    },
  );
  return [...modules, ...uses.flat()].filter(({ parts }) => parts.length > 0);
}

/** A reader for lines that name one module each. */
function lines(pattern: RegExp, separator: RegExp | undefined): Reader {
  return text =>
    Array.from(text.matchAll(pattern), ([, name = '']) =>
      separator ? { parts: name.split(separator).filter(Boolean), names: [] } : named(name),
    );
}

/** Names that are paths, relative to the file even without a dot before them. */
function relative(pattern: RegExp): Reader {
  return text => Array.from(text.matchAll(pattern), ([, name = '']) => ({ up: 0, ...named(`./${name}`) }));
}

const readers = new Map<string, Reader>(
  (
    [
      [['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte', 'astro'], script],
      [['py', 'pyi'], python],
      [['rs'], rust],
      [['go'], lines(/^[^\S\r\n]*(?:import[^\S\r\n]+)?(?:[\w.]+[^\S\r\n]+)?"([^"\n]+)"[^\S\r\n]*$/gm, /\//)],
      [
        ['java', 'kt', 'kts', 'scala', 'groovy'],
        lines(/^[^\S\r\n]*import[^\S\r\n]+(?:static[^\S\r\n]+)?([\w.]+)/gm, /\./),
      ],
      [['php'], lines(/^[^\S\r\n]*use[^\S\r\n]+([\w\\]+)/gm, /\\/)],
      [
        ['c', 'cc', 'cpp', 'cxx', 'h', 'hh', 'hpp', 'm', 'mm'],
        relative(/^[^\S\r\n]*#[^\S\r\n]*include[^\S\r\n]*"([^"\n]+)"/gm),
      ],
      [
        ['css', 'scss', 'sass', 'less'],
        relative(/^[^\S\r\n]*@(?:import|use|forward)[^\S\r\n]+(?:url\()?['"]([^'"\n]+)['"]/gm),
      ],
      [['rb'], relative(/^[^\S\r\n]*require_relative[^\S\r\n]*\(?['"]([^'"\n]+)['"]/gm)],
    ] as const
  ).flatMap(([extensions, reader]) => extensions.map(extension => [extension, reader] as const)),
);

/** The extension of a path, in lower case and without a dot. */
export function extensionOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}
