import type { Question } from '../../questions.ts';
import type { CheckMark } from '../../../agent/hold/preview/previewView.ts';
import { messageIdOf } from '../../../agent/session/conversation/nodeId.ts';
import type { ToolResultMessage, SessionMessage } from '../../../agent/session/model/messages.ts';
import { plainOutcome, type LedgerEntry } from '../../../agent/hold/preview/ledger.ts';
import { isOpen, type CallRef, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { Risk } from '../../../agent/hold/preview/reading/risks.ts';
import { Lineage } from '../../../agent/hold/preview/resolve/lineage.ts';
import type { ResolveFacts } from './resolveBlock.ts';
import type { SessionState } from '../../../agent/session/conversation/storage/sessionEntry.ts';
import type { QueuedPrompt } from '../../../agent/session/waiting/promptQueue.ts';
import type { DiffStat } from '../../../agent/hold/text/lineDiff.ts';
import type { Arriving } from './liveTurn.ts';

/** Input that the panel's entries are made from. */
export interface TranscriptInput {
  readonly sessionId: string;
  readonly state: SessionState;
  readonly messages: readonly SessionMessage[];
  /** The node of the message at that position, by which keys and previews refer to it. */
  readonly nodeAt: (position: number) => number;
  /** The node of the next message. */
  readonly nextNode: number;
  /** Text of the streaming answer so far, which is not in `messages` yet. */
  readonly arriving: Arriving;
  /** The result of a finished call that is not in `messages` yet. */
  readonly liveResult: (callId: string) => ToolResultMessage | undefined;
  /** The progress of a running call, if it reports any. */
  readonly liveProgress?: (callId: string) => string | undefined;
  /** The question to the user that is open. */
  readonly question?: Question | undefined;
  /** Prompts that wait for the running turn to end. */
  readonly queued: readonly QueuedPrompt[];
  /** Whether no model is connected, so that connecting one is offered. */
  readonly offline: boolean;
  /** All previews of all sessions, in the order of staging. */
  readonly previews: readonly Preview[];
  /** The files of custom tools that are not loaded because the workspace is not trusted. */
  readonly withheldTools: readonly string[];
  /** The ids of previews from elsewhere that stay on the screen when they are decided. */
  readonly elsewhere?: ReadonlySet<string>;
  readonly ledger: readonly LedgerEntry[];
  readonly stats: (preview: Preview) => readonly DiffStat[] | undefined;
  /** Results of the checks on a pending preview. */
  readonly checks?: (preview: Preview) => readonly CheckMark[];
  /** Whether the settings have checks. */
  readonly hasChecks?: boolean;
  /** Risks found so far in a pending preview. */
  readonly risks?: (preview: Preview) => readonly Risk[];
  /** The given previews in the order of the review. */
  readonly inOrder?: (previews: readonly Preview[]) => readonly Preview[];
  /** The output of the command that an applied preview is running. */
  readonly commandOutput?: (previewId: string) => string | undefined;
  /** The address of an image's file in the panel. */
  readonly imageSrc?: (file: string) => string;
}

/** Indexes that items are built from. */
export interface Lookup extends Omit<ResolveFacts, 'attempt'> {
  /** Results by their calls, see `callKey`: another answer may use the same id for a call. */
  readonly results: ReadonlyMap<string, ToolResultMessage>;
  /** Previews by the call that staged them, see `callKey`. */
  readonly staged: ReadonlyMap<string, readonly Preview[]>;
  /** Resolved parts that were split off a preview, by its id, and parts split off those. */
  readonly parts: ReadonlyMap<string, readonly Preview[]>;
  readonly attempts: ReadonlyMap<string, LedgerEntry>;
  readonly lineage: Lineage;
  /** The attempts that calls of this conversation made, see `callKey`. */
  readonly attemptsOfCalls: ReadonlyMap<string, LedgerEntry>;
}

/** @param from the position of the first message whose results are looked up */
export function buildLookup(
  { sessionId, messages, nodeAt, previews, ledger }: TranscriptInput,
  from: number,
): Lookup {
  const byId = new Map(previews.map(preview => [preview.id, preview]));
  const staged = new Map<string, Preview[]>();
  for (const preview of previews) {
    if (preview.origin?.sessionId !== sessionId || !preview.origin.call) continue;
    const place = callKey(preview.origin.call);
    const list = staged.get(place);
    if (list) list.push(preview);
    else staged.set(place, [preview]);
  }
  const parts = new Map<string, Preview[]>();
  for (const preview of previews) {
    if (!isListedPart(preview)) continue;
    let whole = preview;
    for (let part = whole.part; part; part = whole.part) {
      const next = byId.get(part.previewId);
      if (!next) break;
      whole = next;
      if (!isListedPart(whole)) break;
    }
    parts.set(whole.id, [...(parts.get(whole.id) ?? []), preview]);
  }
  const results = new Map<string, ToolResultMessage>();
  let messageId = '';
  messages.slice(from).forEach((message, n) => {
    if (message.role === 'assistant') messageId = messageIdOf(nodeAt(from + n));
    else if (message.role === 'tool')
      results.set(callKey({ messageId, toolCallId: message.toolCallId }), message);
  });
  let failures: LedgerEntry[] | undefined;
  return {
    results,
    staged,
    parts,
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

/** Whether a preview is listed on the card that it was split off from. One that failed to apply, and is pending, has its own. */
export function isListedPart(preview: Preview): boolean {
  return preview.part !== undefined && !isOpen(preview);
}

/** Identifies a call of one conversation: another answer may use the same id for a call. */
export function callKey({ messageId, toolCallId }: Omit<CallRef, 'sessionId'>): string {
  return `${messageId} ${toolCallId}`;
}
