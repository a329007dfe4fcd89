import { Emitter } from '../../src/agent/base/event.ts';
import { isWithin, type Problem, type Problems } from '../../src/agent/session/tools/problems.ts';

/** The `Problems` port in memory. */
export class MemoryProblems implements Problems {
  readonly #files = new Map<string, readonly Problem[]>();
  readonly #changed = new Emitter<readonly string[]>();
  readonly opened = new Set<string>();
  readonly onDidChange = this.#changed.event;

  list(paths?: readonly string[]): readonly Problem[] {
    return [...this.#files.values()]
      .flat()
      .filter(({ path }) => paths?.some(asked => isWithin(path, asked)) ?? true);
  }

  isOpen(path: string): boolean {
    return this.opened.has(path);
  }

  /** What was reported about proposed texts, by preview, path and text. */
  readonly proposed = new Map<string, readonly Problem[]>();

  ofProposal(
    ...proposal: readonly [previewId: string, path: string, text: string]
  ): readonly Problem[] | undefined {
    return this.proposed.get(proposal.join(' '));
  }

  /** A language service reports what it found in a file; each is a message, or a whole problem. */
  report(path: string, ...problems: (string | Partial<Problem>)[]): void {
    this.#files.set(
      path,
      problems.map((problem, i) => ({
        path,
        severity: 'error',
        line: i + 1,
        column: 1,
        message: '',
        ...(typeof problem === 'string' ? { message: problem } : problem),
      })),
    );
    this.#changed.fire([path]);
  }
}
