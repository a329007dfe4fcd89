import type { Logger } from '../base/log.ts';
import type { ChatProvider } from '../model/chatProvider.ts';
import type { Attachment } from '../model/messages.ts';
import type { ToolChoiceLadder } from '../model/toolChoiceLadder.ts';
import type { Invoker } from '../preview/invoker.ts';
import type { Overlay } from '../preview/overlay.ts';
import type { ModelAuthority, ResolveOrder } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { Forcing } from '../preview/resolveDirectives.ts';
import type { Workspace } from '../preview/workspace.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { SessionLogSink } from './recorder.ts';

/** The settings that a session follows; read anew whenever they matter. */
export interface SessionSettings {
  readonly modelAuthority: ModelAuthority;
  readonly order: ResolveOrder;
  readonly forcing: Forcing;
  readonly continueAfterReview: boolean;
  /** The model may go back in the conversation: the tool is there, and it sees the ids of the nodes. */
  readonly revertEnabled: boolean;
}

export interface SessionOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly tools: ToolRegistry;
  readonly workspace: Workspace;
  readonly overlay: Overlay;
  readonly ladder: ToolChoiceLadder;
  readonly logger: Logger;
  readonly settings: () => SessionSettings;
  /** Settles when `tools` holds what it should; before each request it is asked anew. It does not reject. */
  readonly prepareTools?: () => Promise<void>;
  /** The provider that answers a prompt; asked once for each prompt. */
  readonly providerFor: (prompt: string) => ChatProvider;
  /** Where a session of this id is written. */
  readonly logFor: (sessionId: string) => SessionLogSink;
  /** Looks whether these previews still stand on the ground that they were made on, and moves them if not. */
  readonly checkBases?: (previewIds: readonly string[]) => Promise<void>;
}

/** What a person asked, with what goes with it. */
export interface Prompt {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}
