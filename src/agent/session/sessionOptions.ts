import type { Localiser } from '../base/localiser.ts';
import type { Logger } from '../base/logger.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { SessionLogSink } from './conversation/storage/recorder.ts';
import type { ToolChoices } from './forcing/toolChoices.ts';
import type { ChatProvider } from './model/chatProvider.ts';
import type { ImageFile, SessionMessage } from './model/messages.ts';
import type { ToolChoiceLadder } from './model/toolChoiceLadder.ts';
import type { CommandRuns } from '../sandbox/commands/commandRuns.ts';
import type { Overlay } from '../hold/preview/overlay.ts';
import type { PreviewStore } from '../hold/preview/previewStore.ts';
import type { Invoker } from '../hold/preview/resolve/invoker.ts';
import type { Forcing, ModelAuthority, ResolveOrder } from '../hold/preview/resolveSettings.ts';
import type { Workspace } from '../hold/preview/workspace.ts';
import type { ToolRegistry } from './tools/registry.ts';
import type { Problems } from './tools/problems.ts';
import type { SessionEvent } from './events.ts';
import type { ReadSurroundings } from './surroundings.ts';
import type { Inbox } from './waiting/inbox.ts';

/** The settings that a session follows. They may change at any time. */
export interface SessionSettings {
  readonly modelAuthority: ModelAuthority;
  readonly order: ResolveOrder;
  readonly forcing: Forcing;
  readonly continueAfterReview: boolean;
  /** Whether the model may revert the conversation: it is offered the tool and sees the ids of the nodes. */
  readonly revertEnabled: boolean;
}

/** A file in which the project tells agents how to work on it, such as `AGENTS.md`. */
export interface InstructionFile {
  /** Workspace path. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads the instructions for work on these files: first the ones for the whole workspace, then the ones nearer to the files. The
 * same files and contents give the same list. Does not reject.
 * @param workedOn paths as the model and the user wrote them: they may be invalid.
 */
export type ReadInstructions = (workedOn: readonly string[]) => Promise<readonly InstructionFile[]>;

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
  /** Reads the agent's surroundings for the system prompt; called before each request. */
  readonly readSurroundings?: ReadSurroundings;
  /** VS Code's Problems; the model is told which ones an apply brought. */
  readonly problems?: Problems;
  /** The commands that applied previews are running. */
  readonly commands?: Pick<CommandRuns, 'stopAll' | 'background'>;
  /** The provider that answers a prompt; asked once for each prompt. */
  readonly providerFor: (prompt: string) => ChatProvider;
  /** The log that the session with this id is written to. */
  readonly logFor: (sessionId: string) => SessionLogSink;
  /** Stores an image for the session with this id. @throws ImageRefusal */
  readonly keepImage?: (bytes: Uint8Array, sessionId: string) => Promise<ImageFile | undefined>;
  /** Rebases these previews onto the current content of their files, or marks them as stale. */
  readonly refreshBases?: (previewIds: readonly string[]) => Promise<void>;
}

/** Context shared by the parts of a session: its options and its own state. */
export interface SessionContext extends SessionOptions {
  readonly inbox: Inbox;
  readonly choices: ToolChoices;
  /** The open conversation. */
  readonly conversation: () => Conversation;
  readonly planMode: () => boolean;
  readonly append: (message: SessionMessage) => void;
  readonly emit: (event: SessionEvent) => void;
}
