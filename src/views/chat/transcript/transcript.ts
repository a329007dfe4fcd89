import * as path from 'node:path';
import { isRecord } from '../../../agent/base/json.ts';
import { shortened } from '../../../agent/base/cutText.ts';
import { messageIdOf } from '../../../agent/session/conversation/nodeId.ts';
import { INTERRUPTED } from '../../../agent/session/conversation/validTrunk.ts';
import type {
  AssistantMessage,
  Attachment,
  ImageFile,
  SessionMessage,
  SteeringMessage,
  ToolCall,
  ToolResultMessage,
} from '../../../agent/session/model/messages.ts';
import { titleOf } from '../../../agent/hold/preview/preview.ts';
import { asWritten } from '../../../agent/hold/preview/reviewTexts.ts';
import { parseSlashCommand } from '../../../agent/session/model/offline/slashCommands.ts';
import type { Question } from '../../questions.ts';
import type { AttachmentRef, ChatAction, ItemOf, ViewItem } from '../protocol.ts';
import { escapeInvisible, oneLine } from '../../plainText.ts';
import type { Arriving } from './liveTurn.ts';
import { card, cardsOf, fromElsewhere, restaged } from './cards.ts';
import { buildLookup, callKey, isListedPart, type Lookup, type TranscriptInput } from './lookup.ts';
import { resolveBlock } from './resolveBlock.ts';
import { MAX_ENTRIES, shownMessages } from './shownMessages.ts';
import { argumentsOf, groupCalls, toolLine } from './toolLine.ts';
import { isOfPerson, turnsOf } from './turns.ts';

/** The most characters of an address that a question shows. */
const MAX_URL_CHARS = 500;
/** The most withheld tools that are named. */
const MAX_WITHHELD = 5;

/**
 * All entries of the panel in order: withheld tools, proposals of others, then the conversation with the changes of each turn below
 * it, or a single one below the call that proposed it. Steering messages are left out, except notices and summaries.
 */
export function buildTranscript(input: TranscriptInput): ViewItem[] {
  const { messages, arriving, nextNode, question, queued } = input;
  const { from, hidden } = shownMessages(messages);
  const lookup = buildLookup(input, from);
  const items: ViewItem[] = [];
  // A turn whose beginning is not shown still gets its whole card.
  const begin = messages.slice(0, from + 1).findLastIndex(isOfPerson);
  const turns = turnsOf(input, lookup, Math.max(0, begin));
  const onTurns = new Set([...turns.values()].flat().map(({ id }) => id));
  messages.slice(from).forEach((message, n) => {
    const at = from + n;
    items.push(...messageItems(message, at, input, { ...lookup, onTurns }));
    items.push(...cardsOf(turns.get(at) ?? [], input, lookup));
  });
  if (arriving.text !== '' || arriving.reasoning !== '') items.push(arrivingItem(nextNode, arriving));
  items.push(...restaged(input, lookup));
  if (question) items.push(questionItem(question));
  for (const { id, text, attachments } of queued)
    items.push({ ...promptItem(id, text, attachments, input), queued: id });
  if (wantsModel(input)) items.push({ kind: 'connect', key: 'connect' });
  return [...withheldNotice(input), ...fromElsewhere(input, lookup), ...lastItems(groupCalls(items), hidden)];
}

function questionItem(question: Question): ItemOf<'host' | 'question'> {
  const { id, about } = question;
  const key = `question${id}`;
  if (about === 'choice') {
    const { text, choices } = question;
    return { kind: 'question', key, id, text: escapeInvisible(text), choices: [...choices] };
  }
  const { host, url } = question;
  return { kind: 'host', key, id, host: oneLine(host), url: escapeInvisible(shortened(url, MAX_URL_CHARS)) };
}

/** A question with the user's answer; `undefined` if the call asked no question, or has no answer. */
function answeredItem(
  key: string,
  call: ToolCall,
  result: ToolResultMessage | undefined,
): ItemOf<'question'> | undefined {
  const { question } = argumentsOf(call) ?? {};
  const { answer } = isRecord(result?.details) ? result.details : {};
  if (call.name !== 'ask_user' || typeof question !== 'string' || typeof answer !== 'string')
    return undefined;
  return {
    kind: 'question',
    key,
    text: escapeInvisible(question),
    choices: [],
    answer: escapeInvisible(answer),
  };
}

