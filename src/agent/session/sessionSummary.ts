import { eachLine, parseLine } from '../base/jsonLines.ts';
import { parseSessionEntry, type SessionLogEntry } from './sessionEntry.ts';
import { messageHead } from './storedLine.ts';

/** What a list shows of a session. */
export interface SessionSummary {
  /** The name that a person gave it. */
  readonly title: string | undefined;
  /** The first prompt, or the first command; empty when nothing was said. */
  readonly firstWords: string;
  /** Prompts and answers, on all branches. */
  readonly messages: number;
}

const TITLE = Buffer.from('{"type":"title"');

/** Reads of a log only what the summary needs. What cannot be read is left out. */
export async function summaryOf(bytes: Buffer): Promise<SessionSummary> {
  let title: string | undefined;
  let prompt: string | undefined;
  let command: string | undefined;
  let messages = 0;
  await eachLine(bytes, (start, end) => {
    const entry = (): SessionLogEntry | undefined => parseSessionEntry(parseLine(bytes, start, end));
    const head = messageHead(bytes, start, end);
    if (head?.role === 'user' || head?.role === 'assistant') messages++;
    if (head?.role === 'user') prompt ??= wordsOf(entry());
    else if (head?.role === 'local') command ??= wordsOf(entry());
    else if (!head && bytes.subarray(start, start + TITLE.length).equals(TITLE)) {
      const found = entry();
      if (found?.type === 'title') title = found.title;
    }
  });
  return { title, firstWords: prompt ?? command ?? '', messages };
}

function wordsOf(entry: SessionLogEntry | undefined): string | undefined {
  return entry?.type === 'message' && 'text' in entry.message ? entry.message.text : undefined;
}
