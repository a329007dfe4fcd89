import { readFile, stat } from 'node:fs/promises';
import * as path from 'node:path';
import type { Disposable } from '../../base/disposable.ts';
import { detailOf, ToolError } from '../../base/errors.ts';
import { composedSteps } from '../../preview/commit/commitChanges.ts';
import { changeOf, sideOfBytes, type FileChange, type FileSide } from '../../preview/fileChange.ts';
import type { AgentName, Preview } from '../../preview/preview.ts';
import { queueResolveHandler } from '../../preview/queueResolveHandler.ts';
import { AgentDiff } from '../../preview/resolve/agentDiff.ts';
import type { AnswerElsewhere } from '../../preview/resolve/invoker.ts';
import { MAX_FILE_BYTES } from '../../preview/workspace.ts';
import { inLineEndingsOf } from '../../text/lineEndings.ts';
import { assertCanHoldFile, proposedSide } from '../../preview/textFile.ts';
import type { CompanionHost } from './companionHost.ts';

/** The most diffs of one connection that wait for an answer. */
const MAX_OPEN = 50;

/** How an agent is told the answer to its diff. */
export interface DiffAnswer {
  /** @throws ToolError if it cannot be told right now. */
  accept(text: string): void;
  reject(): void;
}

/** A diff that an agent asks the editor to show. */
export interface GivenDiff {
  /** What the agent calls it by. */
  readonly key: string;
  /** An absolute path. */
  readonly file: string;
  /** The whole proposed text. */
  readonly text: string;
}

/** Who is connected. */
export interface DiffSource {
  /** Tells this connection from all others. */
  readonly id: string;
  readonly agent: AgentName;
}

interface OpenDiff {
  readonly diff: AgentDiff;
  readonly path: string;
  /** The text as the agent stores it, without what only the file has. */
  readonly asAgentWrites: (text: string) => string;
}

/**
 * The diffs of one connection that wait for an answer. Each is a preview like any other, except that the agent writes what is
 * applied: it is answered once, when nothing of the diff is undecided any more.
 */
export class ProposedDiffs implements Disposable {
  readonly #host: CompanionHost;
  readonly #source: DiffSource;
  readonly #open = new Map<string, OpenDiff>();
  readonly #following: Disposable;
  #isOver = false;

  constructor(host: CompanionHost, source: DiffSource) {
    this.#host = host;
    this.#source = source;
    this.#following = host.store.onDidChange(() => this.#forgetEnded());
  }

