import { DisposableStore, type Disposable } from '../../agent/base/disposable.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Overview } from './overview.ts';
import type { ShownRevisions } from './shownRevisions.ts';

/** Tells what the model applied since the user looked. What does so is loaded with the first of it. */
export function followApplied(store: PreviewStore, shown: ShownRevisions, overview: Overview): Disposable {
  const owned = new DisposableStore();
  const since = store.ledger().length;
  let isLoading = false;
  owned.add(
    store.onDidResolve(async entries => {
      if (isLoading || !entries.some(({ actor }) => actor === 'model')) return;
      isLoading = true;
      const { AppliedUnseen } = await import('./appliedUnseen.ts');
      owned.add(new AppliedUnseen(store, shown, overview, since));
    }),
  );
  return owned;
}
