import type { Uri } from 'vscode';
import { DisposableStore, type Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Agent } from '../agent.ts';

/** Marks files with pending changes where people work. What does so is loaded with the first of them. */
export function startFileMarks(agent: Agent & { readonly extensionUri: Uri }): Disposable {
  const owned = new DisposableStore();
  const { store, logger } = agent;
  let isLoading = false;
  const load = (): void => {
    if (isLoading || !store.hasPending) return;
    isLoading = true;
    import('./fileMarks.ts').then(
      ({ FileMarks }) => owned.add(new FileMarks(agent)),
      (error: unknown) => logger.error(`Marking files with pending changes failed: ${detailOf(error)}`),
    );
  };
  owned.add(store.onDidStage(load));
  load();
  return owned;
}
