import { shortened } from '../../../base/cutText.ts';
import { quoted } from '../../../base/safeName.ts';
import { ToolError } from '../../../base/errors.ts';
import type { TextSide } from '../../../hold/preview/fileChange.ts';
import { asIfApplied, readText } from '../../../hold/preview/textFile.ts';
import type { ReadableFiles } from '../../../hold/preview/workspace.ts';
import { onOtherSide } from '../../../hold/text/hunks.ts';
import { diffLines } from '../../../hold/text/lineDiff.ts';
import { splitLinesInTurns, withoutLineEnding } from '../../../hold/text/lines.ts';
import type { ToolContext } from '../tool.ts';
import type { Position } from './languageServices.ts';

/** A file in its two forms: language services see it as it is, the model as if its previews were applied. */
export interface SeenFile {
  readonly path: string;
  /** The id of the pending preview that changes it last. */
  readonly changedBy?: string | undefined;
  readonly current: { readonly side: TextSide; readonly lines: readonly string[] };
  /** `null`: a pending preview deletes or moves the file. */
  readonly proposed: { readonly side: TextSide; readonly lines: readonly string[] } | null;
  /** The line of the proposed text for this line of the current text; `undefined` if previews change it. From 0. */
  toProposed(line: number): number | undefined;
  /** The line of the current text for this line of the proposed text. */
  toCurrent(line: number): number | undefined;
}

/**
 * Reads a file in both forms.
 * @returns `undefined` if there is no such file now.
 * @throws ToolError if it is not text.
 */
export async function seeFile(
  path: string,
  files: ReadableFiles,
  context: ToolContext,
): Promise<SeenFile | undefined> {
  const side = await readText(files, path);
  if (!side) return undefined;
  const current = { side, lines: await splitLinesInTurns(side.text) };
  const changedBy = context.pending.at(path)?.previewId;
  const same = (line: number): number => line;
  if (changedBy === undefined) return { path, current, proposed: current, toProposed: same, toCurrent: same };
  const after = await readText(context.workspace, path);
  if (!after) {
    const none = (): undefined => undefined;
    return { path, changedBy, current, proposed: null, toProposed: none, toCurrent: none };
  }
  const proposed = { side: after, lines: await splitLinesInTurns(after.text) };
  const { runs } = await diffLines(current.lines, proposed.lines);
  return {
    path,
    changedBy,
    current,
    proposed,
    toProposed: line => onOtherSide(runs, line, 'before').line,
    toCurrent: line => onOtherSide(runs, line, 'after').line,
  };
}

/**
 * The position of a name in the file as it is.
 * @param line as the model sees the file, from 1; without it, the first place in the file.
 * @throws ToolError if it is not there, or only in lines that previews change.
 */
export function placeOfName(file: SeenFile, name: string, line: number | undefined): Position {
  const { path, changedBy, current, proposed } = file;
  if (!proposed)
    throw new ToolError(
      `There is no file ${path} with the pending preview ${changedBy} applied. Look for ${name} in another file.`,
    );
  if (line === undefined) {
    for (const [at, text] of current.lines.entries()) {
      const character = wordIn(text, name);
      if (character >= 0) return { line: at, character };
    }
    throw new ToolError(`${name} does not occur in ${path}${asTheyAre(changedBy)}. ${OTHER_TOOLS}`);
  }
  const text = proposed.lines[line - 1];
  if (text === undefined)
    throw new ToolError(`${path} has no line ${line}. Read the file, and name a line with ${name}.`);
  const character = wordIn(text, name);
  if (character < 0)
    throw new ToolError(
      `${name} is not in line ${line} of ${path}, which is ${quoted(shownLine(text))}. Name a line with ${name}.`,
    );
  const at = file.toCurrent(line - 1);
  if (at === undefined)
    throw new ToolError(
      `Line ${line} of ${path} is changed by the pending preview ${changedBy}, which language services do not see. Name a line that is not, or use search_text or ast_grep.`,
    );
  return { line: at, character };
}

/** Advice on other tools that find code. */
export const OTHER_TOOLS = 'Use search_text or ast_grep.';

function asTheyAre(changedBy: string | undefined): string {
  return changedBy === undefined
    ? ''
    : ` without the pending preview ${changedBy}, which language services do not see`;
}

/** The offset of a name as a whole word; -1 if there is none. */
function wordIn(text: string, name: string): number {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
    const [after = ''] = text.slice(at + name.length, at + name.length + 2);
    const isWhole =
      !(isWordPart(before) && isWordPart(name)) && !(isWordPart(after) && isWordPart(name.slice(-1)));
    if (isWhole) return at;
  }
  return -1;
}

function isWordPart(text: string): boolean {
  return /^[\p{L}\p{N}_]/u.test(text);
}

/** The most characters that are shown of a line. */
const MAX_LINE_CHARS = 200;

/** A line without its ending and its indentation. */
export function shownLine(line: string): string {
  return shortened(withoutLineEnding(line).trim(), MAX_LINE_CHARS);
}

/**
 * The file that the model names.
 * @throws ToolError if it is not there, only in a preview, or not text.
 */
export async function namedFile(
  input: string,
  files: ReadableFiles,
  context: ToolContext,
): Promise<SeenFile> {
  const path = await context.workspace.resolvePath(input);
  const file = await seeFile(path, files, context);
  if (!file) throw missing(path, context);
  return file;
}

function missing(path: string, context: ToolContext): ToolError {
  return new ToolError(
    context.pending.at(path)
      ? `${path} is only there${asIfApplied(context.pending, path)}, and language services see no pending previews. ${OTHER_TOOLS}`
      : `There is no file ${path}. Use list_files to find the right path.`,
  );
}
