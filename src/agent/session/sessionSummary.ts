import { parseJson } from '../base/jsonLog.ts';
import { messageHead, parseSessionEntry } from './sessionEntry.ts';

/** What a list shows of a session. */
export interface SessionSummary {
  /** The name that a person gave it. */
  readonly title: string | undefined;
  /** The first prompt, or the first command; empty when nothing was said. */
  readonly firstWords: string;
  /** Prompts and answers, on all branches. */
  readonly messages: number;
}

/** Reads of a log's text only what the summary needs. What cannot be read is left out. */
export function summaryOf(text: string): SessionSummary {
  let title: string | undefined;
  let prompt: string | undefined;
  let command: string | undefined;
  let messages = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('{"type":"title"')) {
      const found = parseSessionEntry(parseJson(line));
      if (found?.type === 'title') title = found.title;
      continue;
    }
    const role = messageHead(line)?.role;
    if (role === 'user' || role === 'assistant') messages++;
    if (role === 'user') prompt ??= wordsOf(line);
    if (role === 'local') command ??= wordsOf(line);
  }
  return { title, firstWords: prompt ?? command ?? '', messages };
}

function wordsOf(line: string): string | undefined {
  const found = parseSessionEntry(parseJson(line));
  return found?.type === 'message' && 'text' in found.message ? found.message.text : undefined;
}
