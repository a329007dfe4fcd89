import { detailOf } from '../base/errors.ts';
import {
  REVERT_TOOL,
  type RevertActor,
  type RevertRecord,
  type RevertRequest,
} from './conversation/revert.ts';
import { standingApplies } from '../hold/preview/ledger.ts';
import type { PendingAction } from '../hold/preview/pendingAction.ts';
import { isOpen } from '../hold/preview/preview.ts';
import type { Resolved } from '../hold/preview/resolve/resolved.ts';
import { reconcilePreviews } from './reconcilePreviews.ts';
import type * as rules from './conversation/validateRevert.ts';
import type { SessionContext } from './sessionOptions.ts';
import { stageIn } from './staging.ts';

type Rules = typeof rules;

interface QueuedRevert {
  readonly request: RevertRequest;
  readonly settle: (record: RevertRecord) => void;
}

/**
 * Revert requests of the model and the user. They wait until the session is between two turns, and each one leaves a
 * record in the log when it is drained.
 */
export class RevertQueue {
  readonly #ctx: SessionContext;
  #queue: readonly QueuedRevert[] = [];

  constructor(ctx: SessionContext) {
    this.#ctx = ctx;
  }

  /** @returns settles with the record once the request is drained and all its consequences are carried out. */
  request(request: RevertRequest): Promise<RevertRecord> {
    return new Promise(settle => {
      this.#queue = [...this.#queue, { request, settle }];
    });
  }

  /** The answer to a request that comes while another conversation is being opened. */
  async refuse(request: RevertRequest): Promise<RevertRecord> {
    const { LEFT, refusedRevert } = await import('./conversation/validateRevert.ts');
    return refusedRevert(request, LEFT);
  }

  get isWaiting(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Carries out the waiting requests. Of the model's requests only the first valid one is applied, none after one of the user or
   * while plan mode is on; the rest are refused. The user's are not limited. Call it between turns only. Never rejects.
   * @param stopped whether the user stopped the turn: then the model's requests are refused.
   */
  async drain({ stopped }: { readonly stopped: boolean }): Promise<void> {
    const queue = this.#queue;
    this.#queue = [];
    let applied: RevertRecord | undefined;
    const refused: RevertRecord[] = [];
    const loaded = await import('./conversation/validateRevert.ts');
    for (const { request, settle } of queue) {
      const record = this.#validate(loaded, request, stopped, applied !== undefined);
      if (record.applied) applied = record;
      else if (record.actor === 'model') refused.push(record);
      await this.#carryOut(loaded, record);
      settle(record);
    }
    // At the end, when it is known which revert was applied last.
    for (const record of refused) {
      const text = loaded.refusalText(record, applied);
      this.#ctx.inbox.add({ role: 'steering', kind: 'revert', text, previewIds: [] });
    }
  }

  #validate(rules: Rules, request: RevertRequest, stopped: boolean, hasReverted: boolean): RevertRecord {
    const { ALREADY_REVERTED, PLANNING, refusedRevert, STOPPED, validateRevert } = rules;
    if (request.actor === 'model' && hasReverted) return refusedRevert(request, ALREADY_REVERTED);
    if (request.actor === 'model' && stopped) return refusedRevert(request, STOPPED);
    if (request.actor === 'model' && this.#ctx.planMode()) return refusedRevert(request, PLANNING);
    return validateRevert(this.#ctx.conversation().tree, request);
  }

  async #carryOut(rules: Rules, record: RevertRecord): Promise<void> {
    this.#ctx.conversation().applyRevert(record);
    if (record.applied) reconcilePreviews(this.#ctx);
    this.#ctx.emit({ type: 'revert_applied', record });
    if (record.applied) await this.#settleAbandoned(record, rules.targetName(record.target));
  }

  /** Discards the pending previews of the abandoned nodes, and stages the inverse of the changes applied there. */
  async #settleAbandoned({ abandonedNodeIds, actor }: RevertRecord, target: string): Promise<void> {
    const { conversation, store, refreshBases, logger } = this.#ctx;
    const { previews, trail } = conversation();
    const abandoned = new Set(abandonedNodeIds);
    const staged = previews.stagedBy(abandoned);
    const reason = `abandoned by revert to ${target}`;
    await Promise.all(staged.filter(isOpen).map(({ id }) => this.#discard(id, reason, actor)));
    // An apply of the user is located by the trail, one of the model by the result of its call.
    const applied = [
      ...abandonedNodeIds.flatMap(node => trail.resolutionsAfter(node)),
      ...store.ledger().filter(({ call }) => call && abandoned.has(previews.nodeOfCall(call) ?? -1)),
    ].filter(({ outcome }) => outcome === 'applied');
    const concerned = new Set([...staged.map(({ id }) => id), ...applied.map(({ previewId }) => previewId)]);
    const inOrder = standingApplies(store.ledger())
      .filter(({ previewId }) => concerned.has(previewId))
      .flatMap(({ previewId }) => store.get(previewId) ?? []);
    const { undoBranchAction } = await import('../hold/preview/undo.ts');
    const undo = undoBranchAction(inOrder, store.all(), REVERT_TOOL, 'branch');
    if (!undo) return;
    const action: PendingAction = { ...undo, purpose: 'revert' };
    try {
      const { preview, stored } = stageIn(this.#ctx, action, { asksModel: actor !== 'human' });
      await stored;
      await refreshBases?.([preview.id]);
    } catch (error) {
      logger.error(`Staging "${action.label}" failed: ${detailOf(error)}`);
    }
  }

  /** A preview stays pending if its producer's callback fails, or if the model reverted and plan mode is on by now. */
  async #discard(id: string, reason: string, actor: RevertActor): Promise<void> {
    const { store, invoker, planMode, logger } = this.#ctx;
    const isStillOpen = (): boolean => {
      const preview = store.get(id);
      return preview !== undefined && isOpen(preview);
    };
    try {
      let resolved: Resolved;
      do {
        // While another attempt is under way, this one only gets its outcome. If that attempt fails, the preview must still be
        // discarded, even if yet another one has begun by then.
        resolved = await invoker.resolve({
          id,
          action: 'discard',
          reason,
          actor,
          isAbandoned: true,
          isPlanning: planMode,
        });
      } while (resolved.kind === 'already' && isStillOpen());
    } catch (error) {
      logger.error(`Discarding ${id} failed: ${detailOf(error)}`);
    }
  }
}
