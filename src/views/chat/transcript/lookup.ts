import { messageIdOf } from '../../../agent/conversation/nodeId.ts';
import type { ToolResultMessage } from '../../../agent/model/messages.ts';
import { plainOutcome, type LedgerEntry } from '../../../agent/preview/ledger.ts';
import type { CallRef, Preview } from '../../../agent/preview/preview.ts';
import { Lineage } from '../../../agent/preview/resolve/lineage.ts';
import type { ResolveFacts } from './resolveBlock.ts';
import type { TranscriptInput } from './transcript.ts';

/** Indexes that items are built from. */
export interface Lookup extends Omit<ResolveFacts, 'attempt'> {
  /** Results by their calls, see `callKey`: another answer may use the same id for a call. */
  readonly results: ReadonlyMap<string, ToolResultMessage>;
  /** Previews by the call that staged them, see `callKey`. */
  readonly staged: ReadonlyMap<string, readonly Preview[]>;
  readonly attempts: ReadonlyMap<string, LedgerEntry>;
  readonly lineage: Lineage;
  /** The attempts that calls of this conversation made, see `callKey`. */
  readonly attemptsOfCalls: ReadonlyMap<string, LedgerEntry>;
}

export function buildLookup({ sessionId, messages, nodeAt, previews, ledger }: TranscriptInput): Lookup {
  const byId = new Map(previews.map(preview => [preview.id, preview]));
  const staged = new Map<string, Preview[]>();
  for (const preview of previews) {
    if (preview.origin?.sessionId !== sessionId || !preview.origin.call) continue;
    const place = callKey(preview.origin.call);
    const list = staged.get(place);
    if (list) list.push(preview);
    else staged.set(place, [preview]);
  }
  const results = new Map<string, ToolResultMessage>();
  let messageId = '';
  messages.forEach((message, at) => {
    if (message.role === 'assistant') messageId = messageIdOf(nodeAt(at));
    else if (message.role === 'tool')
      results.set(callKey({ messageId, toolCallId: message.toolCallId }), message);
  });
  let failures: LedgerEntry[] | undefined;
  return {
    results,
    staged,
    lineage: new Lineage(previews),
    attempts: new Map(ledger.map(entry => [entry.previewId, entry])),
    attemptsOfCalls: new Map(
      ledger.flatMap(entry => (entry.call?.sessionId === sessionId ? [[callKey(entry.call), entry]] : [])),
    ),
    preview: id => byId.get(id),
    failures: () =>
      (failures ??= ledger
        .filter(({ actor, outcome }) => actor === 'model' && plainOutcome(outcome) === 'failed')
        .reverse()),
  };
}

/** Identifies a call of one conversation: another answer may use the same id for a call. */
export function callKey({ messageId, toolCallId }: Omit<CallRef, 'sessionId'>): string {
  return `${messageId} ${toolCallId}`;
}
