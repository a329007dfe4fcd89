import { beginningOf } from '../../../agent/base/cutText.ts';
import { isDeeperThan, isRecord, MAX_DEPTH, parsedJson } from '../../../agent/base/json.ts';
import { interruptions } from '../../../agent/session/model/interruptions.ts';
import type { ToolCall, ToolResultMessage } from '../../../agent/session/model/messages.ts';
import { escapeProse, oneLine } from '../../plainText.ts';
import { MAX_SHOWN_CHARS, type ItemOf, type ShownText, type ViewItem } from '../viewItem.ts';

/** The most characters of an argument summary. */
const MAX_SUMMARY_CHARS = 120;
/** The longest path that can be opened, in characters. */
const MAX_PATH_CHARS = 1_000;
/** The names of the most telling arguments, best first. */
const TELLING = [
  'path',
  'pat',
  'file',
  'command',
  'pattern',
  'query',
  'glob',
  'url',
  'name',
  'id',
  'action',
  'question',
];

/** A tool call as one line, with its input and result to unfold. */
export function toolLine(
  key: string,
  call: ToolCall,
  result: ToolResultMessage | undefined,
  progress = '',
): ItemOf<'tool'> {
  const status = statusOf(result);
  return {
    kind: 'tool',
    key,
    name: call.name,
    summary: summaryOf(call),
    status,
    file: fileOf(call),
    progress: result ? undefined : summaryLine(lastLine(progress)) || undefined,
    input: shown(prettyArguments(call)),
    // The text of an interruption is for the model.
    output: shown(result ? (status === 'interrupted' ? '' : result.content) : progressText(progress)),
  };
}

function statusOf(result: ToolResultMessage | undefined): ItemOf<'tool'>['status'] {
  if (!result) return 'running';
  if (!result.isError) return 'done';
  return wasInterrupted(result) ? 'interrupted' : 'failed';
}

/** Whether the call has no result of its own, because it was interrupted. */
export function wasInterrupted({ isError, content }: ToolResultMessage): boolean {
  return isError && Object.values(interruptions).some(text => content.endsWith(text));
}

/** The items with each row of two or more finished calls as one that can be unfolded. */
export function groupCalls(items: readonly ViewItem[]): ViewItem[] {
  const grouped: ViewItem[] = [];
  let run: ItemOf<'tool'>[] = [];
  const end = (): void => {
    const [first, second] = run;
    if (first && second) grouped.push({ kind: 'tools', key: `${first.key}g`, calls: run });
    else grouped.push(...run);
    run = [];
  };
  for (const item of items) {
    if (item.kind === 'tool' && item.status !== 'running') run.push(item);
    else {
      end();
      grouped.push(item);
    }
  }
  end();
  return grouped;
}

/** The arguments as an object; `undefined` if they are malformed, not an object, or nested too deeply. */
export function argumentsOf(call: ToolCall): Record<string, unknown> | undefined {
  const value = parsedJson(call.arguments);
  return isRecord(value) && !isDeeperThan(MAX_DEPTH, value) ? value : undefined;
}

/** The file that a call is about, and the line from which it reads. */
function fileOf(call: ToolCall): ItemOf<'tool'>['file'] {
  const { path, startLine } = argumentsOf(call) ?? {};
  if (typeof path !== 'string' || path === '' || path.length > MAX_PATH_CHARS) return undefined;
  const line =
    typeof startLine === 'number' && Number.isInteger(startLine) && startLine > 0 ? startLine : undefined;
  return { path, line };
}

function summaryOf(call: ToolCall): string {
  const args = argumentsOf(call);
  if (!args) return summaryLine(call.arguments);
  const telling = TELLING.find(name => typeof args[name] === 'string' && args[name] !== '');
  const value = telling === undefined ? Object.values(args).find(isTelling) : args[telling];
  return value === undefined
    ? ''
    : summaryLine(
        Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value),
      );
}

function isTelling(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(item => typeof item === 'string');
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** The progress of a running call, if it is longer than the one line that is always shown. */
function progressText(progress: string): string {
  return progress.trim().includes('\n') ? progress : '';
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function summaryLine(text: string): string {
  return oneLine(beginningOf(text, MAX_SUMMARY_CHARS * 2), MAX_SUMMARY_CHARS);
}

function prettyArguments(call: ToolCall): string {
  const args = argumentsOf(call);
  if (!args) return call.arguments.trim();
  return Object.keys(args).length === 0 ? '' : JSON.stringify(args, undefined, 2);
}

function shown(text: string): ShownText {
  if (text.length <= MAX_SHOWN_CHARS) return { text: escapeProse(text) };
  return { text: escapeProse(beginningOf(text, MAX_SHOWN_CHARS)), length: text.length };
}
