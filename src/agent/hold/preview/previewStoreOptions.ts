import type { EncodingError } from '../../base/log/jsonLines.ts';
import type { Blobs } from './blobs.ts';
import type { UnreadableLine } from './log/previewLog.ts';
import type { Preview } from './preview.ts';
import type { PreviewNumbers } from './previewNumbers.ts';

export interface PreviewStoreOptions {
  /** By default the store counts by itself, as the only writer of its log. */
  readonly numbers?: PreviewNumbers;
  /** Where the contents of binary files are; by default with those of the log, if it has any, else in memory. */
  readonly blobs?: Blobs;
  /** Called once everything is written again after a failure. */
  readonly onLogRecovery?: () => void;
  /** Called when the files of these previews may not survive a power cut: the reasons, by path. */
  readonly onUnsynced?: (ids: readonly string[], failed: ReadonlyMap<string, unknown>) => void;
  /** Called when the ledger file has lines that cannot be read. */
  readonly onDamage?: (unreadable: readonly UnreadableLine[]) => void;
  /**
   * Called with the previews whose latest state can never be written, and the reason. The failure lasts as long as the process;
   * while they are in that state they cannot be applied. By default it is reported as a failure of the log.
   */
  readonly onUnstorable?: (ids: readonly string[], error: EncodingError) => void;
}

/** A preview that was just staged; `stored` settles as the promises of `PreviewStore` do. */
export interface QueuedPreview {
  readonly preview: Preview;
  readonly stored: Promise<void>;
}
