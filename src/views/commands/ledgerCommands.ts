import * as vscode from 'vscode';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { shownExpired } from '../pending/pendingNodes.ts';
import { oneLine, withoutIcons } from '../plainText.ts';
import type { PreviewOpener } from '../preview/previewOpener.ts';
import type { Restaging } from '../preview/restaging.ts';
import { showInfo } from '../toast.ts';
import { targetsOf } from './previewTarget.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface LedgerCommandsOptions {
  readonly store: PreviewStore;
  readonly restaging: Restaging;
  readonly opener: PreviewOpener;
}

/** Commands about what is resolved or gone: the ledger, and what comes back from it. */
export function ledgerCommands({ store, restaging, opener }: LedgerCommandsOptions): CommandHandlers {
  const named = (args: readonly unknown[]): Preview[] =>
    targetsOf(args).flatMap(({ id }) => store.get(id) ?? []);

  /** The named preview, or one of those that can be brought back. */
  const chosen = async (
    args: readonly unknown[],
    can: (preview: Preview) => boolean,
    texts: { readonly title: string; readonly none: string; readonly cannot: (preview: Preview) => string },
  ): Promise<Preview | undefined> => {
    const [preview] = named(args);
    if (preview && can(preview)) return preview;
    if (preview) return void showInfo(texts.cannot(preview));
    const candidates = resolvedLast(store).filter(can);
    if (candidates.length === 0) return void showInfo(texts.none);
    return pickPreview(candidates, texts.title);
  };

  const show = async (preview: Preview | undefined): Promise<string | undefined> => {
    if (preview) await opener.open(preview);
    return preview?.id;
  };

  return {
    'redline.showLedger': async () => (await import('../ledger/ledgerPick.ts')).showLedger(store),
    'redline.preview.undo': async (...args) => {
      const preview = await chosen(args, candidate => restaging.canUndo(candidate), {
        title: vscode.l10n.t('Undo which applied preview?'),
        none: vscode.l10n.t('Nothing that was applied can be undone.'),
        cannot: ({ label }) =>
          vscode.l10n.t('{0} cannot be undone: only applied file changes can.', oneLine(label)),
      });
      return show(preview && (await restaging.undo(preview)));
    },
    'redline.preview.reopen': async (...args) => {
      const preview = await chosen(args, candidate => restaging.canReopen(candidate), {
        title: vscode.l10n.t('Reopen which discarded preview?'),
        none: vscode.l10n.t('Nothing that was discarded can be reopened.'),
        cannot: ({ label }) =>
          vscode.l10n.t('{0} cannot be reopened: only discarded file changes can.', oneLine(label)),
      });
      return show(preview && (await restaging.reopen(preview)));
    },
    'redline.preview.dismiss': async (...args) => {
      const previews = named(args);
      for (const { id } of previews.length > 0 ? previews : shownExpired(store)) await store.dismiss(id);
    },
  };
}

/** Each resolved preview once, the one resolved last first. */
function resolvedLast(store: PreviewStore): Preview[] {
  const ids = new Set(
    store
      .ledger()
      .map(entry => entry.previewId)
      .reverse(),
  );
  return [...ids].flatMap(id => store.get(id) ?? []);
}

async function pickPreview(previews: readonly Preview[], title: string): Promise<Preview | undefined> {
  const items = previews.map(preview => ({
    label: withoutIcons(preview.label),
    description: preview.id,
    detail: withoutIcons(preview.changes?.map(({ path }) => path).join(', ') ?? ''),
    preview,
  }));
  const options = { title, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.preview;
}
