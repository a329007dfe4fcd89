import type { Localiser } from '../base/localiser.ts';
import type { Logger } from '../base/logger.ts';
import type { SessionLogSink } from '../conversation/storage/recorder.ts';
import type { ChatProvider } from '../model/chatProvider.ts';
import type { ToolChoiceLadder } from '../model/toolChoiceLadder.ts';
import type { Overlay } from '../preview/overlay.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { Invoker } from '../preview/resolve/invoker.ts';
import type { Forcing, ModelAuthority, ResolveOrder } from '../preview/resolveSettings.ts';
import type { Workspace } from '../preview/workspace.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Problems } from '../tools/problems.ts';
import type { ReadInstructions } from './instructions.ts';
import type { ReadSurroundings } from './surroundings.ts';

/** The settings that a session follows. They may change at any time. */
export interface SessionSettings {
  readonly modelAuthority: ModelAuthority;
  readonly order: ResolveOrder;
  readonly forcing: Forcing;
  readonly continueAfterReview: boolean;
  /** Whether the model may revert the conversation: it is offered the tool and sees the ids of the nodes. */
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
  /** For the titles of previews. */
  readonly l10n: Localiser;
  readonly settings: () => SessionSettings;
  /** Awaited before each request: settles once `tools` is up to date. Does not reject. */
  readonly prepareTools?: () => Promise<void>;
  /** The instructions of the project; asked before each request. */
  readonly readInstructions?: ReadInstructions;
  /** Where the agent works, for the system prompt; asked before each request. */
  readonly readSurroundings?: ReadSurroundings;
  /** Of these, the model is told the ones that an apply brought. */
  readonly problems?: Problems;
  /** Called by Stop: ends the commands that applied previews are running. */
  readonly stopCommands?: () => void;
  /** The provider that answers a prompt; asked once for each prompt. */
  readonly providerFor: (prompt: string) => ChatProvider;
  /** The log that the session with this id is written to. */
  readonly logFor: (sessionId: string) => SessionLogSink;
  /** Rebases these previews onto the current content of their files, or marks them as stale. */
  readonly refreshBases?: (previewIds: readonly string[]) => Promise<void>;
}
