import { Owner } from '../base/disposable.ts';
import { fenced } from '../base/phrases.ts';
import { stepsOf } from '../hold/preview/fileSteps.ts';
import { plainOutcome, type LedgerEntry } from '../hold/preview/ledger.ts';
import type { FileChange } from '../hold/preview/fileChange.ts';
import type { Preview } from '../hold/preview/preview.ts';
import { byImportance, problemLine, type Problem, type Problems } from './tools/problems.ts';
import type { SessionContext } from './sessionOptions.ts';

/** The longest time that a request waits after an apply for the Problems of the written files, in milliseconds. */
export const WAIT_MS = 2_000;
/** How long after an apply a new problem counts as its result, in milliseconds; until the next request, it always counts. */
const LATE_MS = 30_000;
/** The most files that are watched at once. Of a preview with more, only the first ones are looked at. */
const MAX_FILES = 100;
/** The most problems in one message. */
const MAX_PROBLEMS = 20;

/** The problems reported about a file before it was written. */
interface Before {
  readonly problems: readonly Problem[];
  /** Whether even a service that only checks open files could have reported on it; always true for a created file. */
  readonly wasChecked: boolean;
}

/** A file that was written, until its new problems have been told. */
interface Watched {
  before: Before;
  readonly previewIds: Set<string>;
  appliedAt: number;
  /** Whether a request waits for news of the file: only if a language service may be expected to check it. */
  isAwaited: boolean;
}

/**
 * Tells the model, before its next request, which Problems are new in the files that an apply wrote: errors and warnings that were
 * not reported before it. The apply itself never waits for them; a request waits at most until {@link WAIT_MS} after the apply, and
 * only for files that are open or had Problems, since the others are seldom checked.
 */
export class NewProblems extends Owner {
  readonly #ctx: SessionContext;
  /** The problems reported before an apply that has not ended, by preview and path. */
  readonly #applying = new Map<string, ReadonlyMap<string, Before>>();
  readonly #watched = new Map<string, Watched>();
  /** Called when a file has news. */
  #onNews: () => void = () => undefined;

