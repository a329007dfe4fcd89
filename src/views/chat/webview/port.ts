import type { ChatStrings, WebviewMessage } from '../protocol.ts';

/** What the parts of the panel share: the texts of the last snapshot and the way to the host. */
export interface Port {
  readonly strings: ChatStrings;
  post(message: WebviewMessage): void;
}
