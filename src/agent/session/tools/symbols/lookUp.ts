import { safeName } from '../../../base/safeName.ts';
import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import { idsIn } from '../../../hold/preview/overlay.ts';
import type { ToolContext } from '../tool.ts';
import {
  MAX_NAME_CHARS,
  type DeclaredSymbol,
  type FoundPlace,
  type LanguageServices,
} from './languageServices.ts';
import { namedFile, OTHER_TOOLS, placeOfName, seeFile, shownLine, type SeenFile } from './seenFile.ts';
import type { ReadableFiles } from '../../../hold/preview/workspace.ts';

/** The most rows of one result. */
const MAX_ROWS = 200;

/** A question about the symbols of a file. */
export interface SymbolQuery {
  readonly action: 'outline' | 'definition' | 'references';
  readonly path: string;
  readonly line?: number | undefined;
  readonly name?: string | undefined;
}

/**
 * The answer for the model, with lines as it reads the files.
 * @throws ToolError if there is no answer, with the reason and something else to try.
 */
export async function lookUp(
  { action, path: input, line, name }: SymbolQuery,
  services: LanguageServices,
  files: ReadableFiles,
  context: ToolContext,
): Promise<string> {
  const file = await namedFile(input, files, context);
  const { path } = file;
  if (action === 'outline') {
    const symbols = await services.outline(path, context.signal);
    if (!symbols?.length)
      throw new ToolError(
        `VS Code has no outline of ${path}: no language service gives one for such files, or it is still starting. ${OTHER_TOOLS}`,
      );
    return outlineText(file, symbols);
  }
  if (name === undefined) throw new ToolError(`Give the name of the symbol, and its line in ${path}.`);
  const at = placeOfName(file, name, line);
  const found =
    action === 'definition'
      ? await services.definitions(path, at, context.signal)
      : await services.references(path, at, context.signal);
  const what = `${action === 'definition' ? 'definition' : 'reference'}`;
  if (found.length === 0)
    throw new ToolError(
      `VS Code knows no ${what} of ${name} at line ${line ?? at.line + 1} of ${path}: it is no symbol, no language service serves such files, or it is still starting. ${OTHER_TOOLS}`,
    );
  return placesText(`${plural(found.length, what)} of ${name}`, found, files, context);
}

/** One row for each symbol, with its lines as the model sees the file. */
function outlineText(file: SeenFile, symbols: readonly DeclaredSymbol[]): string {
  const rows: string[] = [];
  let count = 0;
  const add = (list: readonly DeclaredSymbol[], depth: number): void => {
    for (const { name, kind, line, endLine, children } of list) {
      count++;
      if (rows.length < MAX_ROWS) {
        const start = file.toProposed(line);
        const end = file.toProposed(endLine);
        const first = start === undefined ? `in lines that ${file.changedBy} changes` : `${start + 1}`;
        const last = start === undefined || end === undefined || end <= start ? '' : `-${end + 1}`;
        rows.push(`${'  '.repeat(depth)}${kind} ${safeName(name, MAX_NAME_CHARS)}: ${first}${last}`);
      }
      add(children, depth + 1);
    }
  };
  add(symbols, 0);
  const rest = count > rows.length ? [`[${count - rows.length} more not shown]`] : [];
  const asIs =
    file.changedBy === undefined
      ? ''
      : ` VS Code does not see the pending ${file.changedBy}: what that adds is missing. Line numbers are those of read_file.`;
  return [`${safeName(file.path)}: ${plural(count, 'symbol')}.${asIs}`, ...rows, ...rest].join('\n');
}

/** One row for each place, by file. */
async function placesText(
  head: string,
  found: readonly FoundPlace[],
  files: ReadableFiles,
  context: ToolContext,
): Promise<string> {
  const seen = new Map<string, SeenFile | undefined>();
  const rows: string[] = [];
  for (const { path, isOutside, line } of found.slice(0, MAX_ROWS)) {
    context.signal.throwIfAborted();
    if (isOutside) {
      rows.push(`${safeName(path)}:${line + 1} (outside the workspace)`);
      continue;
    }
    if (!seen.has(path)) seen.set(path, await seeFile(path, files, context).catch(() => undefined));
    const file = seen.get(path);
    const shown = file?.toProposed(line);
    const text = shownLine(file?.current.lines[line] ?? '');
    rows.push(
      file && shown === undefined
        ? `${safeName(path)} (a line that ${file.changedBy} changes): ${text}`
        : `${safeName(path)}:${(shown ?? line) + 1}: ${text}`,
    );
  }
  const rest = found.length > MAX_ROWS ? [`[${found.length - MAX_ROWS} more not shown]`] : [];
  const pending = idsIn(context.pending);
  const asIs =
    pending.length === 0
      ? ''
      : ` VS Code does not see the pending ${pending.join(', ')}: what these add is missing. Line numbers are those of read_file.`;
  return [`${head}.${asIs}`, ...rows, ...rest].join('\n');
}
