import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { coalesce } from '../agent/base/async.ts';
import { Owner } from '../agent/base/disposable.ts';
import { titleOf, type Preview } from '../agent/hold/preview/preview.ts';
import type { CheckMark } from '../agent/hold/preview/previewView.ts';
import type { PreviewStore } from '../agent/hold/preview/previewStore.ts';
import type { UnsavedEdits } from '../agent/hold/preview/setVotes.ts';
import { makeCommand } from './commandRegistry.ts';
import type { CommandArguments } from './contributions.ts';
import { oneLine, plural, withoutIcons } from './plainText.ts';
import { checkText, worstOf } from './texts/checkWords.ts';
import type { ReviewList } from './review/reviewList.ts';
import type { HunkAt } from './review/reviewPlaces.ts';
import type { ReviewTally } from './review/reviewTally.ts';

/** Delay after a change within which further changes cost no update of their own, in milliseconds. */
const UPDATE_DELAY_MS = 50;
const PRIORITY = 90;

/** The hunk at the cursor; `undefined` while the user looks at something else. */
export interface Place {
  readonly at: HunkAt | undefined;
  readonly onDidChange: vscode.Event<void>;
}

/** Results of the checks on all pending previews. */
export interface CheckNews {
  current(): readonly CheckMark[];
  readonly onDidChange: vscode.Event<void>;
}

/**
 * `3 pending` in the status bar, and while the cursor is in a preview `Hunk 3 of 14 · cart.ts · 3 pending changes`.
 * A click goes to that hunk, or opens the head; the tooltip links to Apply and Discard. Once nothing is pending any
 * more, it tells for a while how the review ended, and a click opens the ledger.
 */
export class StatusItem extends Owner {
  readonly #store: PreviewStore;
  readonly #tally: ReviewTally;
  readonly #review: ReviewList;
  readonly #edits: UnsavedEdits;
  readonly #place: Place | undefined;
  readonly #checks: CheckNews | undefined;
  readonly #item = this.own(
    vscode.window.createStatusBarItem('redline.pending', vscode.StatusBarAlignment.Left, PRIORITY),
  );

  constructor(
    store: PreviewStore,
    review: ReviewList,
    tally: ReviewTally,
    edits: UnsavedEdits,
    place?: Place,
    checks?: CheckNews,
  ) {
    super();
    this.#edits = edits;
    this.#place = place;
    this.#checks = checks;
    this.#store = store;
    this.#tally = tally;
    this.#review = review;
    this.#item.name = vscode.l10n.t('Redline: Pending Previews');
    const update = coalesce(() => this.#update(), UPDATE_DELAY_MS);
    this.own({ dispose: update.cancel });
    this.own(review.onDidChange(update));
    this.own(tally.onDidChange(update));
    this.own(edits.onDidChangeUnsaved(update));
    if (place) this.own(place.onDidChange(update));
    if (checks) this.own(checks.onDidChange(update));
    this.#update();
  }

  #update(): void {
    const count = this.#store.open.size;
    const head = this.#review.list()[0];
    if (!head) return this.#showEnd(this.#tally.line);
    const at = this.#place?.at;
    const { l10n } = vscode;
    const named = (): string => plural(l10n.t('1 pending change|{0} pending changes'), count);
    const counted = at ? `${withoutIcons(at.text)} · ${named()}` : l10n.t('{0} pending', count);
    const pending = `$(diff) ${counted}`;
    const worst = worstOf(this.#checks?.current() ?? []);
    this.#item.text = worst ? `${pending} · ${withoutIcons(checkText(worst, oneLine))}` : pending;
    void this.#showTooltip(head);
    const target: CommandArguments['redline.preview.open'] = at ? [at.id, at.path, at.hunk] : [head.id];
    this.#setCommand(makeCommand(l10n.t('Open'), 'redline.preview.open', ...target));
    const label = at
      ? `${at.text}. ${plural(l10n.t('1 preview is pending|{0} previews are pending'), count)}`
      : plural(
          l10n.t('Redline: 1 preview is pending. Opens {1}|Redline: {0} previews are pending. Opens {1}'),
          count,
          oneLine(titleOf(head)),
        );
    this.#item.accessibilityInformation = { label, role: 'button' };
    this.#item.show();
  }

  /** The code that makes it is loaded on first use. */
  async #showTooltip(head: Preview): Promise<void> {
    const { tooltipOf } = await import('./statusTooltip.ts');
    const open = [...this.#store.open];
    // Another update may have come first.
    if (this.#store.get(head.id)?.revision !== head.revision || open.length === 0) return;
    this.#item.tooltip = tooltipOf(head, open, id => this.#edits.hasUnsaved(id));
  }

  #showEnd(line: string): void {
    if (line === '') return this.#item.hide();
    this.#item.text = `$(pass) ${line}`;
    this.#item.tooltip = vscode.l10n.t('Show Ledger');
    this.#setCommand(makeCommand(vscode.l10n.t('Show Ledger'), 'redline.showLedger'));
    this.#item.accessibilityInformation = { label: `Redline: ${line}`, role: 'button' };
    this.#item.show();
  }

  /** VS Code drops the old command when it is given another, even an equal one: a click in progress would do nothing. */
  #setCommand(command: vscode.Command): void {
    if (!isDeepStrictEqual(this.#item.command, command)) this.#item.command = command;
  }
}
