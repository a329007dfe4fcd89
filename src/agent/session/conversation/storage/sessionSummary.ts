import { eachLine, parseLine } from '../../../base/log/jsonLines.ts';
import { withCurrentHeader } from '../../../base/log/logFormat.ts';
import { parseSessionEntry, sessionLogFormat, type SessionLogEntry } from './sessionEntry.ts';
import { messageHead } from './storedLine.ts';

/** A session as a list shows it. */
export interface SessionSummary {
  /** The name that the user gave it. */
  readonly title: string | undefined;
  /** The first prompt, else the first command; empty if there is neither. */
  readonly firstWords: string;
  /** The number of prompts and answers on all branches. */
  readonly messages: number;
}

const TITLE = Buffer.from('{"type":"title"');

/**
 * Summarizes a log of any known version, parsing only the lines that the summary needs. Malformed lines are ignored.
 * @throws UnknownLogVersionError
 */
export async function summaryOf(stored: Buffer): Promise<SessionSummary> {
  const bytes = await withCurrentHeader(stored, sessionLogFormat);
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
