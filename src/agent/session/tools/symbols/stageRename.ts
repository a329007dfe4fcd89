import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import type { TextSide } from '../../../hold/preview/fileChange.ts';
import { counted } from '../../../hold/preview/label.ts';
import { idsIn } from '../../../hold/preview/overlay.ts';
import { assertApplicable, sideToStore } from '../../../hold/preview/textFile.ts';
import { applyTextEdits, type TextEdit } from '../../../hold/text/textEdit.ts';
import { CUT_REPORT, editedFiles } from '../ast/report.ts';
import { titled } from '../titles.ts';
import type { ToolContext } from '../tool.ts';
import type { LanguageServices, RangeEdit, RenameAnswer } from './languageServices.ts';
import { namedFile, placeOfName, seeFile, type SeenFile } from './seenFile.ts';
import type { ReadableFiles } from '../../../hold/preview/workspace.ts';

/** The most files of one rename. */
const MAX_FILES = 2_000;

/** A symbol to be renamed, and its new name. */
export interface RenameQuery {
  readonly path: string;
  readonly line?: number | undefined;
  readonly name: string;
  readonly newName: string;
  readonly title?: string | undefined;
}

/**
 * Stages the changes of a language service.
 * @returns the report by which the model checks them.
 * @throws ToolError if nothing is staged, with the reason.
 */
export async function stageRename(
  { path: input, line, name, newName, title }: RenameQuery,
  services: LanguageServices,
  files: ReadableFiles,
  context: ToolContext,
): Promise<string> {
  const file = await namedFile(input, files, context);
  const { path } = file;
  const at = placeOfName(file, name, line);
  const answer = await services.rename(path, at, newName, context.signal);
  const given = editsOf(answer, name, path);
  const changes: Renamed[] = [];
  for (const { path: changed, edits } of given) {
    context.signal.throwIfAborted();
    const each = changed === path ? file : await seeFile(changed, files, context);
    if (!each)
      throw new ToolError(`${changed} has just been removed. Nothing was staged. Call rename_symbol again.`);
    const renamed = await renamedIn(each, edits, name);
    if (renamed) changes.push(renamed);
  }
  if (changes.length === 0) return `${name} is called ${newName} already. Nothing was staged.`;
  await assertApplicable(context.workspace, changes);
  const unseen = idsIn(context.pending);
  const preview = context.stage({
    ...counted(`Rename ${name} to ${newName} in `, { noun: 'file', count: changes.length }),
    ...titled(title, `${name} → ${newName}`),
    sourceToolName: 'rename_symbol',
    changes,
  });
  const report = reportOf(`${name} becomes ${newName}`, changes, unseen);
  if (!CUT_REPORT.test(report)) context.noteShown?.(preview, { from: 0, text: report, end: Infinity });
  return report;
}

/** A change of one file. */
interface Renamed {
  readonly kind: 'modify';
  readonly path: string;
  readonly before: TextSide;
  readonly after: TextSide;
  readonly edits: readonly TextEdit[];
}

/** @throws ToolError if there is nothing that can be staged. */
function editsOf(
  answer: RenameAnswer,
  name: string,
  path: string,
): Extract<RenameAnswer, { kind: 'edits' }>['files'] {
  switch (answer.kind) {
    case 'none':
      throw new ToolError(
        `VS Code cannot rename ${name} in ${path}: no language service renames in such files, or it is still starting. Nothing was staged. Use ast_edit or edit_file.`,
      );
    case 'refused':
      throw new ToolError(
        `The language service refuses to rename ${name}: ${answer.message} Nothing was staged.`,
      );
    case 'unsupported':
      throw new ToolError(
        `To rename ${name}, the language service would also ${answer.what}, which cannot be staged from here. Nothing was staged. Use ast_edit, edit_file and rename_file.`,
      );
    case 'edits':
      if (answer.files.length > MAX_FILES)
        throw new ToolError(
          `${name} is used in ${answer.files.length} files, more than the limit of ${MAX_FILES}. Nothing was staged. Use ast_edit.`,
        );
      return answer.files;
  }
}

/**
 * The change of one file, on the text as the conversation sees it: every line that an edit touches must be the same there.
 * @throws ToolError if it is not, or if the edits are not those of this text.
 */
async function renamedIn(
  file: SeenFile,
  edits: readonly RangeEdit[],
  name: string,
): Promise<Renamed | undefined> {
  const { path, current, proposed, changedBy } = file;
  const clash = new ToolError(
    `The rename changes lines of ${path} that the pending preview ${changedBy} changes, too. Nothing was staged. Wait until it is decided, or use ast_edit.`,
  );
  if (!proposed) throw clash;
  const starts = offsetsOf(proposed.lines);
  const made = edits.map(({ start, end, text }): TextEdit => {
    const before = between(current.lines, start, end);
    const isOfName = before === '' || before?.includes(name) === true || (before && name.includes(before));
    if (before === undefined || !isOfName)
      throw new ToolError(
        `${path} has changed since VS Code read it. Nothing was staged. Call rename_symbol again.`,
      );
    for (let line = start.line; line <= end.line; line++) {
      const expected = (file.toProposed(start.line) ?? NaN) + line - start.line;
      // The end of the file is not a line.
      if (line < current.lines.length && file.toProposed(line) !== expected) throw clash;
    }
    const offset = (at: number, character: number): number =>
      (starts[file.toProposed(at) ?? 0] ?? proposed.side.text.length) + character;
    return { start: offset(start.line, start.character), end: offset(end.line, end.character), text };
  });
  const sorted = made.sort((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.some((edit, n) => n > 0 && edit.start < (sorted[n - 1]?.end ?? 0)))
    throw new ToolError(`The language service gave edits of ${path} that overlap. Nothing was staged.`);
  const before = proposed.side;
  const after = sideToStore(path, applyTextEdits(before.text, sorted), before.encoding);
  return after.hash === before.hash ? undefined : { kind: 'modify', path, before, after, edits: sorted };
}

function offsetsOf(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map(line => {
    const start = at;
    at += line.length;
    return start;
  });
}

/** The text of a range; `undefined` if the text does not have it. */
function between(
  lines: readonly string[],
  start: RangeEdit['start'],
  end: RangeEdit['end'],
): string | undefined {
  const isIn = ({ line, character }: RangeEdit['start']): boolean =>
    line >= 0 && line <= lines.length && character >= 0 && character <= (lines[line]?.length ?? 0);
  const isOrdered = start.line < end.line || (start.line === end.line && start.character <= end.character);
  if (!isIn(start) || !isIn(end) || !isOrdered) return undefined;
  if (start.line === end.line) return (lines[start.line] ?? '').slice(start.character, end.character);
  const middle = lines.slice(start.line + 1, end.line).join('');
  return (
    (lines[start.line] ?? '').slice(start.character) +
    middle +
    (lines[end.line] ?? '').slice(0, end.character)
  );
}

/** @param unseen ids of the previews that were pending. */
function reportOf(head: string, changes: readonly Renamed[], unseen: readonly string[]): string {
  const edits = changes.reduce((sum, change) => sum + change.edits.length, 0);
  const asIs =
    unseen.length === 0
      ? ''
      : ` VS Code did not see the pending ${unseen.join(', ')}: what these add may still have the old name.`;
  const rows = editedFiles(
    changes.map(({ path, before, edits: own }) => ({ path, before: before.text, edits: own })),
  );
  return [`${head}: ${plural(edits, 'edit')} in ${plural(changes.length, 'file')}.${asIs}`, ...rows].join(
    '\n',
  );
}
