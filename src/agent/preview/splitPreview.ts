import { ToolError } from '../base/errors.ts';
import { changeOf, sideOfText, type FileChange } from './fileChange.ts';
import { applyHunks, hunksOf } from './hunks.ts';
import type { Preview, ResolveAction } from './preview.ts';

/** A part of a preview: one file, or one hunk of it (0-based, in the order of the file). */
export interface PreviewPart {
  readonly path: string;
  readonly hunk?: number;
}

/** A preview taken apart. */
export interface SplitPreview {
  readonly part: readonly FileChange[];
  readonly rest: readonly FileChange[];
  /** Whether the rest builds on the part, i.e. can only be applied after it. */
  readonly restBuildsOnPart: boolean;
}

/**
 * Takes a part out of a preview, so that it can be resolved like any other. The rest depends on what becomes of the part:
 * it builds on a part that is applied, and leaves out one that is discarded. `undefined` when the part is all there is.
 * @throws ToolError when there is no such part.
 */
export async function splitPreview(
  preview: Preview,
  part: PreviewPart,
  action: ResolveAction,
): Promise<SplitPreview | undefined> {
  const changes = preview.changes ?? [];
  const change = changes.find(candidate => candidate.path === part.path);
  if (!change) throw new ToolError(`${preview.id} does not change ${part.path}.`);
  const others = changes.filter(candidate => candidate !== change);
  if (part.hunk === undefined) {
    return others.length === 0 ? undefined : { part: [change], rest: others, restBuildsOnPart: false };
  }
  if (change.kind !== 'modify') {
    if (part.hunk !== 0) throw new ToolError(`${part.path} has only one hunk in ${preview.id}.`);
    return splitPreview(preview, { path: part.path }, action);
  }
  const { before, after, path } = change;
  const hunks = await hunksOf(before.text, after.text);
  if (part.hunk < 0 || part.hunk >= Math.max(1, hunks.length)) {
    throw new ToolError(
      `${path} has ${hunks.length} hunks in ${preview.id}; there is no hunk ${part.hunk + 1}.`,
    );
  }
  if (hunks.length <= 1) return splitPreview(preview, { path: part.path }, action);
  const isPart = (index: number): boolean => index === part.hunk;
  const withPart = sideOfText(applyHunks(before.text, hunks, isPart), before.encoding);
  const withoutPart = sideOfText(
    applyHunks(before.text, hunks, index => !isPart(index)),
    after.encoding,
  );
  const applies = action === 'apply';
  const rest = applies ? changeOf(path, withPart, after) : changeOf(path, before, withoutPart);
  return {
    part: [{ ...change, after: withPart }],
    rest: rest ? changes.map(candidate => (candidate === change ? rest : candidate)) : others,
    restBuildsOnPart: applies,
  };
}
