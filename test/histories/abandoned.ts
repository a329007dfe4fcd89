import type { RevertRecord } from '../../src/agent/session/conversation/revert.ts';
import type { FileStep } from '../../src/agent/hold/preview/fileChange.ts';
import { composedSteps } from '../../src/agent/hold/preview/fileSteps.ts';
import type { LedgerEntry } from '../../src/agent/hold/preview/ledger.ts';
import { isOpen, type Preview } from '../../src/agent/hold/preview/preview.ts';
import { inverseOf } from '../../src/agent/hold/preview/undo.ts';
import { nodeOfCall } from '../support/branches.ts';
import type { TestSession } from '../support/testSession.ts';

/** How the reason of a discard begins that follows from a revert. */
const ABANDONED = 'abandoned by revert';

/** A revert, and what was to be settled when it was carried out. */
interface Revert {
  readonly actor: RevertRecord['actor'];
  readonly lastIdBefore: number;
  /** Ids of the open previews that the abandoned span staged. */
  readonly open: readonly string[];
  readonly span: ReadonlySet<number | null | undefined>;
  /** Ids of the previews with files that were staged or applied in the span, whatever became of them. */
  readonly concerned: ReadonlySet<string>;
  readonly endedInSpan: readonly string[];
  /** Ids of those that stay pending: their producer's callback failed, or the model reverted and plan mode is on by now. */
  readonly kept: Set<string>;
  /** Of those, the ones that count as undone already. */
  readonly undone: ReadonlySet<string>;
}

/**
 * The fate of everything that an abandoned span staged or applied: what it staged and is open gets discarded; what it applied,
 * and what was staged in it and applied, is answered with an inverse; nothing else is.
 */
