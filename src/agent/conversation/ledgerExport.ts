import type { LedgerEntry } from '../preview/ledger.ts';
import type { CallRef, Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { AuditTrail } from './auditTrail.ts';
import type { ConversationTree } from './conversationTree.ts';
import { nodeOfMessageId, type NodeId } from './nodeId.ts';

/** Where a preview comes from, as far as that is still known. */
export interface ExportedConversation {
  /** A conversation of Redline or, if the entry has an agent, what tells its connection or source from all others. */
  readonly id: string;
  /** The name that the user gave the conversation. */
  readonly title?: string;
  /** The tool call that proposed the preview. */
  readonly messageId?: string;
  readonly toolCallId?: string;
  /** What the user had asked for. */
  readonly prompt?: string;
  /** The model that answered. */
  readonly model?: string;
}

/** A line of an exported ledger: an attempt, and what its preview tells as long as that is not forgotten. */
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
 * The whole ledger as JSON Lines, the oldest attempt first.
 * @param read a conversation by its id; `undefined` if there is none. Each is asked for once, one after the other.
 */
export async function ledgerJsonLines(
  store: PreviewStore,
  read: (id: string) => Promise<KnownConversation | undefined>,
): Promise<string> {
  const entries = store.ledger();
  const origins = entries.map(({ previewId, call }) => originOf(store.get(previewId), call));
  const byId = new Map<string, Origin[]>();
  for (const origin of origins) if (origin) byId.set(origin.id, [...(byId.get(origin.id) ?? []), origin]);
  const told = new Map<Origin, ExportedConversation>();
  for (const [id, some] of byId) {
    const known = await read(id);
    for (const origin of some) told.set(origin, { ...origin, ...(known ? factsOf(known, origin) : {}) });
  }
  const lines = entries.map((entry, n) => {
    const origin = origins[n];
    return JSON.stringify(exported(entry, store.get(entry.previewId), origin && told.get(origin)));
  });
  return lines.map(line => `${line}\n`).join('');
}

type Origin = Pick<ExportedConversation, 'id' | 'messageId' | 'toolCallId'>;

/** Where a preview was staged; of one that is forgotten, where it was resolved, if the model did that. */
function originOf(preview: Preview | undefined, call: CallRef | undefined): Origin | undefined {
  if (preview?.origin) {
    const { sessionId: id, call: staged } = preview.origin;
    return { id, ...staged };
  }
  return !preview && call ? { id: call.sessionId } : undefined;
}

function factsOf({ title, tree, trail }: KnownConversation, { messageId }: Origin) {
  const node = messageId === undefined ? undefined : nodeOfMessageId(messageId);
  const path = node === undefined ? [] : pathTo(tree, node);
  const asked = path.find(id => tree.get(id)?.message.role === 'user');
  const message = asked === undefined ? undefined : tree.get(asked)?.message;
  const model = path.map(id => trail.settingsFrom(id)).find(settings => settings !== undefined)?.model;
  return {
    ...(title === undefined ? {} : { title }),
    ...(message?.role === 'user' ? { prompt: message.text } : {}),
    ...(model === undefined ? {} : { model }),
  };
}

/** The node and those above it, up to the root. */
function pathTo(tree: ConversationTree, node: NodeId): readonly NodeId[] {
  const path: NodeId[] = [];
  for (let id: NodeId | null = node; id !== null;) {
    path.push(id);
    id = tree.get(id)?.parentId ?? null;
  }
  return path;
}

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
