import type { ChatStrings, WebviewMessage } from '../protocol.ts';

/** Shared by all parts of the panel: the texts of the last snapshot and the channel to the host. */
export interface Port {
  readonly strings: ChatStrings;
  post(message: WebviewMessage): void;
}
