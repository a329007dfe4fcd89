import type { Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Settings } from '../settings.ts';

/** How much text resolved previews may keep in memory and in their log, in characters. */
const MAX_KEPT_CHARS = 32 * 1_048_576;
/** After how many votes the oldest of what is too much is forgotten; also at the start. */
const FORGET_EVERY = 25;

/** Forgets previews that were resolved long ago, as the settings say, now and from time to time. */
export function forgetOldPreviews(store: PreviewStore, settings: Settings, logger: Logger): Disposable {
  const forget = (): void => {
    store.forgetResolved(daysAgo(settings.retentionDays), MAX_KEPT_CHARS).catch((error: unknown) => {
      logger.error(`Forgetting old previews failed: ${detailOf(error)}`);
    });
  };
  forget();
  let resolved = 0;
  return store.onDidResolve(entries => {
    resolved += entries.length;
    if (resolved >= FORGET_EVERY) forget();
    resolved %= FORGET_EVERY;
  });
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000);
}
