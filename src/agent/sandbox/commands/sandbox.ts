import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import type { LeftOut } from '../../hold/external/gathered.ts';
import type { PendingContents } from '../../hold/preview/overlay.ts';
import type { CommandEnd, CommandPlan } from './commandPlan.ts';
import type { RunSink } from './commandRuns.ts';

/** How the view is made: as an overlay mount at the same path, or as a copy of the folders elsewhere. */
export type SandboxEngine = 'overlay' | 'copy';

/** How a command ended in the sandbox, and its changes there. */
export interface SandboxEnd extends CommandEnd {
  /** Its changes of files that git does not ignore: `base` is the file before the command, `theirs` the one after it. */
  readonly effects: readonly ForeignFile[];
  /** Changes that cannot become previews. */
  readonly leftOut: readonly LeftOut[];
  /**
   * Workspace paths of everything it changed that git does not ignore: those of `effects` and `leftOut`. If there are too many for
   * previews, those that it may have changed, too.
   */
  readonly changed: readonly string[];
  /** How many ignored files it changed, as far as is known. They stay in the sandbox for the next command. */
  readonly ignored: number;
  /** It wrote into `.git`. No effect includes that, and the next command does not see it. */
  readonly wroteGit: boolean;
  /** Programs and paths that it did not find in the sandbox, as shown to a person. */
  readonly missing?: readonly string[];
  /** Facts that explain a failure, as English sentences for the model: a renamed folder, a full disk. */
  readonly notes: readonly string[];
}

/** The facts about a sandbox that a person sees. */
export interface SandboxKind {
  readonly engine: SandboxEngine;
  /**
   * Nothing outside can be written, and there is no network, no home folder and no socket of the host. Proved by a probe, never
   * assumed.
   */
  readonly isolated: boolean;
}

/**
 * A view of the workspace with the pending previews of one conversation, where commands run. Nothing comes out of it but previews.
 * Commands of one sandbox run one after the other.
 */
export interface Sandbox extends SandboxKind {
  /** A command runs in it, or waits for another one. */
  readonly isBusy: boolean;
  /**
   * Runs a command on the files as if the pending previews were applied. When the signal fires, it is ended with all its
   * processes; so are those that it leaves in the background.
   * @throws ToolError if it was stopped before, the shell cannot be started, or the view cannot be made: then nothing was run.
   */
  run(plan: CommandPlan, pending: PendingContents, run: RunSink): Promise<SandboxEnd>;
  /**
   * Reads a file that git ignores, as a command has left it.
   * @returns `undefined` if none has written it since the last reset
   * @throws Error if it is too large
   */
  readIgnored(path: string): Promise<Uint8Array | undefined>;
  /** Resets ignored files to those on disk, for the next command: nothing that earlier ones left stays. */
  reset(): Promise<void>;
  /** Ends the commands that run in it and removes everything it holds. */
  dispose(): Promise<void>;
}

/** Why there is no sandbox, or not the better one. A view has a sentence for each. */
export type NoSandboxReason =
  /** The setting says so. */
  | 'off'
  /** No folder of the workspace is on this machine's disk. */
  | 'noFolder'
  /** The system is not Linux. */
  | 'system'
  /** The kernel or its policy forbids user namespaces, as containers and AppArmor do. */
  | 'namespaces'
  /** Overlays cannot be mounted here, as on some file systems. */
  | 'mount'
  /** Bubblewrap is not installed. */
  | 'bubblewrap'
  /** It started, but its probe reached something outside, so Redline does not use it. */
  | 'leaks'
  /** There is more to copy than the setting allows. */
  | 'tooLarge'
  /** The copy could not be made, because of a full disk for example; `detail` says more. */
  | 'copy';

/** The sandbox that this window can offer. */
export interface SandboxStatus {
  /** `undefined`: none. */
  readonly engine: SandboxEngine | undefined;
  readonly isolated: boolean;
  /** Why it is not an isolated overlay. */
  readonly why?: { readonly reason: NoSandboxReason; readonly detail?: string };
}

/** The sandboxes of a window, one for each conversation. */
export interface Sandboxes {
  /** Finds out by trying, and keeps the answer until the folders or settings change. */
  status(): Promise<SandboxStatus>;
  /** The sandbox of a conversation, made on first use; `undefined` if there can be none. */
  of(sessionId: string): Promise<Sandbox | undefined>;
  /**
   * A full copy of the folders as they are, free of anything that a command has left. It is not isolated. Dispose of it after use.
   * @returns `undefined` if there is more to copy than the setting allows
   */
  fresh(): Promise<Sandbox | undefined>;
  dispose(): Promise<void>;
}
