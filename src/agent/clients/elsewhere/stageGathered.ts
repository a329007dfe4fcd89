import { randomUUID } from 'node:crypto';
import type { FileChange } from '../../preview/fileChange.ts';
import type { PendingAction } from '../../preview/pendingAction.ts';
import type { AgentName, Preview } from '../../preview/preview.ts';
import type { QueuedPreview } from '../../preview/queueResolveHandler.ts';
import { inPreviews, type Gathered } from './gathered.ts';

/** What a person brought into review, and with which command. */
export interface Elsewhere {
  /** Names it everywhere a preview tells who proposed it: `branch feature/x`. */
  readonly name: string;
  readonly command: 'review_branch' | 'review_patch' | 'hold_back';
}

/** Where the previews of one command belong: to no conversation, and together. */
export interface ElsewhereOrigin extends Pick<PendingAction, 'sourceToolName'> {
  readonly sessionId: string;
  readonly agent: AgentName;
}

/** An origin of its own for each run of a command, so that no two of them build on each other. */
export function originOf({ name, command }: Elsewhere): ElsewhereOrigin {
  return {
    sessionId: `elsewhere-${randomUUID()}`,
    agent: { name, version: '' },
    sourceToolName: command,
  };
}

/**
 * Stages what was changed elsewhere: one preview for what fits, so that it can be decided hunk by hunk at once, and one for
 * what needs a decision first. Many files become one preview for each top-level folder.
 * @param stage leads to `queueResolveHandler`.
 * @returns those that were staged, in the order in which they are to be shown.
 */
export async function stageGathered(
  { changes, conflicts }: Pick<Gathered, 'changes' | 'conflicts'>,
  elsewhere: Elsewhere,
  stage: (action: PendingAction) => QueuedPreview,
): Promise<readonly Preview[]> {
  const origin = originOf(elsewhere);
  const staged: Preview[] = [];
  const stageEach = async (groups: readonly (readonly FileChange[])[], what: string): Promise<void> => {
    for (const group of groups) {
      const folder = groups.length > 1 ? folderOf(group) : '';
      const { preview, stored } = stage({ ...origin, label: `${what}${folder}`, changes: group });
      await stored;
      staged.push(preview);
    }
  };
  await stageEach(inPreviews(changes), capitalised(elsewhere.name));
  await stageEach(inPreviews(conflicts), `Conflicts with ${elsewhere.name}`);
  return staged;
}

function folderOf([first]: readonly FileChange[]): string {
  const path = first?.path ?? '';
  return path.includes('/') ? `, ${path.slice(0, path.indexOf('/') + 1)}` : ', top level';
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
