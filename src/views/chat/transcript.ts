import * as path from 'node:path';
import type {
  AssistantMessage,
  Attachment,
  SessionMessage,
  ToolResultMessage,
} from '../../agent/model/messages.ts';
import { parseSlashCommand } from '../../agent/model/slashCommands.ts';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { DiffStat } from '../../agent/preview/lineDiff.ts';
import { isOpen, type Preview, type PreviewOrigin } from '../../agent/preview/preview.ts';
import type { SessionState } from '../../agent/session/events.ts';
import { messageIdOf } from '../../agent/tree/nodeId.ts';
import { refLabel, refName } from './attachmentRef.ts';
import { previewCard } from './previewCard.ts';
import { fill, type AttachmentRef, type ChatAction, type ItemOf, type ViewItem } from './protocol.ts';
import { resolveBlock, type ResolveFacts } from './resolveBlock.ts';
import type { TranscriptStrings } from './strings.ts';
import { toolLine } from './toolLine.ts';

/** The most previews from elsewhere that the panel lists; the pending view has them all. */
const MAX_ELSEWHERE = 20;
/** The most withheld tools that are named. */
const MAX_WITHHELD = 5;
/** The most entries that the panel holds: a long session stays quick to draw. */
const MAX_ITEMS = 1_000;

export interface TranscriptInput {
  readonly sessionId: string;
  readonly state: SessionState;
  readonly messages: readonly SessionMessage[];
  /** The node of the message at that position; keys and previews name it. */
  readonly nodeAt: (position: number) => number;
  /** The node of the next message. */
  readonly nextNode: number;
  /** What has arrived of the answer that is not in `messages` yet. */
  readonly arriving: string;
  /** The result of a call that is not in `messages` yet. */
  readonly liveResult: (callId: string) => ToolResultMessage | undefined;
  /** How far a running call is, if it tells. */
  readonly liveProgress?: (callId: string) => string | undefined;
  /** Prompts that wait until the running turn ends. */
  readonly queued: readonly QueuedPrompt[];
  /** No model is connected: what helps on is to connect one. */
  readonly offline: boolean;
  /** All previews in the order of staging, of whatever session. */
  readonly previews: readonly Preview[];
  /** Files of custom tools that are not loaded, because the workspace is not trusted. */
  readonly withheldTools: readonly string[];
  readonly ledger: readonly LedgerEntry[];
  readonly stats: (preview: Preview) => readonly DiffStat[] | undefined;
  readonly strings: TranscriptStrings;
}

export interface QueuedPrompt {
  readonly text: string;
  readonly attachments: readonly AttachmentRef[];
}

/**
 * Everything that the panel lists, from the first to the last: what is not there and why, pending previews that come from elsewhere, then the
 * conversation with each preview under the call that staged it. Steering messages are not shown, except notices.
 */
export function buildTranscript(input: TranscriptInput): ViewItem[] {
  const { messages, arriving, nodeAt, nextNode, queued, strings } = input;
  const world = survey(input);
  const items: ViewItem[] = [];
  messages.forEach((message, i) => {
    const node = nodeAt(i);
    const key = messageIdOf(node);
    switch (message.role) {
      case 'user':
        items.push({ ...promptItem(key, message.text, message.attachments ?? [], '', strings), node });
        break;
      case 'local':
        items.push(promptItem(key, message.text, [], '', strings));
        items.push({ kind: 'local', key: `${key}.l`, text: message.answer });
        break;
      case 'assistant':
        items.push(...answerItems(message, i, input, world));
        break;
      case 'steering':
        if (message.kind === 'notice') items.push({ kind: 'notice', key, text: message.text });
        break;
      case 'tool':
        break;
    }
  });
  if (arriving !== '') items.push(arrivingItem(nextNode, arriving));
  queued.forEach(({ text, attachments }, i) =>
    items.push(promptItem(`q${i}`, text, attachments, strings.queued, strings)),
  );
  if (wantsModel(input)) {
    items.push({
      kind: 'actions',
      key: 'connect',
      actions: [{ name: 'selectModel', label: strings.connectModel }],
    });
  }
  return [...withheld(input), ...elsewhere(input, world), ...latest(items, strings)];
}

/** Why tools of the workspace are not there, and the way to have them. */
function withheld({ withheldTools, strings }: TranscriptInput): ViewItem[] {
  if (withheldTools.length === 0) return [];
  const names = withheldTools.map(file => path.basename(file));
  const shown = names.slice(0, MAX_WITHHELD).join(', ') + (names.length > MAX_WITHHELD ? ', …' : '');
  return [
    { kind: 'notice', key: 'withheld', text: fill(strings.withheldTools, shown) },
    {
      kind: 'actions',
      key: 'withheld.a',
      actions: [{ name: 'manageTrust', label: strings.actions.manageTrust }],
    },
  ];
}

/** Whether the last words were for a model, and none is connected. */
function wantsModel({ offline, state, messages }: TranscriptInput): boolean {
  if (!offline || state === 'running' || messages.at(-1)?.role !== 'assistant') return false;
  const prompt = messages.findLast(({ role }) => role === 'user' || role === 'local');
  return prompt?.role === 'user' && parseSlashCommand(prompt.text) === undefined;
}

function promptItem(
  key: string,
  text: string,
  attachments: readonly (AttachmentRef & Pick<Attachment, 'note'>)[],
  note: string,
  strings: TranscriptStrings,
): ItemOf<'user'> {
  const shown = attachments.map(({ note: problem, ...ref }) => ({
    label: refLabel(ref),
    title: problem === undefined ? refName(ref) : fill(strings.attachmentProblem, refName(ref), problem),
    problem: problem !== undefined,
  }));
  return { kind: 'user', key, text, attachments: shown, note };
}

