import { isDeeperThan, isRecord, MAX_DEPTH } from '../../../agent/base/json.ts';
import type { ToolCall, ToolResultMessage } from '../../../agent/model/messages.ts';
import { escapeProse, oneLine } from '../../plainText.ts';
import { fill } from '../../../agent/base/localiser.ts';
import type { ItemOf, ViewItem } from '../protocol.ts';
import type { TranscriptStrings } from './transcriptStrings.ts';
import { sayCalls } from './callWords.ts';

/** The most characters of an argument summary. */
const MAX_SUMMARY_CHARS = 120;
/** The most characters of a call's input, and of its result, that are shown. */
const MAX_TEXT_CHARS = 6_000;
/** The longest path that can be opened, in characters. */
const MAX_PATH_CHARS = 1_000;
/** The names of the most telling arguments, best first. */
const TELLING = ['path', 'pat', 'file', 'command', 'pattern', 'query', 'glob', 'url', 'name', 'id', 'action'];

/** A tool call as one line, with its input and result to unfold. */
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
    ...fileOf(call),
    progress: result ? '' : summaryLine(lastLine(progress)),
    input: shortened(prettyArguments(call), strings),
    output: result ? shortened(result.content, strings) : progressText(progress, strings),
  };
}

/** The items with each row of two or more finished calls as one that can be unfolded. */
export function groupCalls(items: readonly ViewItem[], strings: TranscriptStrings): ViewItem[] {
  const grouped: ViewItem[] = [];
  let run: ItemOf<'tool'>[] = [];
  const end = (): void => {
    const [first, second] = run;
    if (first && second)
      grouped.push({ kind: 'tools', key: `${first.key}g`, title: groupTitle(run, strings), calls: run });
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

/** `Read 8 files · Searched 2 times`. */
function groupTitle(calls: readonly ItemOf<'tool'>[], { calls: texts }: TranscriptStrings): string {
  const said = calls.map(({ name, file, status }) => ({
    name,
    path: file?.path,
    failed: status === 'failed',
  }));
  return sayCalls(said, texts);
}

/** The arguments as an object; `undefined` if they are malformed, not an object, or nested too deeply. */
export function argumentsOf(call: ToolCall): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(call.arguments);
    return isRecord(value) && !isDeeperThan(MAX_DEPTH, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The file that a call is about, and the line from which it reads. */
function fileOf(call: ToolCall): Pick<ItemOf<'tool'>, 'file'> {
  const { path, startLine } = argumentsOf(call) ?? {};
  if (typeof path !== 'string' || path === '' || path.length > MAX_PATH_CHARS) return {};
  const line =
    typeof startLine === 'number' && Number.isInteger(startLine) && startLine > 0 ? startLine : undefined;
  return { file: { path, ...(line === undefined ? {} : { line }) } };
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
function progressText(progress: string, strings: TranscriptStrings): string {
  return progress.trim().includes('\n') ? shortened(progress, strings) : '';
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function summaryLine(text: string): string {
  return oneLine(text.slice(0, MAX_SUMMARY_CHARS * 2), MAX_SUMMARY_CHARS);
}

function prettyArguments(call: ToolCall): string {
  const args = argumentsOf(call);
  if (!args) return call.arguments.trim();
  return Object.keys(args).length === 0 ? '' : JSON.stringify(args, undefined, 2);
}

function shortened(text: string, strings: TranscriptStrings): string {
  if (text.length <= MAX_TEXT_CHARS) return escapeProse(text);
  return `${escapeProse(text.slice(0, MAX_TEXT_CHARS))}\n[${fill(strings.textCut, MAX_TEXT_CHARS, text.length)}]`;
}
