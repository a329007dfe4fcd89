import type * as vscode from 'vscode';
import type { LadderMemory, LadderStep } from '../../agent/model/toolChoiceLadder.ts';

const LADDER_KEY = 'redline.toolChoice';

/** What was learned of each server's ways, kept for all workspaces. */
export function ladderMemory(state: vscode.Memento): LadderMemory {
  const read = (): Record<string, LadderStep> => state.get<Record<string, LadderStep>>(LADDER_KEY, {});
  return {
    get: id => (Object.hasOwn(read(), id) ? read()[id] : undefined),
    set: (id, step) => void state.update(LADDER_KEY, { ...read(), [id]: step }),
  };
}
