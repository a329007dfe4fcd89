import { detailOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';
import { faultText, locateFault, type LoadFault, type LoadProblem } from './loading/loadProblem.ts';

/** The origin of an owner's code; `source` is the text of the file. */
export type OwnerOrigin =
  { readonly kind: 'file'; readonly file: string; readonly source: string } | { readonly kind: 'extension' };

/** The most problems of one file, since a timer could throw for ever. */
const MAX_PROBLEMS = 20;

/** The owner of custom tools: one file, or one factory of another extension. Their faults are reported to it. */
export class ToolOwner {
  /** `loaded` from the end of its factory until its removal. */
  state: 'loading' | 'loaded' | 'removed' = 'loading';
  /** Ids of the previews that its tools staged. */
  readonly staged = new Set<string>();
  readonly origin: OwnerOrigin;
  readonly #logger: Logger;
  readonly #onProblem: () => void;
  readonly #reported = new WeakSet<Error>();
  #problems: readonly LoadProblem[] = [];

  constructor(origin: OwnerOrigin, logger: Logger, onProblem: () => void) {
    this.origin = origin;
    this.#logger = logger;
    this.#onProblem = onProblem;
  }

  /** For the log. */
  get name(): string {
    return this.origin.kind === 'file' ? this.origin.file : 'another extension';
  }

  /** Whether another extension has removed it, so that its callbacks could no longer run. */
  get isWithdrawn(): boolean {
    return this.origin.kind === 'extension' && this.state === 'removed';
  }

  /** The problems of its file. */
  get problems(): readonly LoadProblem[] {
    return this.#problems;
  }

  /** Reports a fault: a line in the log and, if the owner is a file, a problem. */
  report(fault: LoadFault, error?: unknown): void {
    if (error instanceof Error) {
      // An error may be reported where it is thrown and again where it arrives.
      if (this.#reported.has(error)) return;
      this.#reported.add(error);
    }
    const detail = error === undefined ? '' : `\n${detailOf(error)}`;
    this.#logger.error(`Custom tool ${this.name}: ${faultText(fault)}${detail}`);
    if (this.origin.kind !== 'file' || this.state === 'removed') return;
    if (this.#problems.length >= MAX_PROBLEMS) return;
    const { file, source } = this.origin;
    const problem = locateFault(fault, error, file, source);
    if (this.#problems.some(known => JSON.stringify(known) === JSON.stringify(problem))) return;
    this.#problems = [...this.#problems, problem];
    this.#onProblem();
  }

  /** The names of its tools are free now. */
  retractNameTaken(): void {
    this.#problems = this.#problems.filter(({ fault }) => fault.kind !== 'nameTaken');
  }
}
