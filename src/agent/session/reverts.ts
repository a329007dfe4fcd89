import type { RevertRecord, RevertRequest } from '../tree/revert.ts';
import type { RevertWorld } from './revertWork.ts';

interface Queued {
  readonly request: RevertRequest;
  readonly settle: (record: RevertRecord) => void;
}

/**
 * The wishes to go back, of the model and of people, until the session comes to where it can do so: between two turns.
 * Each one that is taken out leaves a record.
 */
export class Reverts {
  readonly #world: RevertWorld;
  #queue: Queued[] = [];

  constructor(world: RevertWorld) {
    this.#world = world;
  }

  /** @returns settles with the record, once the request has been taken out and all is done. */
  request(request: RevertRequest): Promise<RevertRecord> {
    return new Promise(settle => this.#queue.push({ request, settle }));
  }

  get isWaiting(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Carries out what waits. Only to be called between turns.
   * @param stopped a person stopped the turn: what the model wished for in it is not done.
   */
  async drain(stopped: boolean): Promise<void> {
    const queue = this.#queue;
    this.#queue = [];
    if (queue.length === 0) return;
    const { carryOut } = await import('./revertWork.ts');
    const records = await carryOut(
      this.#world,
      queue.map(({ request }) => request),
      stopped,
    );
    records.forEach((record, at) => queue[at]?.settle(record));
  }
}
