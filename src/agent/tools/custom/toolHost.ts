import type { Logger } from '../../base/log.ts';
import type { PendingAction } from '../../preview/pendingAction.ts';
import type { Preview } from '../../preview/preview.ts';
import type { CustomToolUi } from './redline.d.ts';

/** The session as custom tools know it. */
export interface ToolSession {
  readonly id: string;
  /** Stages a preview that is no call's. */
  stage(action: PendingAction): Preview;
}

/** What custom tools may reach. */
export interface ToolHost {
  readonly ui: CustomToolUi;
  readonly hasUI: boolean;
  readonly logger: Logger;
  /** The session that goes on; `undefined` in a runtime that has none. */
  session(): ToolSession | undefined;
  /**
   * The workspace path that a tool means.
   * @throws PathError when it leads outside of the workspace.
   */
  resolvePath(input: string): string;
}
