import * as vscode from 'vscode';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Settings } from '../host/settings.ts';
import type { PendingView } from '../pending/pendingTree.ts';
import type { PreviewOpener } from '../preview/previewOpener.ts';
import type { PreviewTabs } from '../preview/previewTabs.ts';
import { showInfo } from '../toast.ts';
import { isFromTree, targetsOf, type PreviewTarget } from './previewTarget.ts';

export interface PreviewChoiceOptions {
  readonly store: PreviewStore;
  readonly settings: Settings;
  readonly opener: PreviewOpener;
  readonly pendingView: PendingView;
  readonly tabs: PreviewTabs;
}

/** Which previews a command means. */
export class PreviewChoice {
  readonly #options: PreviewChoiceOptions;

  constructor(options: PreviewChoiceOptions) {
    this.#options = options;
  }

  /** In the order of staging: an earlier one may be what a later one builds on. */
  pending(): readonly Preview[] {
    return this.#options.store.list('oldestFirst').filter(preview => preview.state.kind === 'pending');
  }

  get head(): Preview | undefined {
    const { store, settings } = this.#options;
    return store.list(settings.order)[0];
  }

  /** The previews that were named or focused, else the one in the active editor. */
  async targets(args: readonly unknown[]): Promise<readonly PreviewTarget[]> {
    const { pendingView, tabs } = this.#options;
    if (isFromTree(args[0])) return targetsOf([undefined, await pendingView.focused()]);
    const named = targetsOf(args);
    const active = named.length > 0 ? undefined : tabs.activeId();
    return active === undefined ? named : [{ id: active }];
  }

  /** With nothing named and no preview active, a person is shown the head instead of voting on it unseen. */
  async openHead(): Promise<void> {
    const { head } = this;
    if (head) await this.#options.opener.open(head);
    else void showInfo(vscode.l10n.t('Nothing is pending.'));
  }

  /** Opens the one after or before the active preview, around the ends. */
  async step(direction: 1 | -1): Promise<void> {
    const { store, settings, tabs, opener } = this.#options;
    const previews = store.list(settings.order);
    const at = previews.findIndex(preview => preview.id === tabs.activeId());
    const next = previews.at(at < 0 ? 0 : (at + direction) % previews.length);
    if (next) await opener.open(next);
  }
}
