import { detailOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { RecorderListeners } from '../conversation/storage/recorder.ts';
import type { SessionEvent } from './events.ts';

/** Logs how writing the conversations goes, and makes events of it. */
export function storingEvents(logger: Logger, emit: (event: SessionEvent) => void): RecorderListeners {
  return {
    onFailure: error => {
      logger.error(`Storing the session failed: ${detailOf(error)}`);
      emit({ type: 'storing_failed', error, isLost: false });
    },
    onRecovery: () => emit({ type: 'storing_recovered' }),
    onLoss: error => {
      logger.error(`Part of the session can never be stored: ${detailOf(error)}`);
      emit({ type: 'storing_failed', error, isLost: true });
    },
  };
}
