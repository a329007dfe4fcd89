import { stepsOf } from './fileChange.ts';
import type { ModelAuthority, Preview, ResolveAction } from './preview.ts';

/** Paths whose content would run code or widen what the agent may do. */
const HUMAN_ONLY = /(^|\/)(\.redline|\.vscode|\.git[^/]*)(\/|$)|\.code-workspace$|(^|\/)AGENTS\.md$/i;

/** Whether only a human may apply the preview, in every mode. */
export function alwaysHuman(preview: Preview): boolean {
  if (preview.sourceToolName === 'run_command') return true;
  return (preview.changes ?? []).flatMap(stepsOf).some(step => HUMAN_ONLY.test(step.path));
}

/** What becomes of the model's own `resolve`: it is executed, or recorded as a recommendation. */
export function modelMay(
  authority: ModelAuthority,
  action: ResolveAction,
  preview: Preview,
): 'execute' | 'recommend' {
  switch (authority) {
    case 'none':
      return 'recommend';
    case 'recommend':
      return action === 'apply' ? 'recommend' : 'execute';
    case 'apply':
      return action === 'apply' && alwaysHuman(preview) ? 'recommend' : 'execute';
  }
}
