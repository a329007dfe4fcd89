import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import type { Preview, ResolveAction } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { resolvePart } from '../../agent/preview/resolvePart.ts';
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

/** Votes on many previews, or files of previews, one after the other, with one summary at the end. */
export class BulkVotes {
  readonly #options: BulkVotesOptions;

  constructor(options: BulkVotesOptions) {
    this.#options = options;
  }

  /** Applies in the order of staging, for a later one may build on an earlier one; leaves stale ones alone. */
  async applyAll(targets: readonly PreviewTarget[]): Promise<void> {
    const staged = new Map(this.#options.store.all().map(({ id }, i) => [id, i]));
    const at = ({ id }: PreviewTarget): number => staged.get(id) ?? 0;
    const fresh = targets
      .filter(({ id }) => !this.#isStale(id) && !this.#options.edits.hasUnsaved(id))
      .sort((one, other) => at(one) - at(other));
    const applied = (await this.#voteOnAll('apply', fresh, '')).length;
    const left = targets.length - applied;
    const done =
      applied === 1 ? vscode.l10n.t('Applied 1 preview.') : vscode.l10n.t('Applied {0} previews.', applied);
    const rest =
      left === 1
        ? vscode.l10n.t('1 was not applied and stays pending.')
        : vscode.l10n.t('{0} were not applied and stay pending.', left);
    void showInfo(left === 0 ? done : `${done} ${rest}`);
  }

  /**
   * Discards, and offers to bring back what was discarded; does not wait for the answer to that.
   * @param reason the person's own words for all of them, or none
   * @returns how many it discarded
   */
  async discardAll(targets: readonly PreviewTarget[], reason = ''): Promise<number> {
    const { logger } = this.#options;
    const discarded = await this.#voteOnAll('discard', targets, reason);
    this.#offerReopening(discarded).catch((error: unknown) => {
      logger.error(`Reopening what was discarded failed: ${detailOf(error)}`);
    });
    return discarded.length;
  }

  async #offerReopening(discarded: readonly Preview[]): Promise<void> {
    const { restaging } = this.#options;
    const reopenable = discarded.filter(preview => restaging.canReopen(preview));
    const reopen = vscode.l10n.t('Reopen');
    const choice = await showInfo(
      discarded.length === 1
        ? vscode.l10n.t('Discarded 1 preview.')
        : vscode.l10n.t('Discarded {0} previews.', discarded.length),
      ...(reopenable.length > 0 ? [reopen] : []),
    );
    if (choice === reopen) for (const preview of reopenable) await restaging.reopen(preview);
  }

  /** Those that were resolved as wanted, as they are now; what fails stays pending and is logged. */
  async #voteOnAll(
    action: ResolveAction,
    targets: readonly PreviewTarget[],
    reason: string,
  ): Promise<Preview[]> {
    const votes = targets.map(target => this.#voteOn(action, target, humanReason(action, reason)));
    if (votes.length < LONG) return this.#castEach(votes, () => false);
    const title =
      action === 'apply' ? vscode.l10n.t('Applying previews') : vscode.l10n.t('Discarding previews');
    const { Notification: location } = vscode.ProgressLocation;
    return vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) =>
      this.#castEach(votes, done => {
        progress.report({
          increment: 100 / votes.length,
          message: vscode.l10n.t('{0} of {1}', done, votes.length),
        });
        return token.isCancellationRequested;
      }),
    );
  }

  async #castEach(votes: readonly Vote[], stopAfter: (done: number) => boolean): Promise<Preview[]> {
    const { logger } = this.#options;
    const resolved: Preview[] = [];
    for (const [index, { action, id, cast }] of votes.entries()) {
      try {
        const preview = await cast();
        if (preview?.state.kind === (action === 'apply' ? 'applied' : 'discarded')) resolved.push(preview);
      } catch (error) {
        logger.warn(`${action} ${id} failed: ${detailOf(error)}`);
      }
      if (stopAfter(index + 1)) break;
    }
    return resolved;
  }

  /** A vote for what the target showed when this is called. Cast, it gives what it resolved: of a file, the part. */
  #voteOn(action: ResolveAction, target: PreviewTarget, reason: string): Vote {
    const { store, invoker } = this.#options;
    const { id, path } = target;
    const request = { id, action, reason, actor: 'human' as const };
    const changeNow = (): FileChange | undefined =>
      store.get(id)?.changes?.find(change => change.path === path);
    const seen = changeNow();
    const revision = target.revision ?? store.get(id)?.revision ?? 0;
    const cast = async (): Promise<Preview | undefined> => {
      if (path === undefined) {
        await invoker.resolve({ ...request, revision });
        return store.get(id);
      }
      // Votes on other files raise the revision of what is left: this file is what was seen if it did not change.
      const now = isSame(seen, changeNow()) ? (store.get(id)?.revision ?? revision) : revision;
      await resolvePart({ store, invoker }, { ...request, revision: now }, { path });
      const whole = store.get(id);
      return whole?.state.kind === 'pending' ? store.all().findLast(one => isPart(one, id, path)) : whole;
    };
    return { action, id, cast };
  }

  #isStale(id: string): boolean {
    const state: Preview['state'] | undefined = this.#options.store.get(id)?.state;
    return state?.kind === 'pending' && state.stale.length > 0;
  }
}

interface Vote {
  readonly action: ResolveAction;
  readonly id: string;
  readonly cast: () => Promise<Preview | undefined>;
}

function isSame(one: FileChange | undefined, other: FileChange | undefined): boolean {
  return one?.before?.hash === other?.before?.hash && one?.after?.hash === other?.after?.hash;
}

function isPart({ part, changes }: Preview, id: string, path: string): boolean {
  return part?.previewId === id && changes?.some(change => change.path === path) === true;
}
