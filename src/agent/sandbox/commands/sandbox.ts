import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import type { LeftOut } from '../../hold/external/gathered.ts';
import type { PendingContents } from '../../hold/preview/overlay.ts';
import type { CommandEnd, CommandPlan } from './commandPlan.ts';
import type { RunSink } from './commandRuns.ts';

/** What makes the view: an overlay mount at the same path, or a copy of the folders elsewhere. */
export type SandboxEngine = 'overlay' | 'copy';

/** How a command ended in the sandbox, and what it left there. */
export interface SandboxEnd extends CommandEnd {
  /** Its changes of files that git does not ignore: `base` is what the command found, `theirs` what it left. */
  readonly effects: readonly ForeignFile[];
  /** Changes that cannot become previews. */
  readonly leftOut: readonly LeftOut[];
  /** Workspace paths of all that it changed and git does not ignore: those of both, also where there are too many for previews. */
  readonly changed: readonly string[];
  /** How many files that git ignores it has changed, as far as is known: they stay in the sandbox for the next command. */
  readonly ignored: number;
  /** It wrote into `.git`. That is in no effect, and the next command does not find it. */
  readonly wroteGit: boolean;
  /** Programs and paths that it did not find in the sandbox, as a person is told them. */
  readonly missing?: readonly string[];
  /** Facts that explain a failure, as English sentences for the model: a renamed folder, a full disk. */
  readonly notes: readonly string[];
}

/** What a person is told of a sandbox. */
export interface SandboxKind {
  readonly engine: SandboxEngine;
  /**
   * Nothing outside can be written, and there is no network, no home folder and no socket of the host. Proved by a probe, never
   * assumed.
   */
  readonly isolated: boolean;
}

/**
 * A view of the workspace of one conversation with its pending previews in it, where commands run, and out of which comes
 * nothing but previews. Commands of one sandbox run one after the other.
 */
export interface Sandbox extends SandboxKind {
  /** A command runs in it, or waits for another one. */
  readonly isBusy: boolean;
  /**
   * Runs a command on the files as if the pending previews were applied. When the signal fires, it is ended with all that it has
   * started; so is what it leaves in the background.
   * @throws ToolError if it was stopped before, the shell cannot be started, or the view cannot be made: then nothing was run.
   */
  run(plan: CommandPlan, pending: PendingContents, run: RunSink): Promise<SandboxEnd>;
  /**
   * What a command has left in a file that git ignores.
   * @returns `undefined` if none has written it since the last reset
   * @throws Error if it is too large
   */
  readIgnored(path: string): Promise<Uint8Array | undefined>;
  /** Makes what git ignores what it is on disk, for the next command: nothing stays that earlier ones left. */
  reset(): Promise<void>;
  /** Ends what runs in it and removes all that it holds. */
  dispose(): Promise<void>;
}

/** What an engine has of a sandbox. */
export type SandboxOfEngine = Omit<Sandbox, 'isBusy'>;

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
  /** It started, but something outside could be reached: it is not used. */
  | 'leaks'
  /** There is more to copy than the setting allows. */
  | 'tooLarge'
  /** The copy could not be made, because of a full disk for example; `detail` says more. */
  | 'copy';

/** What this window has for a sandbox. */
export interface SandboxStatus {
  /** `undefined`: none. */
  readonly engine: SandboxEngine | undefined;
  readonly isolated: boolean;
  /** Why it is not an isolated overlay. */
  readonly why?: { readonly reason: NoSandboxReason; readonly detail?: string };
}

/** The sandboxes of a window, one for each conversation. */
export interface Sandboxes {
  /** Probes once for each window, by doing. */
  status(): Promise<SandboxStatus>;
  /** That of a conversation, made on first use; `undefined` where there is none. */
  of(sessionId: string): Promise<Sandbox | undefined>;
  /**
   * A full copy of the folders as they are, in which nothing is that a command has left. It is not isolated. Dispose it after use.
   * @returns `undefined` if there is more to copy than the setting allows
   */
  fresh(): Promise<Sandbox | undefined>;
  dispose(): Promise<void>;
}
