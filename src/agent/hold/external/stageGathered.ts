import { randomUUID } from 'node:crypto';
import { english, type Localiser, type Sentence } from '../../base/localiser.ts';
import type { FileChange } from '../preview/fileChange.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { AgentName, Preview } from '../preview/preview.ts';
import type { QueuedPreview } from '../preview/previewStoreOptions.ts';
import { inPreviews, type Gathered } from './gathered.ts';

/** The source that a person chose to review, and the command. */
export interface Elsewhere {
  /** How a preview names its source: `branch feature/x`. */
  readonly name: Sentence;
  /** The language of that person. */
  readonly l10n: Localiser;
  readonly command: 'review_branch' | 'review_patch' | 'hold_back';
}

/** Origin that the previews of one command share; they belong to no conversation. */
export interface ElsewhereOrigin {
  /** The command. */
  readonly sourceToolName: string;
  readonly sessionId: string;
  readonly agent: AgentName;
}

const ELSEWHERE = 'elsewhere-';

/** Whether a person brought a preview into review from elsewhere, so that its agent is a source, not a program. */
export function isFromElsewhere(sessionId: string): boolean {
  return sessionId.startsWith(ELSEWHERE);
}

/** A separate origin for each run of a command, so that no two of them build on each other. */
export function originOf({ name, l10n, command }: Elsewhere): ElsewhereOrigin {
  return {
    sessionId: `${ELSEWHERE}${randomUUID()}`,
    agent: { name: name(l10n), version: '' },
    sourceToolName: command,
  };
}

/**
 * Stages external changes: one preview for those that fit, to be decided hunk by hunk, and one for those that need a decision
 * first. Many files become one preview for each top-level folder.
 * @param stage stages an action with `queueResolveHandler`.
 * @returns the staged previews, in the order in which they are to be shown.
 */
export async function stageGathered(
  { changes, conflicts }: Pick<Gathered, 'changes' | 'conflicts'>,
  elsewhere: Elsewhere,
  stage: (action: PendingAction) => QueuedPreview,
): Promise<readonly Preview[]> {
  const origin = originOf(elsewhere);
  const staged: Preview[] = [];
  const stageEach = async (groups: readonly (readonly FileChange[])[], what: Sentence): Promise<void> => {
    for (const group of groups) {
      const title: Sentence = groups.length > 1 ? l10n => ofFolder(group, what(l10n), l10n) : what;
      const { preview, stored } = stage({ ...origin, label: title(english), title, changes: group });
      await stored;
      staged.push(preview);
    }
  };
  await stageEach(inPreviews(changes), l10n => capitalised(elsewhere.name(l10n)));
  await stageEach(inPreviews(conflicts), l10n => l10n.t('Conflicts with {0}', elsewhere.name(l10n)));
  return staged;
}

function ofFolder([first]: readonly FileChange[], what: string, l10n: Localiser): string {
  const path = first?.path ?? '';
  return path.includes('/')
    ? l10n.t('{0}, {1}', what, path.slice(0, path.indexOf('/') + 1))
    : l10n.t('{0}, top level', what);
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
