import * as vscode from 'vscode';
import type { FileChange } from '../../../agent/hold/preview/fileChange.ts';
import { titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { pendingImports, type PendingImport } from '../../../agent/hold/preview/reading/pendingImports.ts';
import { oneLine } from '../../plainText.ts';
import { choose } from '../../toast.ts';
import type { PreviewTarget } from './previewTargets.ts';

/** The most files that the question names. */
const MAX_NAMED = 5;

/** Imports that the user decided to leave unapplied, as pairs of an importing file and a preview, in this window. */
const answered = new Set<string>();

/**
 * Asks, once, before applying files that import pending ones.
 * @param taken the changes to apply
 * @returns the targets to apply before them, empty if none; `undefined` if the user cancels
 */
export async function askImports(
  store: PreviewStore,
  taken: readonly FileChange[],
): Promise<readonly PreviewTarget[] | undefined> {
  const pending = [...store.open].filter(({ state }) => state.kind === 'pending');
  const missing = pendingImports(taken, pending);
  if (missing.every(each => answered.has(importKey(each)))) return [];
  const { l10n } = vscode;
  const [first] = missing;
  const names = missing
    .slice(0, MAX_NAMED)
    .map(({ path, change, preview }) =>
      l10n.t('{0} imports {1}: {2}', baseName(path), baseName(change.path), oneLine(titleOf(preview))),
    );
  const more = missing.length > MAX_NAMED ? ['…'] : [];
  const both = missing.length === 1 ? l10n.t('Apply Both') : l10n.t('Apply All of Them');
  const without = l10n.t('Apply Only This');
  const text =
    missing.length === 1 && first
      ? l10n.t('{0} imports {1}, which is still pending.', baseName(first.path), baseName(first.change.path))
      : l10n.t('What this imports is still pending.');
  const choice = await choose(text, [...names, ...more].join('\n'), both, without);
  if (choice === both) return missing.map(targetOf);
  if (choice !== without) return undefined;
  for (const each of missing) answered.add(importKey(each));
  return [];
}

/** The revision of a preview after others were applied, if it still proposes the same as when the user voted. */
export function revisionNow(store: PreviewStore, seen: Preview, taken: readonly FileChange[]): number {
  const now = store.get(seen.id);
  const isSame = taken.every(change =>
    now?.changes?.some(
      ({ path, before, after }) =>
        path === change.path && before?.hash === change.before?.hash && after?.hash === change.after?.hash,
    ),
  );
  return now && isSame ? now.revision : seen.revision;
}

function importKey({ path, preview, change }: PendingImport): string {
  return JSON.stringify([path, preview.id, change.path]);
}

/** The file if its preview has several, else the preview. */
function targetOf({ preview, change }: PendingImport): PreviewTarget {
  const { id, revision, changes } = preview;
  return { id, revision, ...((changes?.length ?? 0) > 1 ? { path: change.path } : {}) };
}

function baseName(path: string): string {
  return oneLine(path.split('/').at(-1) ?? path);
}