  /**
   * Stages a diff as a preview. One with the same key that waits is replaced, and expires.
   * @throws ToolError, with a sentence for the agent, if it cannot be shown here.
   */
  async propose({ key, file, text }: GivenDiff, answer: DiffAnswer): Promise<void> {
    if (!path.isAbsolute(file)) throw new ToolError('Give the absolute path of the file.');
    if (this.#open.size >= MAX_OPEN && !this.#open.has(key))
      throw new ToolError(
        `${MAX_OPEN} diffs wait for an answer already. Ask for a decision in the terminal.`,
      );
    const disk = path.normalize(file);
    const change = await this.#changeOf(disk, text);
    if (this.#isOver) throw new ToolError('The connection has ended.');
    this.#expire(key, `${this.#name} proposed something newer for this file.`);
    const keepsCarriageReturns = text.includes('\r\n') || !change.after.text.includes('\r\n');
    const asAgentWrites = (shown: string): string =>
      keepsCarriageReturns ? shown : shown.replaceAll('\r\n', '\n');
    const diff = new AgentDiff({
      name: this.#name,
      patienceMs: this.#host.patienceMs,
      onDisk: () => bytesOnDisk(disk),
      accept: shown => answer.accept(asAgentWrites(shown)),
      reject: () => answer.reject(),
    });
    const { id: sessionId, agent } = this.#source;
    queueResolveHandler(
      { ...this.#host, remind: () => undefined },
      {
        label: `${change.kind === 'create' ? 'Create' : 'Edit'} ${change.path}`,
        title: l10n =>
          change.kind === 'create' ? l10n.t('Create {0}', change.path) : l10n.t('Edit {0}', change.path),
        sourceToolName: 'openDiff',
        changes: [change],
        humanOnly: true,
        diff,
      },
      { sessionId, agent, asksModel: false },
    );
    this.#open.set(key, { diff, path: change.path, asAgentWrites });
  }

  /**
   * The agent closes its diff: someone has answered it in the terminal, which tells only by what is written next. The preview
   * is resolved accordingly, without waiting for that.
   * @returns the text that the diff shows now, which the agent writes if it was accepted; `undefined` if none waits.
   */
  answeredInTerminal(key: string): string | undefined {
    const waiting = this.#open.get(key);
    const { store, invoker, logger } = this.#host;
    const group = waiting?.diff.open(store) ?? [];
    if (!waiting || group.some(({ state }) => state.kind !== 'pending')) return undefined;
    this.#open.delete(key);
    invoker
      .followAnswer(waiting.diff, () => this.#answerOf(waiting, group))
      .catch((error: unknown) => logger.error(`Following an answer failed: ${detailOf(error)}`));
    const [step] = composedSteps(group.flatMap(({ changes }) => changes ?? []));
    return step?.after ? waiting.asAgentWrites(step.after.text) : undefined;
  }

  /** The keys of those that wait for an answer. */
  get keys(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** No one waits for the answers any more. */
  expireAll(reason: string): void {
    for (const key of this.keys) this.#expire(key, reason);
  }

  /** The connection has ended: what waits for an answer expires. */
  end(reason: string): void {
    this.#isOver = true;
    this.expireAll(reason);
    this.#following.dispose();
  }

  dispose(): void {
    this.end(`${this.#name} is no longer connected.`);
  }

  get #name(): string {
    return this.#source.agent.name;
  }

  async #answerOf({ diff, path: file }: OpenDiff, group: readonly Preview[]): Promise<AnswerElsewhere> {
    const written = await diff.written(group);
    const actor = 'human';
    switch (written) {
      case 'asShown':
        return {
          outcome: 'applied',
          action: 'apply',
          actor,
          reason: `Accepted in the terminal of ${this.#name}.`,
        };
      case 'nothing':
        return {
          outcome: 'discarded',
          action: 'discard',
          actor,
          reason: `Rejected in the terminal of ${this.#name}.`,
        };
      case 'somethingElse':
        return { outcome: 'failed', action: 'apply', actor, reason: diff.failureText(file, written) };
    }
  }

  #expire(key: string, reason: string): void {
    const waiting = this.#open.get(key);
    if (!waiting) return;
    this.#open.delete(key);
    const { store, invoker } = this.#host;
    // The rest builds on its parts, and would be rebased if they ended first.
    for (const { id } of waiting.diff.open(store).toReversed()) invoker.expire(id, reason);
  }

  /** Forgets what was answered. */
  #forgetEnded(): void {
    for (const [key, { diff }] of this.#open)
      if (diff.open(this.#host.store).length === 0) this.#open.delete(key);
  }

  async #changeOf(file: string, text: string): Promise<FileChange & { readonly after: FileSide }> {
    const { workspace } = this.#host;
    const place = await workspace.resolvePath(file);
    const bytes = await bytesOnDisk(file);
    if (bytes && bytes.length > MAX_FILE_BYTES) throw new ToolError(`${place} is larger than 5 MB.`);
    const before = bytes ? sideOfBytes(bytes, await workspace.encodingOf(place)) : null;
    if (before === undefined) throw new ToolError(`${place} is not a text file.`);
    const shown = before ? await inLineEndingsOf(before.text, text) : text;
    const after = await proposedSide(workspace, place, before, shown);
    const change = changeOf(place, before, after);
    if (!change?.after) throw new ToolError(`${place} already has exactly this content.`);
    if (change.kind === 'create') await assertCanHoldFile(workspace, place);
    return change;
  }
}

/** @throws ToolError if there is something else than a file. */
async function bytesOnDisk(file: string): Promise<Uint8Array | undefined> {
  try {
    const { size } = await stat(file);
    // Nothing here is that large: its bytes only have to differ.
    return size > MAX_FILE_BYTES ? new Uint8Array(MAX_FILE_BYTES + 1) : await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ToolError(`${path.basename(file)} cannot be read: ${(error as Error).message}`);
  }
}