interface TurnLookup extends Lookup {
  /** The ids of previews listed on the card of their turn. */
  readonly onTurns: ReadonlySet<string>;
}

function messageItems(
  message: SessionMessage,
  at: number,
  input: TranscriptInput,
  lookup: TurnLookup,
): readonly ViewItem[] {
  const { messages } = input;
  const node = input.nodeAt(at);
  const key = messageIdOf(node);
  switch (message.role) {
    case 'user':
      return [{ ...promptItem(key, message.text, message.attachments ?? [], input), node }];
    case 'local':
      if (message.text === '') return []; // it stands in for a message that could not be read
      return [
        promptItem(key, message.text, [], input),
        { kind: 'local', key: `${key}.l`, text: message.answer },
      ];
    case 'assistant':
      return answerItems(message, at, input, lookup);
    case 'steering':
      if (message.text === INTERRUPTED) {
        const canContinue = at === messages.length - 1 && input.state !== 'running';
        return [{ kind: 'notice', key, notice: { about: 'interrupted', canContinue } }];
      }
      if (message.kind === 'notice') return [{ kind: 'notice', key, notice: noticeOf(message, lookup) }];
      if (message.kind !== 'summary') return [];
      // A summary stands where it was made, below the messages that it replaced for the model.
      return [
        {
          kind: 'summary',
          key,
          node: at < messages.length - 1 ? node : undefined,
          text: escapeInvisible(message.text),
        },
      ];
    case 'tool':
      return [];
  }
}

/** Why the workspace's custom tools are not loaded. */
function withheldNotice({ withheldTools }: TranscriptInput): ViewItem[] {
  if (withheldTools.length === 0) return [];
  const files = withheldTools.slice(0, MAX_WITHHELD).map(file => escapeInvisible(path.basename(file)));
  const isAll = files.length === withheldTools.length;
  return [{ kind: 'notice', key: 'withheld', notice: { about: 'withheldTools', files, isAll } }];
}

/** Whether the last prompt needed a model, and none is connected. */
function wantsModel({ offline, state, messages }: TranscriptInput): boolean {
  if (!offline || state === 'running' || messages.at(-1)?.role !== 'assistant') return false;
  const prompt = messages.findLast(({ role }) => role === 'user' || role === 'local');
  return prompt?.role === 'user' && parseSlashCommand(prompt.text) === undefined;
}

function promptItem(
  key: string,
  text: string,
  attachments: readonly (Omit<AttachmentRef, 'image'> &
    Pick<Attachment, 'note'> & { readonly image?: ImageFile | undefined })[],
  { imageSrc }: TranscriptInput,
): ItemOf<'user'> {
  const shown = attachments.map(({ path, startLine, endLine, note, image }) => ({
    path,
    startLine,
    endLine,
    problem: note === undefined ? undefined : escapeInvisible(note),
    src: image && imageSrc?.(image.file),
  }));
  return { kind: 'user', key, text: asWritten(text), attachments: shown };
}

/** @param before how many entries come before the items */
function lastItems(items: readonly ViewItem[], before: number): readonly ViewItem[] {
  const last = items.slice(-MAX_ENTRIES);
  const hidden = before + items.length - last.length;
  if (hidden === 0) return last;
  return [{ kind: 'heading', key: 'earlier', heading: { about: 'earlier', count: hidden } }, ...last];
}

/** The item of the streaming answer, which keeps its key when the answer is complete. */
export function arrivingItem(nextNode: number, arriving: Arriving): ItemOf<'assistant'> {
  return {
    kind: 'assistant',
    key: messageIdOf(nextNode),
    ...arriving,
    streaming: true,
    canRetry: false,
  };
}

