import { readFile } from 'node:fs/promises';
import * as path from 'node:path';

/** Leaves out the paths that .gitignore files hide. Paths are relative to `root`, with forward slashes. */
export async function withoutIgnored(root: string, paths: readonly string[]): Promise<string[]> {
  const { default: ignore } = await import('ignore');
  const folders = [...new Set(paths.flatMap(ancestorsOf))];
  const rules = new Map<string, { ignores(path: string): boolean }>();
  await Promise.all(
    folders.map(async folder => {
      const text = await readFile(path.join(root, folder, '.gitignore'), 'utf8').catch(() => undefined);
      if (text !== undefined) rules.set(folder, ignore().add(text));
    }),
  );
  const isIgnored = (file: string): boolean =>
    ancestorsOf(file).some(folder =>
      rules.get(folder)?.ignores(folder === '' ? file : file.slice(folder.length + 1)),
    );
  return paths.filter(file => !isIgnored(file));
}

/** The folders that hold a file, the root (`''`) first. */
function ancestorsOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return ['', ...parts.map((_, i) => parts.slice(0, i + 1).join('/'))];
}
