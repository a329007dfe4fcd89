import { languages } from './languages.ts';

/** A node of a parsed file. Offsets are UTF-16 code units of the text that was parsed, a byte order mark included. */
export interface SyntaxNode {
  kind(): string;
  isNamed(): boolean;
  text(): string;
  range(): { readonly start: { readonly index: number }; readonly end: { readonly index: number } };
  children(): SyntaxNode[];
  find(matcher: Matcher): SyntaxNode | null;
  findAll(matcher: Matcher): SyntaxNode[];
  getMatch(name: string): SyntaxNode | null;
  getMultipleMatches(name: string): SyntaxNode[];
  getRoot(): { root(): SyntaxNode; filename(): string };
}

type Rule = { readonly pattern: string } | { readonly kind: string } | { readonly any: readonly Rule[] };

export interface Matcher {
  readonly rule: Rule;
}

/** What the parser makes of code that it cannot make sense of. */
const ERROR = 'ERROR';

interface Engine {
  parse(language: string, text: string): { root(): SyntaxNode };
  findInFiles(
    language: string,
    config: { readonly paths: string[]; readonly matcher: Matcher },
    callback: (error: Error | null, nodes: SyntaxNode[]) => void,
  ): Promise<number>;
  registerDynamicLanguage(languages: Record<string, object>): void;
}

/** Files of compiled grammars, by language id. */
export type GrammarFiles = Readonly<Record<string, string>>;

/**
 * The structural engine: the only place that knows the package. It is native code that is loaded on first use, as are
 * all grammars that do not come with it, which the engine takes in one call only.
 */
export class Structure {
  readonly #grammars: GrammarFiles;
  #engine: Engine | undefined;
  #registered = false;

  constructor(grammars: GrammarFiles) {
    this.#grammars = grammars;
  }

  /** Loads the engine. */
  async load(): Promise<void> {
    if (this.#engine) return;
    const loaded = (await import('@ast-grep/napi')) as unknown as Engine & { readonly default?: Engine };
    this.#engine = loaded.default ?? loaded;
  }

  /** Whether a file of this language can be parsed on this machine. */
  supports(language: string): boolean {
    return languages.some(
      ({ id, grammar }) => id === language && (!grammar || this.#grammars[id] !== undefined),
    );
  }

  parse(language: string, text: string): SyntaxNode {
    return this.#for(language).parse(language, text).root();
  }

  hasErrors(root: SyntaxNode): boolean {
    return root.find({ rule: { kind: ERROR } }) !== null;
  }

  /**
   * Parses files in a pool of threads and hands over the matches of each file that has any, in the order of the text,
   * and whether the file has syntax errors. Those are looked for in the pool, too, since it means to walk the whole tree.
   * @param matchesAll the pattern matches every node, so that a match may itself be a syntax error
   * @returns settles after the last call of `onFile`. Files that cannot be read as UTF-8 are passed over.
   */
  async findInFiles(
    language: string,
    paths: string[],
    { pat, matchesAll }: { readonly pat: string; readonly matchesAll: boolean },
    onFile: (nodes: SyntaxNode[], hasErrors: boolean) => void,
  ): Promise<void> {
    const engine = this.#for(language);
    const rule = { any: [{ pattern: pat }, { kind: ERROR }] };
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
      // The engine's promise tells how many files it hands over; some may still be on their way then.
      engine.findInFiles(language, { paths, matcher: { rule } }, callback).then(count => {
        expected = count;
        if (seen === count) resolve();
      }, reject);
    });
  }

  #for(language: string): Engine {
    if (!this.#engine) throw new Error('The structural engine is not loaded');
    if (!this.#registered && languages.some(({ id, grammar }) => id === language && grammar))
      this.#register();
    return this.#engine;
  }

  #register(): void {
    const registrations: Record<string, object> = {};
    for (const { id, extensions, expando, grammar } of languages) {
      const libraryPath = this.#grammars[id];
      if (grammar && libraryPath !== undefined) {
        registrations[id] = { libraryPath, extensions, languageSymbol: grammar.symbol, expandoChar: expando };
      }
    }
    this.#engine?.registerDynamicLanguage(registrations);
    this.#registered = true;
  }
}
