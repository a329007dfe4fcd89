import type { Event } from '../../base/event.ts';
import type { Logger } from '../../base/logger.ts';
import type { ResolveHost } from '../../preview/queueResolveHandler.ts';
import type { Workspace } from '../../preview/workspace.ts';

/** The agents in terminals whose own diffs can be reviewed here. */
export const COMPANION_IDS = ['gemini', 'qwen', 'claude'] as const;
export type CompanionId = (typeof COMPANION_IDS)[number];

/** A place in a document, both from 0. */
export interface Place {
  readonly line: number;
  readonly character: number;
}

/** What is selected in the active editor. */
export interface EditorSelection {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  readonly start: Place;
  readonly end: Place;
}

/** A file of the workspace that is open in an editor. */
export interface OpenEditor {
  /** Absolute. */
  readonly file: string;
  readonly isActive: boolean;
  readonly isDirty: boolean;
  readonly languageId: string;
}

/** A problem that the editor shows in a file. */
export interface EditorProblem {
  /** Absolute. */
  readonly file: string;
  readonly message: string;
  readonly severity: 'Error' | 'Warning' | 'Info' | 'Hint';
  readonly source: string;
  readonly start: Place;
  readonly end: Place;
}

/** What agents may know of the editor: only files of the workspace. Each is bounded by who implements it. */
export interface EditorPort {
  readonly isTrusted: boolean;
  /** Fires after something that {@link openEditors} or {@link selection} tells has changed. */
  readonly onDidChange: Event<void>;
  openEditors(): readonly OpenEditor[];
  selection(): EditorSelection | undefined;
  /** @param file all files by default. */
  problems(file?: string): readonly EditorProblem[];
  /** Shows a file of the workspace. @throws ToolError if it cannot be shown. */
  show(file: string): Promise<void>;
}

/** What the companions of terminals' agents work with. */
export interface CompanionHost extends Omit<ResolveHost, 'remind'> {
  readonly workspace: Workspace;
  readonly logger: Logger;
  readonly editor: EditorPort;
  /** The version of Redline. */
  readonly version: string;
  /** The real paths of the open folders. */
  readonly folders: () => readonly string[];
  /** How long an agent may take to write what it was told, in milliseconds; see `WaitingAgent`. */
  readonly patienceMs?: number;
  /** For how long an agent may be without the stream on which it is told answers, in milliseconds: clients connect again. */
  readonly silenceMs?: number;
}

/** A companion that listens. */
export interface RunningCompanion {
  readonly port: number;
  /** What terminals must know, so that an agent in them finds this window. */
  environment(): Readonly<Record<string, string>>;
  /** Leaves word of this window where the agent looks for it, or replaces it because other folders are open. */
  announce(): Promise<void>;
  /** Ends all connections and removes the word. What was not answered expires. Never rejects. */
  close(): Promise<void>;
}
