import * as z from 'zod/mini';
import { beginningOf } from '../../../base/cutText.ts';
import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { splitLinesInTurns } from '../../../hold/text/lines.ts';
import { fittingRows } from '../resultRows.ts';
import { defineTool } from '../tool.ts';
import { asIfApplied, readExistingText } from '../../../hold/preview/textFile.ts';

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
/** The most lines in one result. */
const MAX_LINES = 2_000;
/** The most characters that are shown of a line. */
const MAX_LINE_CHARS = 2_000;

export const readFileTool = defineTool({
  name: 'read_file',
  label: 'Read File',
  description:
    'Read a text file or an image of the workspace. Lines are numbered from 1; the numbers are not part of the file.',
  parameters: z.object({
    path: z.string().check(z.minLength(1), z.describe('Path inside the workspace, e.g. "src/app.ts".')),
    startLine: z.optional(z.int().check(z.minimum(1))),
    endLine: z.optional(z.int().check(z.minimum(1))),
  }),
  readOnly: true,
  async execute({ path: input, startLine = 1, endLine }, context) {
    const { workspace, pending } = context;
    const path = await workspace.resolvePath(input);
    if (IMAGE.test(path)) {
      const { readImage } = await import('./readImage.ts');
      const shown = await readImage(path, context);
      if (shown) return shown;
    }
    const lines = await splitLinesInTurns((await readExistingText(workspace, path, pending)).text);
    if (lines.length === 0) return textResult(`${path} is empty.`);
    if (startLine > lines.length)
      throw new ToolError(`${path} has only ${plural(lines.length, 'line')}. Choose a smaller startLine.`);
    if (endLine !== undefined && endLine < startLine) {
      throw new ToolError(
        `endLine ${endLine} is before startLine ${startLine}. Swap them or leave out endLine.`,
      );
    }
    const end = Math.min(endLine ?? lines.length, lines.length);
    const shown = fittingRows(
      lines
        .slice(startLine - 1, Math.min(end, startLine + MAX_LINES - 1))
        .map((line, i) => `${startLine + i}\t${shorten(line)}`),
    );
    const last = startLine + shown.length - 1;
    const changed = asIfApplied(pending, path);
    const asIf = changed === '' ? '' : ` This is the file as it would be${changed}.`;
    const rest = last < end ? ` To read on, use startLine ${last + 1}.` : '';
    return textResult(
      `${path}, lines ${startLine}-${last} of ${lines.length}.${asIf}${rest}\n${shown.join('\n')}`,
    );
  },
});

function shorten(line: string): string {
  const text = line.replace(/(?<![\r\n])[\r\n]+$/, '');
  return text.length <= MAX_LINE_CHARS
    ? text
    : `${beginningOf(text, MAX_LINE_CHARS)} [line cut: ${text.length} characters]`;
}
