import { detailOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { errorPlace, placeOfText } from './errorPlace.ts';
import { faultText, type LoadFault, type LoadProblem } from './loadProblem.ts';

/** Where an owner's code comes from. */
export type OwnerOrigin =
  { readonly kind: 'file'; readonly file: string; readonly source: string } | { readonly kind: 'extension' };

/** The most problems of one file: a timer that throws could go on for ever. */
const MAX_PROBLEMS = 20;

/** Whose code is running: all tools of one file, or of one factory that another extension brought. */
export class ToolOwner {
  /** `loaded` between the end of its factory and its removal. */
  state: 'loading' | 'loaded' | 'removed' = 'loading';
  /** Ids of the previews that it staged. */
  readonly staged = new Set<string>();
  readonly origin: OwnerOrigin;
  readonly #logger: Logger;
  readonly #onProblem: () => void;
  readonly #told = new WeakSet<Error>();
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

  /** Another extension brought it and took it back: nobody is left to do what it would stage. */
  get isWithdrawn(): boolean {
    return this.origin.kind === 'extension' && this.state === 'removed';
  }

  /** What is wrong with its file. */
  get problems(): readonly LoadProblem[] {
    return this.#problems;
  }

  /** Tells of a fault: a line in the log, and a problem where there is a file. */
  report(fault: LoadFault, error?: unknown): void {
    if (error instanceof Error) {
      // It may go on its way through the tool after it was told.
      if (this.#told.has(error)) return;
      this.#told.add(error);
    }
    const detail = error === undefined ? '' : `\n${detailOf(error)}`;
    this.#logger.error(`Custom tool ${this.name}: ${faultText(fault)}${detail}`);
    if (this.origin.kind !== 'file' || this.state === 'removed') return;
    if (this.#problems.length >= MAX_PROBLEMS) return;
    const problem = problemOf(fault, error, this.origin);
    if (this.#problems.some(known => JSON.stringify(known) === JSON.stringify(problem))) return;
    this.#problems = [...this.#problems, problem];
    this.#onProblem();
  }

  /** Takes back what was told of a kind. */
  retract(kind: LoadFault['kind']): void {
    this.#problems = this.#problems.filter(({ fault }) => fault.kind !== kind);
  }
}

function problemOf(
  fault: LoadFault,
  error: unknown,
  { file, source }: Extract<OwnerOrigin, { kind: 'file' }>,
): LoadProblem {
  if (fault.kind === 'nameTaken') return { file, ...placeOfText(source, fault.name), fault };
  const { message, ...place } = errorPlace(error, file, source);
  // The place is told by itself.
  const hasPlace = fault.kind === 'importFailed' || fault.kind === 'factoryThrew';
  return { file, ...place, fault: hasPlace ? { ...fault, message } : fault };
}