export class AbandonedSpans {
  /**
   * Where in which conversation attempts ended, with their entries in the ledger, oldest first. One whose entry a crash has taken
   * may have had the same entry, up to the millisecond, as the next attempt.
   */
  readonly #ends: {
    readonly key: string;
    readonly id: string;
    readonly sessionId: string;
    readonly node: number | null;
  }[] = [];
  #waiting: Revert[] = [];
  #inverses: string[] = [];

  /** To be called when an attempt to resolve a preview of the open conversation has ended: where it happened. */
  noteResolved(entry: LedgerEntry, { session }: TestSession): void {
    const { previewId: id, outcome, reason } = entry;
    this.#ends.push({ key: keyOf(entry), id, sessionId: session.id, node: session.tree.active });
    if (outcome === 'failed' && reason.startsWith(ABANDONED))
      for (const revert of this.#waiting) revert.kept.add(id);
  }

  /** To be called when a preview has changed. In plan mode the model's discard of what it abandoned is only a recommendation. */
  noteChanged({ id, state }: Preview, { session }: TestSession): void {
    if (state.kind !== 'pending' || state.recommendation?.reason.startsWith(ABANDONED) !== true) return;
    for (const { actor, kept } of this.#waiting) if (actor === 'model' && session.planMode) kept.add(id);
  }

  /** A revert staged an inverse. */
  noteInverse(id: string): void {
    this.#inverses.push(id);
  }

  /** Whether the model discards this one only because it was abandoned. */
  isBeingAbandoned(id: string): boolean {
    return this.#waiting.some(({ open }) => open.includes(id));
  }

  /** A revert was carried out; what follows from it comes now. */
  reverted(
    { abandonedNodeIds, actor }: RevertRecord,
    t: TestSession,
    nodeOf: (preview: Preview) => number | undefined,
  ): void {
    const { store } = t;
    const span = new Set<number | null | undefined>(abandonedNodeIds);
    const all = store.all();
    const staged = all.filter(preview => span.has(nodeOf(preview)));
    const applies = store.ledger().filter(({ outcome }) => outcome === 'applied');
    const idsOf = (entries: readonly LedgerEntry[]): string[] => entries.map(({ previewId }) => previewId);
    const appliedInSpan = idsOf(applies.filter(entry => span.has(this.#nodeOf(entry, t))));
    // One that went on after its call was interrupted may also count as of the node where it ended.
    const endedInSpan = idsOf(applies.filter(entry => span.has(this.#endOf(entry, t))));
    this.#waiting.push({
      actor,
      span,
      kept: new Set(),
      lastIdBefore: Math.max(0, ...all.map(({ id }) => numberOf(id))),
      open: staged.filter(isOpen).map(({ id }) => id),
      concerned: new Set([...staged.map(({ id }) => id), ...appliedInSpan]),
      endedInSpan,
      undone: new Set(all.filter(preview => isUndone(preview, all)).map(({ id }) => id)),
    });
  }

  /** Sentences about what should have followed from the reverts so far, and did not. Call it when they are settled. */
  check(t: TestSession): string[] {
    const reverts = this.#waiting;
    this.#waiting = [];
    // Where an apply counts that happened while another conversation was open is up to the runtime.
    const elsewhere = t.store.ledger().filter(entry => this.#nodeOf(entry, t) === undefined);
    // What a call of the span applied may have ended after the revert, and the ledger may have lost an apply in a crash.
    const inSpan = reverts.flatMap(({ span }) => [
      ...t.store.ledger().filter(entry => span.has(this.#nodeOf(entry, t))),
      ...this.#ends
        .filter(({ sessionId, node }) => sessionId === t.session.id && span.has(node))
        .map(({ id }) => ({ previewId: id })),
    ]);
    const concerned = new Set([
      ...reverts.flatMap(({ concerned, endedInSpan }) => [...concerned, ...endedInSpan]),
      ...[...elsewhere, ...inSpan].map(({ previewId }) => previewId),
    ]);
    return reverts.flatMap(revert => problemsWith(revert, { mayUndo: concerned, made: this.#inverses }, t));
  }

  /** The process ended: nothing more follows. */
  clear(): void {
    this.#waiting = [];
  }

  #nodeOf(entry: LedgerEntry, t: TestSession): number | null | undefined {
    if (entry.actor === 'model' && entry.call) return nodeOfCall(t, entry.call);
    return this.#endOf(entry, t);
  }

  #endOf(entry: LedgerEntry, { session }: TestSession): number | null | undefined {
    const end = this.#ends.findLast(({ key }) => key === keyOf(entry));
    return end?.sessionId === session.id ? end.node : undefined;
  }
}

/**
 * @param mayUndo ids of all previews that an inverse may undo by now.
 * @param made ids of the inverses so far.
 */
function problemsWith(
  revert: Revert,
  { mayUndo, made }: { readonly mayUndo: ReadonlySet<string>; readonly made: readonly string[] },
  { store }: TestSession,
): string[] {
  const { open, kept, concerned, undone, lastIdBefore } = revert;
  const problems: string[] = [];
  for (const id of open) {
    const preview = store.get(id);
    if (preview && isOpen(preview) && !kept.has(id))
      problems.push(`${id} was staged in an abandoned span and is not discarded`);
  }
  const inverses = made.flatMap(id => (numberOf(id) > lastIdBefore ? (store.get(id) ?? []) : []));
  for (const { id, undoes, changes, revision } of inverses) {
    const isInverse = stepsText(netInverse(undoes ?? [], store)) === stepsText(composedSteps(changes ?? []));
    const isKnown = undoes?.every(undone => store.get(undone));
    if (isKnown && revision === 1 && !isInverse) problems.push(`${id} does not undo ${undoes?.join()}`);
  }
  for (const id of new Set(inverses.flatMap(({ undoes }) => undoes ?? [])))
    if (!mayUndo.has(id))
      problems.push(`${id} is undone, and was neither staged nor applied in the abandoned span`);
  // The user may have been faster than the revert.
  const since = store.all().filter(({ id }) => numberOf(id) > lastIdBefore);
  const answered = new Set(since.flatMap(({ undoes }) => undoes ?? []));
  const missing = [...concerned].filter(id => !kept.has(id) && !undone.has(id) && !answered.has(id));
  if (netInverse(missing, store).length > 0)
    problems.push(`${missing.join()} was applied in an abandoned span and got no inverse`);
  return problems;
}

/** What undoes all of these that are applied, the last one first, for each path. */
function netInverse(ids: readonly string[], store: TestSession['store']): readonly FileStep[] {
  const applied = store
    .ledger()
    .filter(({ previewId, outcome }) => outcome === 'applied' && ids.includes(previewId))
    .flatMap(({ previewId }) => store.get(previewId)?.changes ?? []);
  return composedSteps(inverseOf(applied));
}

function stepsText(steps: readonly FileStep[]): string {
  const lines = steps.map(({ path, before, after }) => `${path} ${before?.hash} ${after?.hash}`);
  return lines.sort().join();
}

/** Whether another preview undoes this one, or would once applied, and is not undone itself. */
function isUndone({ id }: Preview, all: readonly Preview[]): boolean {
  return all.some(
    other =>
      (other.state.kind === 'applied' || isOpen(other)) &&
      other.undoes?.includes(id) &&
      !isUndone(other, all),
  );
}

/** Identifies an entry of the ledger, also after a reload. */
function keyOf({ previewId, action, outcome, at }: LedgerEntry): string {
  return [previewId, action, outcome, at].join();
}

function numberOf(id: string): number {
  return Number(id.slice(1));
}
