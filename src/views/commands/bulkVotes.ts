import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import type { Preview, ResolveAction } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';
import type { Restaging } from '../preview/restaging.ts';
import type { ProposalEdits } from '../preview/proposalEdits.ts';
import { showInfo } from '../toast.ts';
import type { PreviewTarget } from './previewTarget.ts';

/** From this many on a bulk vote shows its progress and can be cancelled. */
const LONG = 25;

export interface BulkVotesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly restaging: Restaging;
  readonly edits: Pick<ProposalEdits, 'hasUnsaved'>;
  readonly logger: Logger;
}

/** Votes on many previews, one after the other, with one summary at the end. */
export class BulkVotes {
  readonly #options: BulkVotesOptions;

  constructor(options: BulkVotesOptions) {
    this.#options = options;
  }

  /** Applies in the order given, which is that of staging; leaves stale ones alone. */
  async applyAll(targets: readonly PreviewTarget[]): Promise<void> {
    const fresh = targets.filter(({ id }) => !this.#isStale(id) && !this.#options.edits.hasUnsaved(id));
    const applied = await this.#voteOnAll('apply', fresh);
    const left = targets.length - applied.length;
    const text =
      left === 0
        ? vscode.l10n.t('Applied {0} previews.', applied.length)
        : vscode.l10n.t('Applied {0} previews; {1} were not applied and stay pending.', applied.length, left);
    void showInfo(text);
  }

  /**
   * Discards, and offers to bring back what was discarded; does not wait for the answer to that.
   * @returns how many it discarded
   */
  async discardAll(targets: readonly PreviewTarget[]): Promise<number> {
    const { logger } = this.#options;
    const discarded = await this.#voteOnAll('discard', targets);
    this.#offerReopening(discarded).catch((error: unknown) => {
      logger.error(`Reopening what was discarded failed: ${detailOf(error)}`);
    });
    return discarded.length;
  }

  async #offerReopening(discarded: readonly PreviewTarget[]): Promise<void> {
    const { store, restaging } = this.#options;
    const reopenable = discarded
      .flatMap(({ id }) => store.get(id) ?? [])
      .filter(preview => restaging.canReopen(preview));
    const reopen = vscode.l10n.t('Reopen');
    const choice = await showInfo(
      discarded.length === 1
        ? vscode.l10n.t('Discarded 1 preview.')
        : vscode.l10n.t('Discarded {0} previews.', discarded.length),
      ...(reopenable.length > 0 ? [reopen] : []),
    );
    if (choice === reopen) for (const preview of reopenable) await restaging.reopen(preview);
  }

  /** Those that were resolved as wanted; what fails stays pending and is logged. */
  async #voteOnAll(action: ResolveAction, targets: readonly PreviewTarget[]): Promise<PreviewTarget[]> {
    if (targets.length < LONG) return this.#voteOnEach(action, targets, () => false);
    const title =
      action === 'apply' ? vscode.l10n.t('Applying previews') : vscode.l10n.t('Discarding previews');
    const { Notification: location } = vscode.ProgressLocation;
    return vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) =>
      this.#voteOnEach(action, targets, done => {
        progress.report({
          increment: 100 / targets.length,
          message: vscode.l10n.t('{0} of {1}', done, targets.length),
        });
        return token.isCancellationRequested;
      }),
    );
  }

  async #voteOnEach(
    action: ResolveAction,
    targets: readonly PreviewTarget[],
    stopAfter: (done: number) => boolean,
  ): Promise<PreviewTarget[]> {
    const { invoker, logger } = this.#options;
    const resolved: PreviewTarget[] = [];
    for (const [index, target] of targets.entries()) {
      const { id, revision } = target;
      try {
        await invoker.resolve({
          id,
          ...(revision === undefined ? {} : { revision }),
          action,
          reason: humanReason(action),
          actor: 'human',
        });
        if (this.#isNow(id, action)) resolved.push(target);
      } catch (error) {
        logger.warn(`${action} ${id} failed: ${detailOf(error)}`);
      }
      if (stopAfter(index + 1)) break;
    }
    return resolved;
  }

  #isNow(id: string, action: ResolveAction): boolean {
    return this.#options.store.get(id)?.state.kind === (action === 'apply' ? 'applied' : 'discarded');
  }

  #isStale(id: string): boolean {
    const state: Preview['state'] | undefined = this.#options.store.get(id)?.state;
    return state?.kind === 'pending' && state.stale.length > 0;
  }
}
