import { DisposableStore, type Disposable } from '../../agent/base/disposable.ts';
import type { Agent } from '../agent.ts';
import type { LookedAt } from './lookedAt.ts';

/** Offers what has changed since the user looked. What does so is loaded with the first new revision. */
export function startSinceLooked(agent: Agent, looks: LookedAt): Disposable {
  const owned = new DisposableStore();
  let isLoading = false;
  owned.add(
    agent.store.onDidRevise(async () => {
      if (isLoading) return;
      isLoading = true;
      const { SinceLooked } = await import('./sinceLooked.ts');
      owned.add(new SinceLooked(agent, looks));
    }),
  );
  return owned;
}
