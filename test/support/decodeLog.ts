import {
  readLog,
  withCurrentHeader,
  type LogFaults,
  type LogFormat,
} from '../../src/agent/base/log/logFormat.ts';

/** A whole log. */
export interface DecodedLog<T> extends LogFaults {
  readonly entries: readonly T[];
}

/** All of a log whose file would hold this text. */
export async function decodeLog<T>(text: string, format: LogFormat<T>): Promise<DecodedLog<T>> {
  const entries: T[] = [];
  const bytes = await withCurrentHeader(Buffer.from(text), format);
  const faults = await readLog(bytes, format, { entry: entry => void entries.push(entry) });
  return { entries, ...faults };
}
