import { AgentWriteError, BlockedPreviewError, ToolError } from '../../base/errors.ts';
import { sha256, type Sha256 } from '../../base/hash.ts';
import { composedSteps, stepsOnBases, type CommitFiles } from '../commit/commitChanges.ts';
import type { FileStep } from '../fileChange.ts';
import { isHeld, nameOf, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { ResolveRequest } from './invoker.ts';
import { outdatedVoteText } from './resolveTexts.ts';

/** How long an agent may take to write what it was told, in milliseconds. */
const PATIENCE_MS = 10_000;
/** How long between two looks at the file, in milliseconds. The agent is another program, and does not say when it has written. */
const LOOK_EVERY_MS = 40;

/** An agent that waits for the answer to one diff. It is answered once: with a text to write, or with a refusal. */
export interface WaitingAgent {
  /** How its user knows it. */
  readonly name: string;
  /** {@link PATIENCE_MS} by default. */
  readonly patienceMs?: number | undefined;
  /** The exact bytes on the disk, whatever editors hold; `undefined` if there is no file. */
  onDisk(): Promise<Uint8Array | undefined>;
  /**
   * Tells the agent to write this text.
   * @throws ToolError if it cannot be told; then it has been told nothing.
   */
  accept(text: string): void;
  /** Tells the agent to write nothing. Never throws. */
  reject(): void;
}

/** What a file holds after an agent was answered. */
export type Written = 'asShown' | 'nothing' | 'somethingElse';

/**
 * A diff of one file that the agent writes which proposed it. It may be decided in parts, but the agent is answered only when
 * nothing of it is undecided: with the text that results.
 */
export class AgentDiff {
  readonly #agent: WaitingAgent;
  /** The preview that it was staged as, which parts are split off. */
  previewId = '';

  constructor(agent: WaitingAgent) {
    this.#agent = agent;
  }

  /** What can still be resolved: the preview and its parts, each after those that it is made on. */
  open(store: Pick<PreviewStore, 'list'>): readonly Preview[] {
    return store.list('oldestFirst').filter(({ id, part }) => (part?.previewId ?? id) === this.previewId);
  }

  /**
   * What is written if this preview is applied: everything that is open, since the agent is answered only once.
   * @throws BlockedPreviewError if it builds on pending previews of others.
   */
  groupOf(
    preview: Preview,
    { chain = {} }: Pick<ResolveRequest, 'chain'>,
    store: Pick<PreviewStore, 'list' | 'blockersOf'>,
  ): readonly Preview[] {
    const group = this.open(store);
    const foreign = store.blockersOf(preview).filter(blocker => !group.includes(blocker));
    const ids = foreign.map(({ id }) => id);
    if (ids.length > 0) throw new BlockedPreviewError(preview.id, ids);
    for (const other of group) {
      const seen = chain[other.id];
      if (seen !== undefined && seen !== other.revision) throw new ToolError(outdatedVoteText(other, seen));
    }
    return group;
  }

  /** Whether this vote leaves nothing undecided. */
  isDecided(group: readonly Preview[], { id, chain = {} }: ResolveRequest): boolean {
    return group.every(other => other.id === id || isHeld(other) || Object.hasOwn(chain, other.id));
  }

  /**
   * Keeps an apply until the rest is decided.
   * @returns what the voter is told.
   */
  hold(
    preview: Preview,
    { actor, reason, chain = {} }: ResolveRequest,
    store: Pick<PreviewStore, 'blockersOf' | 'hold'>,
  ): string {
    const chained = store.blockersOf(preview).filter(({ id }) => Object.hasOwn(chain, id));
    for (const { id } of [...chained, preview]) store.hold(id, { actor, reason });
    return `${nameOf(preview)} is applied once the rest of its diff is decided: ${this.#agent.name} then writes everything at once.`;
  }

  /**
   * Once the last undecided part is discarded, the agent is answered.
   * @returns the apply of what was held until then, if anything was.
   */
  afterDiscard(store: Pick<PreviewStore, 'list'>): ResolveRequest | undefined {
    const left = this.open(store);
    const last = left.at(-1);
    if (!last) this.#agent.reject();
    if (last?.state.kind !== 'pending' || !last.state.held || !left.every(isHeld)) return undefined;
    return { id: last.id, action: 'apply', ...last.state.held };
  }

  /**
   * Has the agent write what these previews show, and checks that it did.
   * @param writeJournal awaited right before the agent is told.
   * @throws StalePreviewError when the base has changed, ToolError when the agent was not told: nothing was written.
   *   AgentWriteError when the file does not hold what was shown.
   */
  async commit(
    files: Pick<CommitFiles, 'read'>,
    group: readonly Preview[],
    writeJournal: () => Promise<void> | undefined,
  ): Promise<void> {
    const { name } = this.#agent;
    const changes = group.flatMap(part => part.changes ?? []);
    const [step] = await stepsOnBases(files, changes);
    if (!step?.after) throw new ToolError('What is left of this diff changes nothing. Discard it.');
    if (step.after.text === '')
      throw new ToolError(
        `Nothing was sent: the answer would be an empty text, for which ${name} may write its own. Discard it, or answer in the terminal.`,
      );
    if ((await this.#hashOnDisk()) !== (step.before?.hash ?? null))
      throw new ToolError(
        `Nothing was sent: ${step.path} has unsaved changes in an editor, and ${name} writes to the disk. Save or revert them first.`,
      );
    await writeJournal();
    this.#agent.accept(step.after.text);
    const written = await this.#whatIsWritten(step);
    if (written !== 'asShown') throw new AgentWriteError(this.failureText(step.path, written));
  }

  /** What the agent writes of these previews after it was answered elsewhere. Settles as soon as the file holds what they show. */
  async written(group: readonly Preview[]): Promise<Written> {
    const [step] = composedSteps(group.flatMap(part => part.changes ?? []));
    return step ? this.#whatIsWritten(step) : 'nothing';
  }

  /** Why something counts as not applied though the agent was answered. */
  failureText(path: string, written: Written): string {
    const { name } = this.#agent;
    return written === 'nothing'
      ? `${name} was told, and did not write it: ${path} is as it was.`
      : `${name} wrote something else: ${path} does not hold what was shown. Look at the file.`;
  }

  async #whatIsWritten({ before, after }: FileStep): Promise<Written> {
    const end = Date.now() + (this.#agent.patienceMs ?? PATIENCE_MS);
    for (;;) {
      const now = await this.#hashOnDisk();
      if (now === (after?.hash ?? null)) return 'asShown';
      if (Date.now() >= end) return now === (before?.hash ?? null) ? 'nothing' : 'somethingElse';
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  async #hashOnDisk(): Promise<Sha256 | null> {
    const bytes = await this.#agent.onDisk();
    return bytes ? sha256(bytes) : null;
  }
}
