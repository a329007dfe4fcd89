import type { WebviewMessage } from '../protocol.ts';
import type { ChatStrings } from '../stringKeys.ts';

/** Shared by all parts of the panel: the texts of the last snapshot and the channel to the host. */
export interface Port {
  readonly strings: ChatStrings;
  post(message: WebviewMessage): void;
}
