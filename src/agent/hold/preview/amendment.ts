import { safeName } from '../../base/safeName.ts';
import { ToolError } from '../../base/errors.ts';
import { isText, proposing, type FileChange, type TextSide } from './fileChange.ts';
import { stepsOf } from './fileSteps.ts';
import { listed } from '../../base/phrases.ts';
import { nameOf, pathsOf, type Preview } from './preview.ts';

/**
 * The text that a preview proposes for a file.
 * @throws ToolError if it proposes none, or renames that file in a later change.
 */
export function proposedText(preview: Preview, path: string): TextSide {
  const changes = preview.changes ?? [];
  const at = changes.findLastIndex(change => change.path === path);
  const after = changes[at]?.after;
  const isLast = !changes.slice(at + 1).some(change => stepsOf(change).some(step => step.path === path));
  if (after && isText(after) && isLast) return after;
  throw new ToolError(
    `${nameOf(preview)} proposes no text for ${safeName(path)}, but changes ${listed(pathsOf(preview))}. Leave out amend to stage your change as a preview of its own.`,
  );
}

/**
 * The changes of a preview with another text for one file; a file that would not change is left out.
 * @throws ToolError if nothing would be left.
 */
export async function amendedChanges(
  preview: Preview,
  path: string,
  after: TextSide,
): Promise<readonly FileChange[]> {
  const old = preview.changes ?? [];
  const at = old.findLastIndex(change => change.path === path);
  const change = old[at];
  const changes = change ? old.toSpliced(at, 1, ...(await amended(change, after))) : old;
  if (changes.length > 0) return changes;
  throw new ToolError(
    `With this, ${nameOf(preview)} would change nothing. Nothing was changed. If the change is no longer needed, the preview should be discarded.`,
  );
}

async function amended(change: FileChange, after: TextSide): Promise<readonly FileChange[]> {
  switch (change.kind) {
    case 'delete':
      return [change];
    case 'modify':
      if (change.before.hash === after.hash && change.mode === undefined) return [];
      return [await proposing(change, after)];
    default:
      return [{ ...change, after }];
  }
}
