import * as vscode from 'vscode';
import { coalesce } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import type { Event } from '../../agent/base/event.ts';
import type { LedgerEntry } from '../../agent/hold/preview/ledger.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { makeCommand } from '../commandRegistry.ts';
import type { ModeSwitch } from '../settings.ts';
import type { ShownRevisions } from './shownRevisions.ts';
import { plural } from '../plainText.ts';

/** Right of the pending count, left of the checks. */
const PRIORITY = 89;
/** How long changes are collected before the item is updated, in milliseconds. */
const GATHER_MS = 100;

/** Whether the model of Redline's own session applied it on its own. */
export function isAppliedByModel({ actor, outcome, kind, agent }: LedgerEntry): boolean {
  return actor === 'model' && outcome === 'applied' && kind === 'files' && !agent;
}

/**
 * `Auto · 18 applied since you looked`, with the name of the mode, in the status bar: previews that the model applied on its own in
 * this window and that the user has not seen since. A click opens them in one diff, and the next click those that did not fit.
 */
export class AppliedUnseen extends Owner {
  readonly #store: PreviewStore;
  readonly #mode: ModeSwitch;
  readonly #item: vscode.StatusBarItem;
  readonly #ids = new Set<string>();

  /** @param since how many attempts the ledger had when the window began */
  constructor(
    store: PreviewStore,
    shown: ShownRevisions,
    onDidOpenSet: Event<readonly string[]>,
    since: number,
    mode: ModeSwitch,
  ) {
    super();
    this.#store = store;
    this.#mode = mode;
    this.#item = this.own(
      vscode.window.createStatusBarItem('redline.applied', vscode.StatusBarAlignment.Left, PRIORITY),
    );
    this.#item.name = vscode.l10n.t('Redline: Applied by the Model');
    const show = coalesce(() => this.#show(), GATHER_MS);
    this.own({ dispose: show.cancel });
    const note = (entries: readonly LedgerEntry[]): void => {
      for (const entry of entries) {
        if (isAppliedByModel(entry)) this.#ids.add(entry.previewId);
        else if (entry.lost) this.#ids.delete(entry.previewId);
      }
      show();
    };
    const see = (ids: readonly string[]): void => {
      let isNew = false;
      for (const id of ids) isNew = this.#ids.delete(id) || isNew;
      if (isNew) show();
    };
    this.own(store.onDidResolve(note));
    this.own(mode.onDidChange(show));
    this.own(onDidOpenSet(see));
    this.own(
      shown.onDidShow(() => {
        if (this.#ids.size > 0) see(shown.visible().map(({ preview }) => preview.id));
      }),
    );
    note(store.ledgerFrom(since));
  }

  #show(): void {
    const ids = [...this.#ids].filter(id => this.#store.get(id) !== undefined);
    if (ids.length === 0) return this.#item.hide();
    const { l10n } = vscode;
    const text = plural(textIn(this.#mode.get()), ids.length);
    this.#item.text = `$(history) ${text}`;
    this.#item.tooltip = l10n.t('Shows what you have not looked at in one diff, at most 100 files at a time');
    this.#item.command = makeCommand(
      l10n.t('Review All'),
      'redline.preview.openAll',
      ids,
      l10n.t('Applied since You Looked'),
    );
    this.#item.accessibilityInformation = { label: `Redline: ${text}`, role: 'button' };
    this.#item.show();
  }
}

/** The item's text. It names the mode only if the model applies changes on its own in it. */
function textIn(mode: ReturnType<ModeSwitch['get']>): string {
  const { l10n } = vscode;
  switch (mode) {
    case 'apply':
      return l10n.t('Auto · 1 applied since you looked|Auto · {0} applied since you looked');
    case 'checked':
      return l10n.t(
        'Auto if Checks Pass · 1 applied since you looked|Auto if Checks Pass · {0} applied since you looked',
      );
    case 'recommend':
    case 'none':
      return l10n.t('1 applied since you looked|{0} applied since you looked');
  }
}
