import type { FileChange } from '../fileChange.ts';
import { importsOf, ImportTargets } from './imports.ts';

/** The most files that are searched for. */
const MAX_FILES = 20;

/** A file is deleted or moved away, and others import it. */
export interface StillImported {
  readonly kind: 'imported';
  readonly path: string;
  readonly by: readonly string[];
}

/** Finds the lines with a word in the workspace as it will be once all that is pending is applied. */
export type FindLines = (
  word: string,
) => Promise<readonly { readonly path: string; readonly text: string }[]>;

/** Deleted or moved files that others still import. It is read from single lines, as far as these name a module. */
export async function stillImported(
  changes: readonly FileChange[],
  find: FindLines,
): Promise<readonly StillImported[]> {
  const gone = changes.flatMap(change =>
    change.kind === 'delete' ? [change.path] : change.kind === 'rename' ? [change.from] : [],
  );
  const found: StillImported[] = [];
  for (const path of gone.slice(0, MAX_FILES)) {
    const targets = new ImportTargets([path]);
    const imports = (from: string, text: string): boolean =>
      importsOf(from, asStatement(text)).some(each => targets.of(from, each).length > 0);
    const lines = await find(wordOf(path));
    const by = new Set(lines.filter(line => imports(line.path, line.text)).map(line => line.path));
    by.delete(path);
    if (by.size > 0) found.push({ kind: 'imported', path, by: [...by] });
  }
  return found;
}

/** The word that imports of a file contain: its name, or its folder's if the file stands for the folder. */
function wordOf(path: string): string {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const bare = name.replace(/(?<=.)\.[^.]*$/, '').replace(/\.d$/, '');
  const isFolder = /^(?:index|__init__|mod|lib)$/.test(bare) || name.endsWith('.go');
  return isFolder ? (parts.at(-2) ?? bare) : bare.replace(/^_(?=.)/, '');
}

/** The last line of an import over several lines, as one of its own. */
function asStatement(line: string): string {
  return line.replace(/^[^'"`]*\}\s*from\b/, 'import {} from');
}
