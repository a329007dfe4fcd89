import type { LogSink } from '../base/log/logQueue.ts';
import type { PreviewLogEntry } from './log/previewLog.ts';

/** Where the store writes its entries. `JsonLog<PreviewLogEntry>` is one. */
export interface PreviewLogSink extends LogSink<PreviewLogEntry> {
  /** Settles once everything appended so far would survive a crash of the machine. */
  flush(): Promise<void>;
  /** Replaces each entry with those that `rewrite` returns for it, permanently. */
  compact(rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[]): Promise<void>;
}

/** Hands out the numbers of previews, each only once, in whichever window. */
export interface PreviewNumbers {
  /** The next number, which is above `last`. Never throws. */
  next(last: number): number;
}