  constructor(ctx: SessionContext) {
    super();
    this.#ctx = ctx;
    const { store, problems } = ctx;
    if (!problems) return;
    this.own(store.onDidChange(preview => this.#follow(preview, problems)));
    this.own(store.onDidResolve(entries => this.#end(entries, problems)));
    this.own(problems.onDidChange(paths => this.#note(paths)));
  }

  /** Whether there is anything to {@link tell}. */
  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  /** Puts new problems into the inbox, after waiting for them. Ends early when the signal is aborted. */
  async tell(signal: AbortSignal): Promise<void> {
    const { problems } = this.#ctx;
    if (!problems || !this.isWatching) return;
    await this.#untilNews(signal);
    if (signal.aborted) return;
    const found: Problem[] = [];
    const ids = new Set<string>();
    for (const [path, watched] of this.#watched) {
      const now = seriousIn(problems, path);
      const isNew = comparable(watched.before, problems.isOpen(path))
        ? withoutKnown(now, watched.before.problems)
        : [];
      if (isNew.length > 0) for (const id of watched.previewIds) ids.add(id);
      found.push(...isNew);
      watched.before = { problems: now, wasChecked: true };
      watched.isAwaited = false;
      if (Date.now() - watched.appliedAt > LATE_MS) this.#watched.delete(path);
    }
    if (found.length === 0) return;
    const previewIds = [...ids];
    this.#ctx.inbox.add({
      role: 'steering',
      kind: 'problems',
      text: problemsText(found, previewIds),
      previewIds,
    });
  }

  /** Forgets everything: another conversation is opened. */
  clear(): void {
    this.#applying.clear();
    this.#watched.clear();
  }

  #follow({ id, state, changes }: Preview, problems: Problems): void {
    if (state.kind !== 'applying' || state.action !== 'apply' || !changes) return;
    if (!this.#ctx.conversation().previews.concerns(id)) return;
    const files = new Map<string, Before>();
    for (const change of changes) {
      if (files.size >= MAX_FILES) break;
      for (const [path, found] of before(change, problems)) files.set(path, found);
    }
    this.#applying.set(id, files);
  }

  #end(entries: readonly LedgerEntry[], problems: Problems): void {
    for (const { previewId, outcome, action } of entries) {
      const files = this.#applying.get(previewId);
      this.#applying.delete(previewId);
      if (!files || action !== 'apply' || plainOutcome(outcome) !== 'applied') continue;
      for (const [path, before] of files) this.#watch(path, before, previewId, problems);
    }
  }

  #watch(path: string, before: Before, previewId: string, problems: Problems): void {
    const known = this.#watched.get(path);
    const isAwaited = before.problems.length > 0 || problems.isOpen(path);
    if (known) {
      known.previewIds.add(previewId);
      Object.assign(known, { appliedAt: Date.now(), isAwaited });
    } else if (this.#watched.size < MAX_FILES) {
      this.#watched.set(path, { before, previewIds: new Set([previewId]), appliedAt: Date.now(), isAwaited });
    }
  }

  #note(paths: readonly string[]): void {
    for (const path of paths) {
      const watched = this.#watched.get(path);
      if (watched) watched.isAwaited = false;
    }
    this.#onNews();
  }

  /** Settles once there is news of every file that is awaited, when the time is over, or when the signal is aborted. */
  #untilNews(signal: AbortSignal): Promise<void> {
    const awaited = (): Watched[] => [...this.#watched.values()].filter(({ isAwaited }) => isAwaited);
    const waiting = awaited();
    if (waiting.length === 0 || signal.aborted) return Promise.resolve();
    const left = Math.max(...waiting.map(({ appliedAt }) => appliedAt)) + WAIT_MS - Date.now();
    if (left <= 0) return Promise.resolve();
    return new Promise(resolve => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#onNews = () => undefined;
        resolve();
      };
      const timer = setTimeout(end, left);
      signal.addEventListener('abort', end, { once: true });
      this.#onNews = () => void (awaited().length === 0 && end());
    });
  }
}

/** The problems reported about the files that a change will write. A renamed file brings its problems along. */
function before(change: FileChange, problems: Problems): [string, Before][] {
  return stepsOf(change).flatMap(({ path, after }): [string, Before][] => {
    if (!after) return [];
    const from = change.kind === 'rename' ? change.from : path;
    const wasChecked = change.kind === 'create' || problems.isOpen(from);
    return [[path, { problems: seriousIn(problems, from), wasChecked }]];
  });
}

/** A file that was closed, and is open now, may have had problems that no one had reported yet. */
function comparable({ problems, wasChecked }: Before, isOpen: boolean): boolean {
  return wasChecked || problems.length > 0 || !isOpen;
}

function seriousIn(problems: Problems, path: string): readonly Problem[] {
  return problems.list([path]).filter(problem => problem.path === path && problem.severity !== 'information');
}

/** The problems that were not known. An edit moves problems, so their places do not count. */
function withoutKnown(found: readonly Problem[], known: readonly Problem[]): readonly Problem[] {
  const left = new Map<string, number>();
  for (const problem of known) left.set(problemKey(problem), (left.get(problemKey(problem)) ?? 0) + 1);
  return found.filter(problem => {
    const count = left.get(problemKey(problem)) ?? 0;
    left.set(problemKey(problem), count - 1);
    return count <= 0;
  });
}

function problemKey({ severity, message, source, code }: Problem): string {
  return JSON.stringify([severity, message, source, code]);
}

function problemsText(found: readonly Problem[], previewIds: readonly string[]): string {
  const shown = [...found].sort(byImportance).slice(0, MAX_PROBLEMS);
  const rest = found.length - shown.length;
  return [
    `New in VS Code's Problems since ${previewIds.join(', ')} ${previewIds.length === 1 ? 'was' : 'were'} applied, in the files that changed:`,
    fenced(shown.map(problemLine).join('\n')),
    ...(rest > 0 ? [`And ${rest} more: call get_diagnostics.`] : []),
  ].join('\n');
}
