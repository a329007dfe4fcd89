import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../../agent/base/event.ts';
import { detailOf } from '../../../agent/base/errors.ts';
import type { Check, CheckRuns } from '../../../agent/sandbox/checks/check.ts';
import type { SuggestedCheck } from '../../../agent/sandbox/checks/suggestChecks.ts';
import type { Checks } from '../../../agent/sandbox/checks/checks.ts';
import type { CheckMark } from '../../../agent/hold/preview/previewView.ts';
import type { CheckFact } from '../../../agent/hold/preview/ledger.ts';
import { pathsOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import { globMatcher, type PathMatcher } from '../../../agent/hold/text/glob.ts';
import { NO_CHECKS, type Proof, type Prover } from '../../../agent/hold/preview/resolve/proof.ts';
import type { ReviewedSession } from '../sessionPort.ts';
import { isApplicable } from '../../../agent/hold/preview/resolve/refusals.ts';
import type { CheckSettings } from './checkSettings.ts';
import type { WindowChecksParts } from './openChecks.ts';

/** The checks of this window, whose code is loaded when the first one runs. */
export class WindowChecks extends Owner implements Prover {
  readonly settings: CheckSettings;
  readonly #parts: WindowChecksParts;
  readonly #changed = this.own(new Emitter<void>());
  #loading: Promise<Checks> | undefined;
  #checks: Checks | undefined;
  /** By the glob of a check; `undefined` while it loads. */
  readonly #matchers = new Map<string, PathMatcher | undefined>();

  /** Fires when a mark may have changed. Output comes often: collect the events. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(parts: WindowChecksParts) {
    super();
    this.#parts = parts;
    this.settings = parts.settings;
    this.own(
      vscode.workspace.onDidChangeConfiguration(
        event =>
          ['redline.checks', 'terminal.integrated'].some(name => event.affectsConfiguration(name)) &&
          this.#changed.fire(),
      ),
    );
  }

  get hasChecks(): boolean {
    return this.settings.list.length > 0;
  }

  async prove(previews: readonly Preview[], signal?: AbortSignal): Promise<Proof> {
    if (!this.hasChecks) return NO_CHECKS.prove(previews);
    return (await this.load()).prove(previews, signal);
  }

  factsOf(previews: readonly Preview[]): readonly CheckFact[] {
    return this.#checks?.factsOf(previews) ?? [];
  }

  /** Results of the checks on one pending preview, and a mark for each that concerns it and has none. */
  marksOf(preview: Preview): readonly CheckMark[] {
    if (preview.state.kind !== 'pending') return [];
    const marks = this.#checks?.marksOf([preview]) ?? [];
    if (!isApplicable(preview)) return marks;
    const untested = this.settings.list.filter(
      check => !marks.some(({ name }) => name === check.name) && this.#concerns(check, preview),
    );
    return [
      ...marks,
      ...untested.map(({ name }) => ({
        name,
        state: 'notTested' as const,
        isCurrent: false,
        seconds: 0,
        problems: 0,
        isFlaky: false,
        together: [],
      })),
    ];
  }

  /** Results of the checks on all pending previews of a conversation. */
  marksOfAll(sessionId: string | undefined): readonly CheckMark[] {
    return this.#checks?.marksOf(this.#checks.checkable(sessionId)) ?? [];
  }

  /** Whether a check concerns the preview; false until the check's glob is loaded. */
  #concerns({ files }: Check, preview: Preview): boolean {
    if (files === undefined) return true;
    if (!this.#matchers.has(files)) {
      this.#matchers.set(files, undefined);
      void globMatcher([files]).then(matches => {
        this.#matchers.set(files, matches);
        this.#changed.fire();
      });
    }
    const matches = this.#matchers.get(files);
    return matches !== undefined && pathsOf(preview).some(matches);
  }

  /** Backend of the tool `run_checks`. */
  readonly runs: CheckRuns = {
    list: () => this.settings.list,
    withBase: id => {
      const preview = this.#parts.store.get(id);
      const all = preview ? [...this.#parts.store.open.blockersOf(preview), preview] : [];
      return all.length > 0 && all.every(isApplicable) ? all : undefined;
    },
    run: async (previews, names, signal) => (await this.load()).run(previews, 'other', { names, signal }),
  };

  /**
   * Runs all checks, except those on demand, on pending previews once the session has stopped running. (A turn of the loop is one
   * request.) A run that no person asked for needs an isolated sandbox.
   */
  follow(session: Pick<ReviewedSession, 'id' | 'onDidEmit'>): vscode.Disposable {
    let wasRunning = false;
    return session.onDidEmit(event => {
      if (event.type !== 'state_changed') return;
      if (wasRunning) void this.#turnEnded(session.id);
      wasRunning = event.state === 'running';
    });
  }

  /** The suggested checks that can run here. */
  async runnable(suggested: readonly SuggestedCheck[]): Promise<readonly SuggestedCheck[]> {
    const { runnable } = await import('../../../agent/sandbox/checks/runnable.ts');
    return runnable(suggested, this.#parts);
  }

  load(): Promise<Checks> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #turnEnded(sessionId: string): Promise<void> {
    const names = this.settings.atTurnEnd;
    if (names.length === 0) return;
    try {
      const checks = await this.load();
      const previews = checks.checkable(sessionId);
      if (previews.length > 0) await checks.run(previews, 'other', { names, compares: false });
    } catch (error) {
      this.#parts.logger.error(`The checks at the end of a turn failed: ${detailOf(error)}`);
    }
  }

  async #load(): Promise<Checks> {
    const { OpenChecks } = await import('./openChecks.ts');
    const { checks } = this.own(new OpenChecks(this.#parts));
    this.#checks = checks;
    this.own(checks.onDidChange(() => this.#changed.fire()));
    return checks;
  }
}
