import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { resourceLimits } from 'node:worker_threads';
import { messageOf } from '../../../../base/errors.ts';
import { AstError } from '../worker/protocol.ts';
import type { Range } from './fileLayout.ts';
import { languages, type AstLanguage } from './languages.ts';

interface Position {
  readonly index: number;
  readonly line: number;
}

/** A node of a syntax tree. Offsets are UTF-16 code units of the parsed text, including a byte order mark. */
export interface SyntaxNode {
  kind(): string;
  isNamed(): boolean;
  text(): string;
  range(): { readonly start: Position; readonly end: Position };
  children(): SyntaxNode[];
  parent(): SyntaxNode | null;
  find(matcher: Matcher): SyntaxNode | null;
  findAll(matcher: Matcher): SyntaxNode[];
  getMatch(name: string): SyntaxNode | null;
  getMultipleMatches(name: string): SyntaxNode[];
  getRoot(): { root(): SyntaxNode; filename(): string };
}

/** A pattern as the engine takes it. */
export type PatternRule = string | { readonly context: string; readonly selector: string };

type Rule =
  | { readonly pattern: PatternRule }
  | { readonly kind: string }
  | { readonly regex: string }
  | { readonly any: readonly Rule[] };

export interface Matcher {
  readonly rule: Rule;
}

/** The kind of the nodes for code that does not parse. */
const ERROR = 'ERROR';

interface NapiModule {
  parse(language: string, text: string): { root(): SyntaxNode };
  findInFiles(
    language: string,
    config: { readonly paths: string[]; readonly matcher: Matcher },
    callback: (error: Error | null, nodes: SyntaxNode[]) => void,
  ): Promise<number>;
  kind(language: string, name: string): number;
  registerDynamicLanguage(languages: Record<string, object>): void;
}

/** Paths of compiled grammars, by language id. */
export type GrammarFiles = Readonly<Record<string, string>>;

/** The native files of the structural search. */
export interface NativeFiles {
  /** Without it, the engine is that of the npm package. */
  readonly engine?: string;
  readonly grammars: GrammarFiles;
}

/**
 * The package `@ast-grep/napi`, which only this file uses. It is native code that is loaded on first use. So are the
 * grammars that do not come with it, which it accepts in a single call only.
 */
export class AstGrepNapi {
  readonly #files: () => Promise<NativeFiles>;
  #grammars: GrammarFiles = {};
  #loading: Promise<void> | undefined;
  #module: NapiModule | undefined;
  #registered = false;

  /** @param files called on each attempt to load the package */
  constructor(files: () => Promise<NativeFiles>) {
    this.#files = files;
  }

