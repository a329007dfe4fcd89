import type { PendingAction } from '../../agent/preview/pendingAction.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Rebaser } from '../../agent/preview/rebaser.ts';
import { reopenAction, undoAction } from '../../agent/preview/restage.ts';
import type { Session } from '../../agent/session/session.ts';

export interface RestagingOptions {
  readonly store: PreviewStore;
  readonly session: Session;
  readonly rebaser: Rebaser;
}

/**
 * Brings back what is resolved, as new previews under new ids: nothing is changed by it, and their bases are checked
 * like any other's. One whose base moved on comes back stale, which its row and lens say.
 */
export class Restaging {
  readonly #options: RestagingOptions;

  constructor(options: RestagingOptions) {
    this.#options = options;
  }

  canReopen(preview: Preview): boolean {
    return reopenAction(preview) !== undefined;
  }

  canUndo(preview: Preview): boolean {
    return undoAction(preview) !== undefined;
  }

  /** Stages what a discarded preview proposed; `undefined` for what cannot come back. */
  async reopen(preview: Preview): Promise<Preview | undefined> {
    const action = reopenAction(preview);
    return action && this.#stage(action);
  }

  /** Stages what takes an applied preview back; `undefined` for what cannot be undone. */
  async undo(preview: Preview): Promise<Preview | undefined> {
    const action = undoAction(preview);
    return action && this.#stage(action);
  }

  async #stage(action: PendingAction): Promise<Preview> {
    const { store, session, rebaser } = this.#options;
    const { preview, stored } = session.stageForUser(action);
    // A log that cannot be written is reported by the store; the preview is pending all the same.
    await stored.catch(() => undefined);
    // Moves it onto what is there now where that does not overlap, as a new revision; else it is stale.
    await rebaser.check([preview.id]);
    return store.get(preview.id) ?? preview;
  }
}
