import { readLog, type DecodedLog, type LogHeader } from '../../src/agent/base/jsonLines.ts';

/** All of a log whose file would hold this text. */
export async function decodeLog<T>(
  text: string,
  header: LogHeader,
  parse: (value: unknown) => T | undefined,
): Promise<DecodedLog<T>> {
  const entries: T[] = [];
  const faults = await readLog(Buffer.from(text), header, parse, {
    entry: entry => void entries.push(entry),
  });
  return { entries, ...faults };
}