function answerItems(
  message: AssistantMessage,
  index: number,
  input: TranscriptInput,
  lookup: TurnLookup,
): ViewItem[] {
  const node = input.nodeAt(index);
  const messageId = messageIdOf(node);
  const items: ViewItem[] = [];
  const incomplete = incompleteOf(message);
  const reasoning = (message.reasoning ?? '').trim();
  if (message.text.trim() !== '' || reasoning !== '' || incomplete) {
    items.push({
      kind: 'assistant',
      key: messageId,
      // The last message cannot be reverted to, because nothing follows it.
      node: index < input.messages.length - 1 ? node : undefined,
      text: message.text,
      reasoning,
      streaming: false,
      incomplete,
      canRetry: isLastAnswer(message, index, input),
    });
  }
  message.toolCalls.forEach((call, i) => {
    const key = `${messageId}.${i}`;
    const place = callKey({ messageId, toolCallId: call.id });
    const result = lookup.results.get(place) ?? input.liveResult(call.id);
    if (call.name === 'resolve') {
      const facts = { ...lookup, attempt: lookup.attemptsOfCalls.get(place) };
      const block = resolveBlock(key, call, result, facts);
      // A recommendation stands on the card.
      if (!block.outcome.startsWith('recommend')) items.push(block);
      // In plan mode it stages a plan.
      for (const preview of lookup.staged.get(place) ?? []) items.push(card(preview, input, lookup));
      return;
    }
    const asked = answeredItem(key, call, result);
    if (asked) return void items.push(asked);
    const line = toolLine(key, call, result, input.liveProgress?.(call.id));
    const staged = (lookup.staged.get(place) ?? []).filter(preview => !isListedPart(preview));
    // The card of the proposal says the rest.
    if (staged.length === 0 || line.status !== 'done') items.push(line);
    for (const preview of staged)
      if (!lookup.onTurns.has(preview.id)) items.push(card(preview, input, lookup));
  });
  if (message.stopReason === 'error') {
    const isLast =
      index === input.messages.findLastIndex(({ role }) => role !== 'steering' && role !== 'local');
    items.push({
      kind: 'error',
      key: `${messageId}.e`,
      text: message.error === undefined ? undefined : escapeInvisible(message.error),
      actions: errorActions(message, isLast && input.state !== 'running'),
    });
  }
  return items;
}

/** Whether it ended the conversation's last turn, with no message after it. */
function isLastAnswer(
  { toolCalls, stopReason }: AssistantMessage,
  index: number,
  { messages, state, queued }: TranscriptInput,
): boolean {
  return (
    index === messages.length - 1 &&
    state !== 'running' &&
    queued.length === 0 &&
    toolCalls.length === 0 &&
    stopReason !== 'error' &&
    messages.some(({ role }) => role === 'user')
  );
}

/** A notice about a preview that is left to the user; any other as it is. */
export function noticeOf(
  { text, previewIds: [id] }: SteeringMessage,
  { preview }: Pick<Lookup, 'preview'>,
): ItemOf<'notice'>['notice'] {
  if (id === undefined) return { about: 'other', text: escapeInvisible(text) };
  const about = preview(id);
  const label = about ? oneLine(titleOf(about)) : id;
  return { about: text.includes('failed to apply') ? 'keptFailing' : 'notDecided', label };
}

function incompleteOf({ stopReason }: AssistantMessage): ItemOf<'assistant'>['incomplete'] {
  if (stopReason === 'aborted') return 'stopped';
  return stopReason === 'length' ? 'cutOff' : undefined;
}

/** The buttons that help with a failure, by its code if the message has one. */
function errorActions({ errorCode }: AssistantMessage, mayRetry: boolean): ChatAction[] {
  const retry: ChatAction[] = mayRetry ? ['continue'] : [];
  switch (errorCode) {
    case 'unauthorized':
      return ['setApiKey', ...retry, 'showLog'];
    case 'noModel':
      return ['selectModel', ...retry];
    case 'notFound':
    case 'noImages':
      return ['selectModel', ...retry, 'showLog'];
    case 'forbidden':
    case 'unreachable':
      return [...retry, 'selectModel', 'showLog'];
    case 'contextLength':
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