function latest(items: readonly ViewItem[], strings: TranscriptStrings): readonly ViewItem[] {
  const hidden = items.length - MAX_ITEMS;
  if (hidden <= 0) return items;
  return [{ kind: 'heading', key: 'earlier', text: fill(strings.earlier, hidden) }, ...items.slice(hidden)];
}

/** The item of the answer that is arriving; it keeps its key when the answer has ended. */
export function arrivingItem(nextNode: number, text: string): ItemOf<'assistant'> {
  return { kind: 'assistant', key: messageIdOf(nextNode), text, streaming: true, note: '' };
}

/** What the items are looked up in. */
interface World extends ResolveFacts {
  readonly results: ReadonlyMap<string, ToolResultMessage>;
  /** By the node and the call that staged them. */
  readonly staged: ReadonlyMap<string, readonly Preview[]>;
  readonly attempts: ReadonlyMap<string, LedgerEntry>;
}

function survey({ sessionId, messages, previews, ledger }: TranscriptInput): World {
  const byId = new Map(previews.map(preview => [preview.id, preview]));
  const staged = new Map<string, Preview[]>();
  for (const preview of previews) {
    if (preview.origin?.sessionId !== sessionId) continue;
    const place = stagedAt(preview.origin);
    const list = staged.get(place);
    if (list) list.push(preview);
    else staged.set(place, [preview]);
  }
  const results = new Map<string, ToolResultMessage>();
  for (const message of messages) if (message.role === 'tool') results.set(message.toolCallId, message);
  let failures: LedgerEntry[] | undefined;
  return {
    results,
    staged,
    attempts: new Map(ledger.map(entry => [entry.previewId, entry])),
    preview: id => byId.get(id),
    failures: () =>
      (failures ??= ledger
        .filter(({ actor, outcome }) => actor === 'model' && outcome === 'failed')
        .reverse()),
  };
}

function stagedAt({ messageId, toolCallId }: Pick<PreviewOrigin, 'messageId' | 'toolCallId'>): string {
  return `${messageId} ${toolCallId}`;
}

/** Open previews that no call on this trunk staged: from before, from another branch or another extension. */
function elsewhere(input: TranscriptInput, world: World): ViewItem[] {
  const { previews, messages, nodeAt, sessionId, strings } = input;
  const here = new Set(messages.map((_, at) => messageIdOf(nodeAt(at))));
  const open = previews.filter(
    preview =>
      isOpen(preview) && !(preview.origin?.sessionId === sessionId && here.has(preview.origin.messageId)),
  );
  if (open.length === 0) return [];
  const shown = open.slice(-MAX_ELSEWHERE);
  const items: ViewItem[] = [{ kind: 'heading', key: 'elsewhere', text: strings.alsoPending }];
  if (open.length > shown.length) {
    const text = fill(strings.morePending, open.length - shown.length);
    items.push({ kind: 'heading', key: 'elsewhere:more', text });
  }
  return [...items, ...shown.map(preview => card(preview, input, world))];
}

function card(preview: Preview, { stats, strings }: TranscriptInput, world: World): ItemOf<'preview'> {
  return previewCard(
    preview,
    { lastAttempt: world.attempts.get(preview.id), stats: stats(preview) },
    strings,
  );
}

function answerItems(
  message: AssistantMessage,
  index: number,
  input: TranscriptInput,
  world: World,
): ViewItem[] {
  const { strings } = input;
  const node = input.nodeAt(index);
  const messageId = messageIdOf(node);
  const items: ViewItem[] = [];
  const note = noteOf(message, strings);
  if (message.text.trim() !== '' || note !== '') {
    // Nothing can be left behind the last message.
    const place = index < input.messages.length - 1 ? { node } : {};
    items.push({
      kind: 'assistant',
      key: messageId,
      ...place,
      text: message.text,
      streaming: false,
      note,
    });
  }
  message.toolCalls.forEach((call, i) => {
    const key = `${messageId}.${i}`;
    const result = world.results.get(call.id) ?? input.liveResult(call.id);
    if (call.name === 'resolve') items.push(resolveBlock(key, call, result, world, strings));
    else items.push(toolLine(key, call, result, strings, input.liveProgress?.(call.id)));
    for (const preview of world.staged.get(stagedAt({ messageId, toolCallId: call.id })) ?? [])
      items.push(card(preview, input, world));
  });
  if (message.stopReason === 'error') {
    const isLast =
      index === input.messages.findLastIndex(({ role }) => role !== 'steering' && role !== 'local');
    const names = errorActions(message, isLast && input.state !== 'running');
    items.push({
      kind: 'error',
      key: `${messageId}.e`,
      text: message.error ?? strings.failedAnswer,
      actions: names.map(name => ({ name, label: strings.actions[name] })),
    });
  }
  return items;
}

function noteOf({ stopReason }: AssistantMessage, strings: TranscriptStrings): string {
  if (stopReason === 'aborted') return strings.stopped;
  return stopReason === 'length' ? strings.cutOff : '';
}

/** The buttons that help, by the failure's code where the message carries one. */
function errorActions({ errorCode }: AssistantMessage, mayRetry: boolean): ChatAction[] {
  const retry: ChatAction[] = mayRetry ? ['continue'] : [];
  switch (errorCode) {
    case 'unauthorized':
      return ['setApiKey', ...retry, 'showLog'];
    case 'noModel':
      return ['selectModel', ...retry];
    case 'notFound':
      return ['selectModel', ...retry, 'showLog'];
    case 'unreachable':
      return [...retry, 'selectModel', 'showLog'];
    case 'rateLimited':
    case 'server':
    case 'broken':
    case 'badRequest':
    case undefined:
      break;
  }
  return [...retry, 'showLog'];
}
