import * as z from 'zod/mini';
import { ToolError } from '../base/errors.ts';
import { splitLines } from '../preview/lines.ts';
import { textResult } from '../preview/pendingAction.ts';
import { readExistingText } from './textFile.ts';
import { defineTool } from './tool.ts';

/** The most lines of one call. */
const MAX_LINES = 2_000;
/** The most characters of one line. */
const MAX_LINE_CHARS = 2_000;

export const readFileTool = defineTool({
  name: 'read_file',
  label: 'Read File',
  description:
    'Read a text file of the workspace. Lines are numbered from 1; the numbers are not part of the file.',
  parameters: z.object({
    path: z.string().check(z.minLength(1), z.describe('Path inside the workspace, e.g. "src/app.ts".')),
    startLine: z.optional(z.int().check(z.minimum(1))),
    endLine: z.optional(z.int().check(z.minimum(1))),
  }),
  readOnly: true,
  async execute({ path: input, startLine = 1, endLine }, { workspace, pendingOn }) {
    const path = await workspace.resolvePath(input);
    const lines = splitLines((await readExistingText(workspace, path)).text);
    if (lines.length === 0) return textResult(`${path} is empty.`);
    if (startLine > lines.length) throw new ToolError(`${path} has only ${lines.length} lines.`);
    if (endLine !== undefined && endLine < startLine) {
      throw new ToolError(`endLine ${endLine} is before startLine ${startLine}.`);
    }
    const last = Math.min(endLine ?? lines.length, lines.length, startLine + MAX_LINES - 1);
    const shown = lines.slice(startLine - 1, last).map((line, i) => `${startLine + i}\t${shorten(line)}`);
    const pending = pendingOn(path);
    const asIf =
      pending === undefined ? '' : ` This is the file as if ${pending} were applied, which is pending.`;
    const rest =
      last < Math.min(endLine ?? lines.length, lines.length) ? ` Ask again from line ${last + 1}.` : '';
    return textResult(
      `${path}, lines ${startLine}-${last} of ${lines.length}.${asIf}${rest}\n${shown.join('\n')}`,
    );
  },
});

function shorten(line: string): string {
  const text = line.replace(/[\r\n]+$/, '');
  return text.length <= MAX_LINE_CHARS
    ? text
    : `${text.slice(0, MAX_LINE_CHARS)} [line cut: ${text.length} characters]`;
}