  /**
   * Loads the package. To be awaited before any search.
   * @throws AstError `noEngine` when this machine cannot load it
   */
  async load(): Promise<void> {
    if (this.#module) return;
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    await this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const { engine, grammars } = await this.#files();
      this.#grammars = grammars;
      this.#module = (
        engine === undefined
          ? ((await import('@ast-grep/napi')) as { readonly default: unknown }).default
          : createRequire(import.meta.url)(engine)
      ) as NapiModule;
    } catch (error) {
      throw new AstError({ code: 'noEngine', reason: messageOf(error) });
    }
  }

  /** Whether a file of this language can be parsed on this machine. */
  supports(language: string): boolean {
    return languages.some(
      ({ id, grammar }) => id === language && (!grammar || this.#grammars[id] !== undefined),
    );
  }

  /** Whether the grammar of a language has a kind of nodes with this name. */
  hasKind(language: string, name: string): boolean {
    return this.#moduleFor(language).kind(language, name) !== 0;
  }

  parse(language: string, text: string): SyntaxNode {
    return this.#moduleFor(language).parse(language, text).root();
  }

  /**
   * The ranges of a tree's multi-line strings, without the code in them: see `AstLanguage.strings`. A line that begins within one
   * of the ranges begins in a string.
   * @param text of the tree, or one that contains it
   */
  stringsIn(root: SyntaxNode, text: string, { strings }: AstLanguage): readonly Range[] {
    const present = strings.filter(([, sign]) => sign.test(text));
    if (present.length === 0) return [];
    const codeIn = new Map(present.map(([kind, , code]) => [kind, code]));
    const found = root.findAll({ rule: { any: present.map(([kind]) => ({ kind })) } });
    return found.flatMap(node => {
      const { start, end } = node.range();
      return start.line < end.line ? textRanges(node, codeIn.get(node.kind())) : [];
    });
  }

  hasErrors(root: SyntaxNode): boolean {
    return root.find({ rule: { kind: ERROR } }) !== null;
  }

  /** The number of places that do not parse: unexpected code, and missing tokens. */
  countErrors(root: SyntaxNode): number {
    const found = root.findAll({ rule: { any: [{ kind: ERROR }, { regex: '^$' }] } });
    // A heredoc or a script may be empty.
    const isError = (node: SyntaxNode): boolean =>
      node.kind() === ERROR || (isMissing(node) && !/^heredoc_|^raw_text$/.test(node.kind()));
    return found.filter(isError).length;
  }

  /**
   * Parses files in the engine's thread pool. Calls `onFile` for each file with matches, with the matches in the order
   * of the text and whether the file has syntax errors. The pool looks for those too, since that walks the whole tree.
   * Files that cannot be read as UTF-8 are skipped.
   * @param matchesAll the pattern matches every node, so that a match may itself be a syntax error
   * @returns settles after the last call of `onFile`
   */
  async findInFiles(
    language: string,
    paths: string[],
    { rule: pattern, matchesAll }: { readonly rule: PatternRule; readonly matchesAll: boolean },
    onFile: (nodes: SyntaxNode[], hasErrors: boolean) => void,
  ): Promise<void> {
    const engine = this.#moduleFor(language);
    const rule = { any: [{ pattern }, { kind: ERROR }] };
    await new Promise<void>((resolve, reject) => {
      let expected: number | undefined;
      let seen = 0;
      const callback = (error: Error | null, nodes: SyntaxNode[]): void => {
        seen++;
        try {
          if (error) reject(error);
          else {
            const matches = nodes.filter(node => node.kind() !== ERROR);
            const hasErrors = matches.length < nodes.length;
            if (matchesAll) onFile(nodes, hasErrors);
            else if (matches.length > 0) onFile(matches, hasErrors);
          }
        } catch (thrown) {
          reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
        if (seen === expected) resolve();
      };
      // The engine's promise gives the number of callbacks; some of them may come only after it has settled.
      engine.findInFiles(language, { paths, matcher: { rule } }, callback).then(count => {
        expected = count;
        if (seen === count) resolve();
      }, reject);
    });
  }

  #moduleFor(language: string): NapiModule {
    if (!this.#module) throw new Error('@ast-grep/napi is not loaded');
    if (!this.#registered && languages.some(({ id, grammar }) => id === language && grammar))
      this.#registerGrammars();
    return this.#module;
  }

  #registerGrammars(): void {
    const registrations: Record<string, object> = {};
    for (const { id, extensions, expando, grammar } of languages) {
      const libraryPath = this.#grammars[id];
      // The engine ends the process if it is given a file that does not exist.
      if (grammar && libraryPath !== undefined && existsSync(libraryPath)) {
        registrations[id] = { libraryPath, extensions, languageSymbol: grammar.symbol, expandoChar: expando };
      }
    }
    this.#module?.registerDynamicLanguage(registrations);
    this.#registered = true;
  }
}

/** Whether the parser inserted the token to recover from an error: such a token has no text. */
export function isMissing(node: SyntaxNode): boolean {
  const { start, end } = node.range();
  return start.index === end.index && node.children().length === 0;
}

/** Whether a node is in the text of no multi-line string; `false` in languages where its parent would not tell. */
export function isOutsideStrings(node: SyntaxNode, { quoted, strings }: AstLanguage): boolean {
  const around = quoted ? node.parent()?.kind() : undefined;
  return around !== undefined && !strings.some(([kind]) => kind === around);
}

/** The length of an array that V8 is sure to put among the young objects, and its size in bytes. */
const SLOTS = 2_048;
const BYTES = SLOTS * 8;

/**
 * Makes V8 free the syntax trees that are no longer referenced. A tree is megabytes of native memory behind an object of a few
 * bytes, so V8 sees no reason to collect it; the memory stays in use, and freeing it all at once would hold up a later search.
 * Filling the space for young objects triggers a collection. (Asking for one directly needs a flag that not every process may set.)
 * The first one frees the nodes, and the second one the trees that they refer to, if the event loop has run in between: objects that
 * survive two are taken for old, and stay for long. Does nothing outside a worker with a limit for that space.
 */
export async function freeUnusedTrees(): Promise<void> {
  const youngMb = resourceLimits.maxYoungGenerationSizeMb ?? 0;
  let last: number[] = [];
  for (let collection = 0; collection < 2; collection++) {
    await setImmediate();
    for (let filled = 0; filled < (youngMb * 1024 * 1024) / 4; filled += BYTES)
      last = new Array<number>(SLOTS).fill(last.length);
  }
  // What the collections found is freed in the next turn of the event loop.
  await setImmediate();
}

/** The parts of a string around the code in it. Each includes the first character of the code after it, which may begin a line. */
function textRanges(string: SyntaxNode, code: string | undefined): Range[] {
  const { start, end } = string.range();
  const parts: Range[] = [];
  let from = start.index;
  for (const child of code === undefined ? [] : string.children()) {
    if (child.kind() !== code) continue;
    const range = child.range();
    parts.push({ start: from, end: range.start.index + 1 });
    from = range.end.index;
  }
  return [...parts, { start: from, end: end.index }];
}
