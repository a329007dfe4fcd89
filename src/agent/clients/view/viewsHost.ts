import type { AgentName } from '../../hold/preview/preview.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import type { Freezing } from '../../sandbox/agentView/frozenFolder.ts';
import type { Progress } from '../../sandbox/view/copyEngine.ts';
import type { NoOverlay } from '../../sandbox/view/probe.ts';
import type { MountFor } from '../../sandbox/view/sandboxes.ts';
import type { NotTaken, ViewHost } from './liveView.ts';

/** Ports of `AgentViews` to its window. */
export interface AgentViewsHost extends ViewHost {
  /** Whether the previews of this window are stored. */
  readonly keepsPreviews: boolean;
  readonly folders: () => readonly FolderRoot[];
  /** Holds the views, one folder each. It is outside all folders of the workspace. */
  readonly storage: string;
  readonly limits: () => Freezing;
  /** Absolute paths in the home folder that agents may read besides their own settings and tools. */
  readonly readable: () => readonly string[];
  readonly mount: () => Promise<MountFor>;
  /** Shows that a copy of the workspace is being made, and lets the person cancel it. */
  readonly progress: Progress;
  /** Why no view can be made, as a sentence. */
  readonly sentenceOf: (why: NoOverlay) => string;
  /** Shows the person that something is not in the previews. */
  readonly onNotTaken: (agent: AgentName, what: NotTaken) => void;
}
