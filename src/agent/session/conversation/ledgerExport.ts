import { TimeSlice } from '../../base/async.ts';
import type { LedgerEntry } from '../../hold/preview/ledger.ts';
import type { CallRef, Preview } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { AuditTrail } from './auditTrail.ts';
import type { ConversationTree } from './conversationTree.ts';
import { nodeOfMessageId, type NodeId } from './nodeId.ts';

/** The origin of a preview, as far as it is still known. */
export interface ExportedConversation {
  /** The id of a conversation of Redline or, if the entry has an agent, of its connection or source. */
  readonly id: string;
  /** The name that the user gave the conversation. */
  readonly title?: string;
  /** The tool call that proposed the preview. */
  readonly messageId?: string;
  readonly toolCallId?: string;
  /** The user's prompt. */
  readonly prompt?: string;
  /** The model that answered. */
  readonly model?: string;
}

/** A line of an exported ledger: an attempt, with the details of its preview unless that is forgotten. */
export type ExportedAttempt = LedgerEntry &
  Partial<
    Pick<Preview, 'title' | 'stagedAt' | 'revision' | 'part' | 'undoes' | 'reopens' | 'editedByUser'>
  > & { readonly conversation?: ExportedConversation };

/** A conversation that is open or was read. */
export interface KnownConversation {
  readonly title?: string | undefined;
  readonly tree: ConversationTree;
  readonly trail: AuditTrail;
}

/**
 * The whole ledger as JSON Lines, the oldest attempt first. Other work runs in between.
 * @param read reads a conversation by its id; `undefined` if there is none. Each conversation is read once, one after the other.
 */
export async function ledgerJsonLines(
  store: PreviewStore,
  read: (id: string) => Promise<KnownConversation | undefined>,
): Promise<string> {
  const slice = new TimeSlice();
  const entries = await store.wholeLedger();
  const origins = entries.map(({ previewId, call }) => originOf(store.get(previewId), call));
  const told = new Map<Origin, ExportedConversation>();
  for (const [id, some] of Map.groupBy(origins, origin => origin?.id)) {
    const known = id === undefined ? undefined : await read(id);
    const facts = known && new Facts(known, slice);
    for (const origin of some) if (origin) told.set(origin, { ...origin, ...(await facts?.of(origin)) });
  }
  const lines: string[] = [];
  for (const [n, entry] of entries.entries()) {
    const origin = origins[n];
    lines.push(
      `${JSON.stringify(exported(entry, store.get(entry.previewId), origin && told.get(origin)))}\n`,
    );
    await slice.turn();
  }
  return lines.join('');
}

type Origin = Pick<ExportedConversation, 'id' | 'messageId' | 'toolCallId'>;

/** The place where a preview was staged; if it is forgotten, the place where the model resolved it, if it did. */
function originOf(preview: Preview | undefined, call: CallRef | undefined): Origin | undefined {
  if (preview?.origin) {
    const { sessionId: id, call: staged } = preview.origin;
    return { id, ...staged };
  }
  return !preview && call ? { id: call.sessionId } : undefined;
}

/** The facts that a conversation holds about its previews. */
class Facts {
  readonly #known: KnownConversation;
  readonly #slice: TimeSlice;
  /** Cached facts of the nodes walked so far: the paths of many previews share most of their nodes. */
  readonly #above = new Map<NodeId, Above>();

  constructor(known: KnownConversation, slice: TimeSlice) {
    this.#known = known;
    this.#slice = slice;
  }

  async of({ messageId }: Origin): Promise<Pick<ExportedConversation, 'title' | 'prompt' | 'model'>> {
    const { title, tree } = this.#known;
    const node = messageId === undefined ? undefined : nodeOfMessageId(messageId);
    const { asked, model } = node === undefined || !tree.has(node) ? NOTHING : await this.#aboveOf(node);
    const message = asked === undefined ? undefined : tree.get(asked)?.message;
    await this.#slice.turn();
    return {
      ...(title === undefined ? {} : { title }),
      ...(message?.role === 'user' ? { prompt: message.text } : {}),
      ...(model === undefined ? {} : { model }),
    };
  }

  async #aboveOf(node: NodeId): Promise<Above> {
    const { tree, trail } = this.#known;
    const path: NodeId[] = [];
    let above: Above | undefined;
    for (let id: NodeId | null = node; id !== null && !above; id = tree.parentOf(id)) {
      above = this.#above.get(id);
      if (!above) path.push(id);
      await this.#slice.turn();
    }
    above ??= NOTHING;
    for (const id of path.reverse()) {
      const asked: NodeId | undefined = tree.roleOf(id) === 'user' ? id : above.asked;
      const model: string | undefined = trail.settingsFrom(id)?.model ?? above.model;
      if (asked !== above.asked || model !== above.model) above = { asked, model };
      this.#above.set(id, above);
      await this.#slice.turn();
    }
    return above;
  }
}

/** The prompt and the model that are nearest to a node: its own or those above it. */
interface Above {
  readonly asked?: NodeId | undefined;
  readonly model?: string | undefined;
}

const NOTHING: Above = {};

function exported(
  entry: LedgerEntry,
  preview: Preview | undefined,
  conversation: ExportedConversation | undefined,
): ExportedAttempt {
  const { title, stagedAt, revision, part, undoes, reopens, editedByUser } = preview ?? {};
  return {
    ...entry,
    ...(title === undefined ? {} : { title }),
    ...(stagedAt === undefined ? {} : { stagedAt }),
    ...(revision === undefined ? {} : { revision }),
    ...(part ? { part } : {}),
    ...(undoes ? { undoes } : {}),
    ...(reopens === undefined ? {} : { reopens }),
    ...(editedByUser ? { editedByUser } : {}),
    ...(conversation ? { conversation } : {}),
  };
}
