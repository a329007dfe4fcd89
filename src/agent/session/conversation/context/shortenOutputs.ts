import { beginningOf } from '../../../base/cutText.ts';
import { charsFor, tokensOf } from '../../model/contextWindow.ts';
import type { SessionMessage, ToolResultMessage, UserMessage } from '../../model/messages.ts';
import type { Line } from '../validTrunk.ts';
import { ATTACHMENT_LEFT_OUT } from './summarizedTrunk.ts';

/** How many characters of a shortened result are kept: enough to say what the call did, and with which preview. */
const KEPT_CHARS = 400;
/** Results that are not longer than this are not worth shortening. */
const MIN_CHARS = 2 * KEPT_CHARS;
/** How many characters of each of the newest results are kept even if there is no room. */
const MIN_NEWEST_CHARS = 1_000;
/** Savings are rounded up to a multiple of this part of the room, so that the next requests begin like this one. */
const STEP = 1 / 4;

/** Whether the model may simply call the tool again to see the rest: it changes nothing. */
type CanRepeat = (toolName: string) => boolean;

/** The lines of a request, some of them shortened. */
export interface Shortened {
  readonly lines: readonly Line[];
  /** Whether they fit while the newest results have at least half of the room. If not, the conversation wants a summary. */
  readonly fits: boolean;
}

/**
 * Makes lines fit into the room by shortening texts that the model can get again, on copies: first the oldest tool results
 * and attachments; the newest ones, which the model is about to read, only if that is not enough. Calls and their arguments
 * stay as they are, because a model would imitate a shortened argument. The same lines and room give the same result.
 * @param room for all messages, in tokens.
 */
export function shortenOutputs(lines: readonly Line[], room: number, canRepeat: CanRepeat): Shortened {
  const total = sum(lines);
  if (total <= room) return { lines, fits: true };
  const step = Math.max(1, Math.floor(room * STEP));
  const goal = Math.ceil((total - room) / step) * step;
  const newest = newestFrom(lines);
  let saved = 0;
  const shortened = lines.map((line, at) => {
    if (at >= newest || saved >= goal) return line;
    const message = shorten(line.message, KEPT_CHARS, canRepeat);
    saved += tokensOf(line.message) - tokensOf(message);
    return message === line.message ? line : { ...line, message };
  });
  if (total - saved <= room) return { lines: shortened, fits: true };
  // Half of the room is enough for new results, and cheaper than a summary of old ones.
  const halved = shortenNewest(shortened, newest, Math.floor(room / 2), room, canRepeat);
  if (sum(halved) <= room) return { lines: halved, fits: true };
  return { lines: shortenNewest(shortened, newest, 0, room, canRepeat), fits: false };
}

/** The newest results and attachments share the room that is left, or `least` tokens. */
function shortenNewest(
  lines: readonly Line[],
  newest: number,
  least: number,
  room: number,
  canRepeat: CanRepeat,
): readonly Line[] {
  const isLong = ({ message }: Line, at: number): boolean =>
    at >= newest && outputCharsOf(message) > MIN_NEWEST_CHARS;
  const count = lines.filter(isLong).length;
  if (count === 0) return lines;
  const taken = sum(lines.filter((line, at) => !isLong(line, at)));
  const share = charsFor(Math.max(least, room - taken) / count) - KEPT_CHARS;
  const max = Math.max(MIN_NEWEST_CHARS, share);
  return lines.map((line, at) =>
    isLong(line, at) ? { ...line, message: shorten(line.message, max, canRepeat) } : line,
  );
}

/** The position at which the last answer with its results, or the last prompt, begins. */
function newestFrom(lines: readonly Line[]): number {
  return lines.findLastIndex(({ message }) => message.role === 'user' || message.role === 'assistant');
}

function sum(lines: readonly Line[]): number {
  return lines.reduce((tokens, { message }) => tokens + tokensOf(message), 0);
}

/** The length of the message's text that can be shortened. */
function outputCharsOf(message: SessionMessage): number {
  if (message.role === 'tool') return message.content.length;
  if (message.role !== 'user') return 0;
  return (message.attachments ?? []).reduce((chars, { text }) => chars + text.length, 0);
}

const shortForms = new WeakMap<SessionMessage, SessionMessage>();

/** The message with at most `max` characters of output, or the message itself if that saves too little. */
function shorten(message: SessionMessage, max: number, canRepeat: CanRepeat): SessionMessage {
  if (outputCharsOf(message) < Math.max(MIN_CHARS, max + KEPT_CHARS)) return message;
  // The usual form is cached, so that its size is estimated once.
  const known = max === KEPT_CHARS ? shortForms.get(message) : undefined;
  const short =
    known ??
    (message.role === 'tool'
      ? shortResult(message, max, canRepeat)
      : shortAttachments(message as UserMessage, max));
  if (max === KEPT_CHARS) shortForms.set(message, short);
  return short;
}

function shortResult(message: ToolResultMessage, max: number, canRepeat: CanRepeat): ToolResultMessage {
  const { content, toolName, pending = [] } = message;
  const kept = beginningOf(content, max);
  const others =
    toolName === 'resolve' || pending.length > 0
      ? 'call pending with an id to see its diff'
      : 'read the files that it was about';
  const again = canRepeat(toolName)
    ? `Call ${toolName} again if you need them.`
    : `Do not call ${toolName} again for them; ${others}.`;
  const left = content.length - kept.length;
  return {
    ...message,
    content: `${kept}\n[Shortened to save room: the other ${left} characters of this result are left out. ${again}]`,
  };
}

/** The attachments share the characters; one that gets too few is left out as a whole. */
function shortAttachments(message: UserMessage, max: number): UserMessage {
  const attachments = message.attachments ?? [];
  const share = Math.floor(max / attachments.length);
  return {
    ...message,
    attachments: attachments.map(attachment => {
      if (attachment.text.length <= share) return attachment;
      const text = share < MIN_CHARS ? '' : beginningOf(attachment.text, share);
      const note =
        text === ''
          ? ATTACHMENT_LEFT_OUT
          : `Only its first ${text.length} characters are here, to save room. Call read_file for the rest.`;
      return { ...attachment, text, note };
    }),
  };
}
