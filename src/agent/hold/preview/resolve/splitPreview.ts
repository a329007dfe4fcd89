import { ToolError } from '../../../base/errors.ts';
import { applyHunks, type Hunk } from '../../text/hunks.ts';
import { splitLines } from '../../text/lines.ts';
import type { TextEdit } from '../../text/textEdit.ts';
import { changeOf, hunksOfChange, isText, sideOfText, type FileChange } from '../fileChange.ts';
import type { Preview, ResolveAction } from '../preview.ts';

/** A part of a preview: one file, or one hunk of it (0-based, in the order of the file). */
export interface PreviewPart {
  readonly path: string;
  readonly hunk?: number;
}

/** The two halves of a split preview. */
export interface SplitPreview {
  readonly part: readonly FileChange[];
  readonly rest: readonly FileChange[];
  /** Whether the rest builds on the part, so that it can only be applied after it. */
  readonly restBuildsOnPart: boolean;
}

/**
 * Splits a part off a preview, so that it can be resolved like any other. The rest depends on the decision about the part: it
 * builds on an applied part, and leaves out a discarded one.
 * @returns `undefined` if the part is the whole preview.
 * @throws ToolError if there is no such part.
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
  const { before, after, path, edits } = change;
  const hunks = await hunksOfChange(change);
  if (part.hunk < 0 || part.hunk >= Math.max(1, hunks.length)) {
    throw new ToolError(
      `${path} has ${hunks.length} hunks in ${preview.id}; there is no hunk ${part.hunk + 1}.`,
    );
  }
  if (hunks.length <= 1 || !isText(before) || !isText(after))
    return splitPreview(preview, { path: part.path }, action);
  const isPart = (index: number): boolean => index === part.hunk;
  const withPart = sideOfText(applyHunks(before.text, hunks, isPart), before.encoding);
  const withoutPart = sideOfText(
    applyHunks(before.text, hunks, index => !isPart(index)),
    after.encoding,
  );
  const applies = action === 'apply';
  const left = applies ? changeOf(path, withPart, after) : changeOf(path, before, withoutPart);
  const divided = edits && splitEdits(edits, before.text, hunks[part.hunk]);
  const edited = left && withEdits(left, applies ? divided?.onPart : divided?.withoutPart);
  // The part leaves the permission bits to the half that is applied last.
  const rest = edited && change.mode !== undefined ? { ...edited, mode: change.mode } : edited;
  return {
    part: [withEdits({ kind: 'modify', path, before, after: withPart }, divided?.part)],
    rest: rest ? changes.map(candidate => (candidate === change ? rest : candidate)) : others,
    restBuildsOnPart: applies,
  };
}

/**
 * Divides edits: those in the hunk (`part`), and the others for a text with the hunk applied (`onPart`) and without it
 * (`withoutPart`). An edit shared by two hunks goes with one of them and then no longer matches the texts, which are
 * compared instead.
 */
function splitEdits(
  edits: readonly TextEdit[],
  before: string,
  hunk: Hunk | undefined,
): { part: readonly TextEdit[]; onPart: readonly TextEdit[]; withoutPart: readonly TextEdit[] } | undefined {
  if (!hunk) return undefined;
  const start = splitLines(before).slice(0, hunk.beforeStart).join('').length;
  const end = start + hunk.before.join('').length;
  const moved = hunk.after.join('').length - (end - start);
  const isBefore = (edit: TextEdit): boolean =>
    edit.end < start || (edit.start < start && edit.end === start);
  const isAfter = (edit: TextEdit): boolean => edit.start > end || (edit.start === end && end > start);
  const withoutPart = edits.filter(edit => isBefore(edit) || isAfter(edit));
  return {
    part: edits.filter(edit => !isBefore(edit) && !isAfter(edit)),
    onPart: withoutPart.map(edit =>
      isAfter(edit) ? { ...edit, start: edit.start + moved, end: edit.end + moved } : edit,
    ),
    withoutPart,
  };
}

function withEdits(change: FileChange, edits: readonly TextEdit[] | undefined): FileChange {
  return change.kind === 'modify' && edits ? { ...change, edits } : change;
}
