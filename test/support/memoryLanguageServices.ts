import type {
  DeclaredSymbol,
  FoundPlace,
  LanguageServices,
  Position,
  RangeEdit,
  RenameAnswer,
} from '../../src/agent/session/tools/symbols/languageServices.ts';
import type { MemoryWorkspace } from './memoryWorkspace.ts';

/**
 * Language services of a made-up language in which every word is a symbol, and `def word` declares it. Like real ones they see
 * the files on disk and in editors, and no pending previews.
 */
export class MemoryLanguageServices implements LanguageServices {
  readonly #workspace: MemoryWorkspace;
  /** Answers every rename, if it is set. */
  answer: RenameAnswer | undefined;
  /** Added to what is found: places outside the workspace, for example. */
  extra: readonly FoundPlace[] = [];
  /** What it was asked. */
  readonly asked: (readonly [what: string, path: string, at?: Position])[] = [];

  constructor(workspace: MemoryWorkspace) {
    this.#workspace = workspace;
  }

  async outline(path: string): Promise<readonly DeclaredSymbol[] | undefined> {
    this.asked.push(['outline', path]);
    if (!path.endsWith('.lang')) return undefined;
    return this.#lines(path).flatMap((text, line) => {
      const name = /^\s*def (\w+)/.exec(text)?.[1];
      return name === undefined ? [] : [{ name, kind: 'function', line, endLine: line, children: [] }];
    });
  }

  async definitions(path: string, at: Position): Promise<readonly FoundPlace[]> {
    this.asked.push(['definitions', path, at]);
    const all = this.#uses(this.#wordAt(path, at));
    return all.filter(({ path: file, line }) => /^\s*def /.test(this.#lines(file)[line] ?? ''));
  }

  async references(path: string, at: Position): Promise<readonly FoundPlace[]> {
    this.asked.push(['references', path, at]);
    return [...this.#uses(this.#wordAt(path, at)), ...this.extra];
  }

  async rename(path: string, at: Position, newName: string): Promise<RenameAnswer> {
    this.asked.push(['rename', path, at]);
    if (this.answer) return this.answer;
    const name = this.#wordAt(path, at);
    const files = new Map<string, RangeEdit[]>();
    for (const { path: file, line, character } of this.#uses(name)) {
      const edit = {
        start: { line, character },
        end: { line, character: character + name.length },
        text: newName,
      };
      files.set(file, [...(files.get(file) ?? []), edit]);
    }
    return { kind: 'edits', files: [...files].map(([file, edits]) => ({ path: file, edits })) };
  }

  #lines(path: string): readonly string[] {
    return (this.#workspace.now(path) ?? '').split('\n');
  }

  #wordAt(path: string, { line, character }: Position): string {
    return /^\w+/.exec((this.#lines(path)[line] ?? '').slice(character))?.[0] ?? '';
  }

  #uses(name: string): readonly FoundPlace[] {
    return Object.keys(this.#workspace.snapshot()).flatMap(path =>
      this.#lines(path).flatMap((text, line) =>
        [...text.matchAll(/\w+/g)].flatMap(({ 0: word, index }) =>
          word === name ? [{ path, isOutside: false, line, character: index }] : [],
        ),
      ),
    );
  }
}
