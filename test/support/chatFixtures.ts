import type { SessionMessage, ToolCall, ToolResultMessage } from '../../src/agent/session/model/messages.ts';
import { changeOf, sideOfText, type FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import type { LedgerEntry } from '../../src/agent/hold/preview/ledger.ts';
import type { Preview, PreviewContent } from '../../src/agent/hold/preview/preview.ts';
import type { ItemOf, ViewItem } from '../../src/views/chat/protocol.ts';
import { cardNotes, reasonOf, stateText, type CardNote } from '../../src/views/chat/words/cardWords.ts';
import type { TranscriptInput } from '../../src/views/chat/transcript/lookup.ts';
import { buildTranscript } from '../../src/views/chat/transcript/transcript.ts';

/** What a card says, in English. */
export function wordsOf(card: Pick<ItemOf<'preview'>, 'state' | 'advice' | 'isReopened'>): {
  [K in CardNote | 'state' | 'reason']?: string | undefined;
} {
  return { state: stateText(card), reason: reasonOf(card), ...Object.fromEntries(cardNotes(card)) };
}

export function call(id: string, name: string, args: unknown): ToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

export function asked(text: string): SessionMessage {
  return { role: 'user', text };
}

/** An answer that ends its turn with calls, or without. */
export function answered(text: string, ...toolCalls: ToolCall[]): SessionMessage {
  return { role: 'assistant', text, toolCalls, stopReason: toolCalls.length > 0 ? 'toolCalls' : 'stop' };
}

export function result(
  of: ToolCall,
  content: string,
  more: Partial<ToolResultMessage> = {},
): ToolResultMessage {
  return { role: 'tool', toolCallId: of.id, toolName: of.name, content, isError: false, ...more };
}

/** Replaces the text of a file. */
export function modify(path: string, before = 'old\n', after = 'new\n'): FileChange {
  const change = changeOf(path, sideOfText(before), sideOfText(after));
  if (!change) throw new Error('The texts are the same');
  return change;
}

/** A pending preview that the call `c1` of the session `s1` staged. */
export function preview({
  changes = [modify('a.ts')],
  ...more
}: Partial<Omit<Preview, 'kind'>> = {}): Preview {
  const content: PreviewContent = changes ? { kind: 'files', changes } : { kind: 'action', changes };
  return {
    ...content,
    id: 'p1',
    revision: 1,
    label: 'Edit a.ts (1 edit)',
    sourceToolName: 'edit_file',
    dependsOn: [],
    origin: { sessionId: 's1', call: { messageId: 'm1', toolCallId: 'c1' }, asksModel: true },
    stagedAt: '2026-01-01T00:00:00.000Z',
    state: { kind: 'pending', stale: [] },
    ...more,
  };
}

export function attempt(more: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    previewId: 'p1',
    label: 'Edit a.ts (1 edit)',
    kind: 'files',
    sourceToolName: 'edit_file',
    action: 'apply',
    actor: 'model',
    reason: 'Because.',
    outcome: 'applied',
    at: '2026-01-01T00:00:01.000Z',
    files: [],
    ...more,
  };
}

export function transcript(more: Partial<TranscriptInput>): ViewItem[] {
  return buildTranscript({
    sessionId: 's1',
    state: 'idle',
    messages: [],
    nodeAt: position => position,
    nextNode: more.messages?.length ?? 0,
    arriving: { text: '', reasoning: '' },
    liveResult: () => undefined,
    queued: [],
    offline: false,
    previews: [],
    withheldTools: [],
    ledger: [],
    stats: () => undefined,
    ...more,
  });
}

/** The one item of a kind. */
export function only<Kind extends ViewItem['kind']>(
  items: readonly ViewItem[],
  kind: Kind,
): Extract<ViewItem, { kind: Kind }> {
  const found = items.filter(item => item.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} items of kind ${kind}`);
  return found[0] as Extract<ViewItem, { kind: Kind }>;
}
