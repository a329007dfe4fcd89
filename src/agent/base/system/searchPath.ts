import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../async.ts';

/**
 * The path of the program that a shell would find by this name.
 * @param searchPath the PATH; relative folders in it are left out
 * @returns an absolute path; `undefined` if it is in none of the folders
 */
export async function programOnPath(
  name: string,
  searchPath: string = process.env['PATH'] ?? '',
): Promise<string | undefined> {
  const endings = process.platform === 'win32' ? (process.env['PATHEXT'] ?? '').split(';') : [];
  for (const folder of searchPath.split(path.delimiter).filter(each => path.isAbsolute(each)))
    for (const ending of ['', ...endings]) {
      const at = path.join(folder, name + ending);
      const isFile = async (): Promise<boolean> => (await fs.stat(at)).isFile();
      if ((await succeeds(fs.access(at, fs.constants.X_OK))) && (await isFile())) return at;
    }
  return undefined;
}
