import { stepsOf } from './fileChange.ts';
import type { ModelAuthority, Preview, ResolveAction } from './preview.ts';

const HUMAN_ONLY = /(^|\/)(\.redline|\.vscode|\.git[^/]*)(\/|$)|\.code-workspace$|(^|\/)AGENTS\.md$/i;

/** Whether what stands at a path would run code or widen what the agent may do, on any file system. */
export function isHumanOnlyPath(path: string): boolean {
  // Windows drops dots and blanks at the end of a name, and what follows a colon is a stream of the same file.
  return HUMAN_ONLY.test(path.replaceAll(/(?:[. ]+|:[^/]*)(?=\/|$)/g, ''));
}

/** The source of the plans of plan mode. */
export const PLAN_SOURCE = 'plan_approval';

/** Sources whose apply runs something or lets it run: `run_command` is what tools call themselves that run commands. */
const HUMAN_ONLY_SOURCES: readonly string[] = ['run_command', PLAN_SOURCE];

/** Whether only a human may apply the preview, in every mode. */
export function alwaysHuman(preview: Preview): boolean {
  if (HUMAN_ONLY_SOURCES.includes(preview.sourceToolName)) return true;
  return (preview.changes ?? []).flatMap(stepsOf).some(step => isHumanOnlyPath(step.path));
}

/** What becomes of the model's own `resolve`: it is executed, or recorded as a recommendation. */
export function modelMay(
  authority: ModelAuthority,
  action: ResolveAction,
  preview: Preview,
): 'execute' | 'recommend' {
  if (preview.sourceToolName === PLAN_SOURCE) return action === 'discard' ? 'execute' : 'recommend';
  if (preview.editedByUser) return 'recommend';
  switch (authority) {
    case 'none':
      return 'recommend';
    case 'recommend':
      return action === 'apply' ? 'recommend' : 'execute';
    case 'apply':
      return action === 'apply' && alwaysHuman(preview) ? 'recommend' : 'execute';
  }
}
