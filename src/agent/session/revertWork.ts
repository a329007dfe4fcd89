import { detailOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Invoker } from '../preview/invoker.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import { isOpen, type Preview } from '../preview/preview.ts';
import type { QueuedPreview } from '../preview/queueResolveHandler.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { undoBranchAction } from '../preview/restage.ts';
import { ALREADY_REVERTED, judgeRevert, refusalText, refusedRevert, STOPPED } from '../tree/judgeRevert.ts';
import { nodeOfMessageId, renderNodeId } from '../tree/nodeId.ts';
import { REVERT_TOOL, type RevertActor, type RevertRecord, type RevertRequest } from '../tree/revert.ts';
import type { Conversation } from './conversation.ts';
import type { SessionEvent } from './events.ts';
import { remindedIn, untoldOutcomes } from './restore.ts';
import type { Review } from './review.ts';
import type { ToolChoices } from './toolChoices.ts';

export { renderTrunk } from '../tree/renderTrunk.ts';

/** What a revert touches beside the conversation itself. */
export interface RevertWorld {
  readonly conversation: () => Conversation;
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly review: Review;
  readonly choices: Pick<ToolChoices, 'remind' | 'reminded' | 'forget'>;
  /** Stages a preview for whoever went back. */
  readonly stage: (action: PendingAction, actor: RevertActor) => QueuedPreview;
  /** See `SessionOptions.checkBases`. */
  readonly checkBases?: (previewIds: readonly string[]) => Promise<void>;
  readonly emit: (event: SessionEvent) => void;
  readonly logger: Logger;
}

/**
 * Carries out the requests of one turn. Of the model's, the first valid one is applied and the others are rejected; a person
 * goes wherever they want, as often as they want. Never rejects itself.
 * @param stopped a person stopped the turn: what the model wished for in it is not done.
 */
export async function carryOut(
  world: RevertWorld,
  requests: readonly RevertRequest[],
  stopped: boolean,
): Promise<RevertRecord[]> {
  const records: RevertRecord[] = [];
  for (const request of requests) {
    const record = judge(world, request, stopped, records);
    records.push(record);
    world.conversation().revert(record);
    if (!record.applied && record.actor === 'model')
      world.review.tell({ role: 'steering', kind: 'revert', text: refusalText(record), previewIds: [] });
    if (record.applied) recall(world, record);
    world.emit({ type: 'revert_applied', record });
    if (record.applied) await cleanUp(world, record);
  }
  return records;
}

function judge(
  world: RevertWorld,
  request: RevertRequest,
  stopped: boolean,
  before: readonly RevertRecord[],
): RevertRecord {
  const isModels = request.actor === 'model';
  if (isModels && before.some(({ applied }) => applied)) return refusedRevert(request, ALREADY_REVERTED);
  if (isModels && stopped) return refusedRevert(request, STOPPED);
  return judgeRevert(world.conversation().tree, request);
}

/**
 * What the model has to do with from now on: previews of the trunk, and those that came from outside. What it was told of
 * them in the branch that is left is said again.
 */
function recall(world: RevertWorld, { abandonedNodeIds }: RevertRecord): void {
  const { store, review, choices } = world;
  const conversation = world.conversation();
  const { id: sessionId, tree } = conversation;
  const said = tree.steering;
  const reminded = remindedIn(said);
  const remindedBefore = remindedIn(
    abandonedNodeIds.flatMap(id => {
      const message = tree.get(id)?.message;
      return message?.role === 'steering' ? [message] : [];
    }),
  );
  for (const preview of store.all()) {
    const { id } = preview;
    const node = stagedBy(preview, sessionId);
    if (node !== undefined && !tree.isOnTrunk(node)) {
      review.forget(id);
      choices.forget(id);
      continue;
    }
    const knew = review.knows(id);
    if (node === undefined && !knew && !reminded.has(id)) continue;
    review.remember(id);
    if (!isOpen(preview)) continue;
    if (!knew && reminded.has(id)) choices.reminded(id);
    else if (!reminded.has(id) && (knew ? remindedBefore.has(id) : conversation.wasAsked(id) === true))
      choices.remind(preview);
  }
  for (const message of untoldOutcomes(said, store))
    if (message.previewIds.every(id => review.knows(id)) && !review.isToTell(message.text))
      review.tell(message);
}

/** Discards what the branch left pending, and stages what takes back the changes that it applied. */
async function cleanUp(world: RevertWorld, { abandonedNodeIds, target, actor }: RevertRecord): Promise<void> {
  const { store, logger } = world;
  const { id: sessionId } = world.conversation();
  const left = new Set(abandonedNodeIds);
  const ids = store
    .all()
    .filter(preview => left.has(stagedBy(preview, sessionId) ?? -1))
    .map(({ id }) => id);
  const reason = `abandoned by revert to ${target === null ? 'the beginning' : renderNodeId(target)}`;
  await Promise.all(ids.map(id => discard(world, id, reason, actor)));
  const action = undoBranchAction(
    ids.flatMap(id => store.get(id) ?? []),
    store.all(),
    REVERT_TOOL,
  );
  if (!action) return;
  try {
    const { preview, stored } = world.stage(action, actor);
    await stored.catch(() => undefined); // reported by the store; the preview is pending all the same
    await world.checkBases?.([preview.id]);
  } catch (error) {
    logger.error(`Staging "${action.label}" failed: ${detailOf(error)}`);
  }
}

/** One that cannot be discarded, because its producer's callback fails, stays pending. */
async function discard(
  { store, invoker, logger }: RevertWorld,
  id: string,
  reason: string,
  actor: RevertActor,
): Promise<void> {
  const preview = store.get(id);
  if (!preview || !isOpen(preview)) return;
  await invoker
    .resolve({ id, action: 'discard', reason, actor, isAbandoned: true })
    .catch((error: unknown) => logger.error(`Discarding ${id} failed: ${detailOf(error)}`));
}

/** The node whose call staged the preview; `undefined` if it was none of this conversation. */
function stagedBy({ origin }: Preview, sessionId: string): number | undefined {
  return origin?.sessionId === sessionId ? nodeOfMessageId(origin.messageId) : undefined;
}
