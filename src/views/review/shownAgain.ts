import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { coalesce } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Agent } from '../agent.ts';
import { IN_FRONT } from '../contributions.ts';
import type { PreviewOpener } from './previewOpener.ts';
import { addressOf, type PreviewTabs } from './previewTabs.ts';
import { shownChange } from './shownChange.ts';

/** How long changes of tabs are collected before they are kept, in milliseconds. */
const GATHER_MS = 100;

/** The previews in front, one for each group of editors that shows one. */
const stored = z.array(
  z.object({
    previewId: z.string(),
    /** Of the file, if one of several is shown by itself. */
    path: z.optional(z.string()),
    column: z.number(),
  }),
);

type InFront = z.infer<typeof stored>[number];

/**
 * Stores which previews are in front, and opens them again where VS Code did not: in a browser and after a crash, it restores its
 * last saved state, which may be a minute old. Previews resolved meanwhile stay closed.
 */
export class ShownAgain extends Owner {
  readonly #agent: Agent & { readonly tabs: PreviewTabs; readonly opener: PreviewOpener };
  readonly #memory: vscode.Memento;

  constructor(
    agent: Agent & { readonly tabs: PreviewTabs; readonly opener: PreviewOpener },
    memory: vscode.Memento,
  ) {
    super();
    this.#agent = agent;
    this.#memory = memory;
    const keep = coalesce(() => this.#keep(), GATHER_MS);
    this.own({ dispose: keep.cancel });
    const follow = (): void => {
      this.own(vscode.window.tabGroups.onDidChangeTabs(keep));
      this.own(vscode.window.tabGroups.onDidChangeTabGroups(keep));
      keep();
    };
    this.#openAgain()
      .catch((error: unknown) => agent.logger.error(`Opening a diff again failed: ${detailOf(error)}`))
      .finally(follow);
  }

  async #openAgain(): Promise<void> {
    const { store, tabs, opener } = this.#agent;
    for (const { previewId, path, column } of this.#kept()) {
      const preview = store.get(previewId);
      if (preview?.state.kind !== 'pending' || tabs.columnShowing(previewId) !== undefined) continue;
      const isThere = path !== undefined && preview.changes?.some(change => change.path === path);
      // It does not take the focus from a user who is already at work again.
      await opener.open(preview, isThere ? path : undefined, { preserveFocus: true, viewColumn: column });
    }
  }

  #kept(): readonly InFront[] {
    const { data = [] } = stored.safeParse(this.#memory.get(IN_FRONT));
    return data;
  }

  #keep(): void {
    const { store, files, tabs, logger } = this.#agent;
    const inFront = vscode.window.tabGroups.all.flatMap(({ activeTab, viewColumn }): InFront[] => {
      const previewId = tabs.idOf(activeTab);
      if (previewId === undefined) return [];
      const address = activeTab && addressOf(activeTab);
      const path = address && shownChange(store, files, address)?.change.path;
      return [{ previewId, ...(path === undefined ? {} : { path }), column: viewColumn }];
    });
    if (JSON.stringify(inFront) === JSON.stringify(this.#kept())) return;
    this.#memory
      .update(IN_FRONT, inFront.length > 0 ? inFront : undefined)
      .then(undefined, (error: unknown) =>
        logger.error(`Storing which diffs are open failed: ${detailOf(error)}`),
      );
  }
}
