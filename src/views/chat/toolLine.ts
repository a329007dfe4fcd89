import type { ToolCall, ToolResultMessage } from '../../agent/model/messages.ts';
import { fill, type ItemOf } from './protocol.ts';
import type { TranscriptStrings } from './strings.ts';

/** The most characters of an argument summary. */
const MAX_SUMMARY_CHARS = 120;
/** The most characters of a call's input, and of its result, that the panel holds. */
const MAX_TEXT_CHARS = 6_000;
/** Arguments that say best what a call is about, the best first. */
const TELLING = ['path', 'pat', 'file', 'command', 'pattern', 'query', 'glob', 'url', 'name', 'id', 'action'];

/** One tool call, folded to a line. */
export function toolLine(
  key: string,
  call: ToolCall,
  result: ToolResultMessage | undefined,
  strings: TranscriptStrings,
  progress = '',
): ItemOf<'tool'> {
  const status = result === undefined ? 'running' : result.isError ? 'failed' : 'done';
  return {
    kind: 'tool',
    key,
    name: call.name,
    summary: summaryOf(call),
    status,
    statusLabel: strings.toolStatus[status],
    progress: result ? '' : oneLine(lastLine(progress)),
    input: shortened(prettyArguments(call), strings),
    output: result ? shortened(result.content, strings) : progressText(progress, strings),
  };
}

/** The arguments as an object; `undefined` if they are malformed or no object. */
export function argumentsOf(call: ToolCall): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(call.arguments) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function summaryOf(call: ToolCall): string {
  const args = argumentsOf(call);
  if (!args) return oneLine(call.arguments);
  const telling = TELLING.find(name => typeof args[name] === 'string' && args[name] !== '');
  const value = telling === undefined ? Object.values(args).find(isTelling) : args[telling];
  return value === undefined
    ? ''
    : oneLine(
        Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value),
      );
}

function isTelling(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(item => typeof item === 'string');
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** What a running call has said, where that is more than its line shows. */
function progressText(progress: string, strings: TranscriptStrings): string {
  return progress.trim().includes('\n') ? shortened(progress, strings) : '';
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function oneLine(text: string): string {
  const line = text
    .slice(0, MAX_SUMMARY_CHARS * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_SUMMARY_CHARS ? line : `${line.slice(0, MAX_SUMMARY_CHARS - 1)}…`;
}

function prettyArguments(call: ToolCall): string {
  const args = argumentsOf(call);
  if (!args) return call.arguments.trim();
  return Object.keys(args).length === 0 ? '' : JSON.stringify(args, undefined, 2);
}

function shortened(text: string, strings: TranscriptStrings): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  return `${text.slice(0, MAX_TEXT_CHARS)}\n[${fill(strings.textCut, text.length - MAX_TEXT_CHARS)}]`;
}
