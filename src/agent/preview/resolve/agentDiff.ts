import { AgentWriteError, BlockedPreviewError, ToolError } from '../../base/errors.ts';
import { sha256, type Sha256 } from '../../base/hash.ts';
import { composedSteps, stepsOnBases, type CommitFiles } from '../commit/commitChanges.ts';
import type { FileChange, FileStep } from '../fileChange.ts';
import { isHeld, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';

/** How long an agent may take to write what it was told, in milliseconds. */
export const WRITE_PATIENCE_MS = 10_000;
/** How long between two looks at the file, in milliseconds. The agent is another program, and tells nothing. */
const LOOK_EVERY_MS = 40;

/**
 * An agent that writes the changes of one diff itself, and only waits for an answer. It gets one answer: a text, or a refusal.
 */
export interface ChangeWriter {
  /** The agent, for sentences. Foreign text. */
  readonly agent: string;
  /** {@link WRITE_PATIENCE_MS} by default. */
  readonly patienceMs?: number;
  /** The exact bytes on the disk, whatever editors hold; `undefined` if there is no file. */
  onDisk(): Promise<Uint8Array | undefined>;
  /**
   * Tells the agent to write this text.
   * @throws ToolError if it cannot be told; then it has been told nothing.
   */
  accept(text: string): Promise<void>;
  /** Tells the agent to write nothing. Never throws. */
  reject(): void;
}

/** What a file holds after an agent was answered. */
export type Written = 'asShown' | 'nothing' | 'somethingElse';

/** The preview that an agent's diff was staged as: parts were split off it. */
export function diffIdOf({ id, part }: Preview): string {
  return part?.previewId ?? id;
}

/** What is open of an agent's diff: its preview and the parts that were split off, each after those that it is made on. */
export function openOf(diffId: string, store: Pick<PreviewStore, 'list'>): readonly Preview[] {
  return store.list('oldestFirst').filter(preview => diffIdOf(preview) === diffId);
}

/**
 * What an apply of one preview is to write: everything that is open of its diff, since the agent can be told only once.
 * @param chain the previews that the vote also applies.
 * @returns `undefined` if other parts are not decided yet.
 * @throws BlockedPreviewError if it builds on pending previews of others.
 */
export function groupOf(
  preview: Preview,
  chain: Readonly<Record<string, number>>,
  store: Pick<PreviewStore, 'list' | 'blockersOf'>,
): readonly Preview[] | undefined {
  const group = openOf(diffIdOf(preview), store);
  const foreign = store.blockersOf(preview).filter(blocker => !group.includes(blocker));
  if (foreign.length > 0)
    throw new BlockedPreviewError(
      preview.id,
      foreign.map(({ id }) => id),
    );
  const isDecided = (other: Preview): boolean =>
    other.id === preview.id || isHeld(other) || Object.hasOwn(chain, other.id);
  return group.every(isDecided) ? group : undefined;
}

/**
 * Has the agent write what these previews show, and checks that it did.
 * @param writeJournal awaited right before the agent is told.
 * @throws StalePreviewError when the base has changed, ToolError when the agent could not be told: nothing was written.
 *   AgentWriteError when the file does not hold what was shown.
 */
export async function commitByAgent(
  writer: ChangeWriter,
  files: Pick<CommitFiles, 'read'>,
  changes: readonly FileChange[],
  writeJournal: () => Promise<void> | undefined,
): Promise<void> {
  const [step] = await stepsOnBases(files, changes);
  if (!step?.after) throw new ToolError('What is left of this diff changes nothing. Discard it.');
  const { path, before, after } = step;
  if (after.text === '')
    throw new ToolError(
      `Nothing was sent: the answer would be an empty text, for which ${writer.agent} may write its own. Discard it, or answer in the terminal.`,
    );
  if ((await diskHash(writer)) !== (before?.hash ?? null))
    throw new ToolError(
      `Nothing was sent: ${path} has unsaved changes in an editor, and ${writer.agent} writes to the disk. Save or revert them first.`,
    );
  await writeJournal();
  await writer.accept(after.text);
  const written = await whatIsWritten(writer, step);
  if (written !== 'asShown') throw new AgentWriteError(notWrittenText(writer, path, written));
}

/** What an agent writes of these changes, after it was answered: settles as soon as the file holds what they show. */
export function writtenByAgent(writer: ChangeWriter, changes: readonly FileChange[]): Promise<Written> {
  const [step] = composedSteps(changes);
  return step ? whatIsWritten(writer, step) : Promise.resolve('nothing');
}

/** Why an apply counts as failed though the agent was told. */
export function notWrittenText({ agent }: ChangeWriter, path: string, written: Written): string {
  return written === 'nothing'
    ? `${agent} was told, and did not write it: ${path} is as it was.`
    : `${agent} wrote something else: ${path} does not hold what was shown. Look at the file.`;
}

async function whatIsWritten(writer: ChangeWriter, { before, after }: FileStep): Promise<Written> {
  const end = Date.now() + (writer.patienceMs ?? WRITE_PATIENCE_MS);
  for (;;) {
    const now = await diskHash(writer);
    if (now === (after?.hash ?? null)) return 'asShown';
    if (Date.now() >= end) return now === (before?.hash ?? null) ? 'nothing' : 'somethingElse';
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function diskHash(writer: ChangeWriter): Promise<Sha256 | null> {
  const bytes = await writer.onDisk();
  return bytes ? sha256(bytes) : null;
}
