import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import type { Ignore } from 'ignore';

/**
 * Leaves out the paths that .gitignore files hide, as git does it: a file below has the last word, but nothing within
 * an ignored folder comes back. Paths are relative to `root`, with forward slashes.
 */
export async function withoutIgnored(root: string, paths: readonly string[]): Promise<string[]> {
  const { default: ignore } = await import('ignore');
  const folders = [...new Set(paths.flatMap(ancestorsOf))];
  const rules = new Map<string, Ignore>();
  await Promise.all(
    folders.map(async folder => {
      const text = await readFile(path.join(root, folder, '.gitignore'), 'utf8').catch(() => undefined);
      if (text !== undefined) rules.set(folder, ignore().add(text));
    }),
  );
  const isHidden = (file: string, suffix: '' | '/'): boolean =>
    ancestorsOf(file).reduce((hidden, folder) => {
      const verdict = rules
        .get(folder)
        ?.test((folder === '' ? file : file.slice(folder.length + 1)) + suffix);
      return verdict?.ignored || (hidden && !verdict?.unignored);
    }, false);
  const hiddenFolders = new Set(folders.filter(folder => folder !== '' && isHidden(folder, '/')));
  return paths.filter(
    file => !isHidden(file, '') && !ancestorsOf(file).some(folder => hiddenFolders.has(folder)),
  );
}

/** The folders that hold a file, the root (`''`) first. */
function ancestorsOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return ['', ...parts.map((_, i) => parts.slice(0, i + 1).join('/'))];
}
