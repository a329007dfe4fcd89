import { lstat, realpath } from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../base/async.ts';
import { isInside } from '../../base/system/realPath.ts';

/**
 * The path in a repository of a file that need not exist, with links on the way to it resolved. `undefined` if it is outside
 * the repository, or in one inside it, such as a submodule.
 */
export async function placeInRepository(root: string, file: string): Promise<string | undefined> {
  const realRoot = await realpath(root);
  const real = path.join(await realFolder(path.dirname(file)), path.basename(file));
  if (!isInside(real, realRoot)) return undefined;
  const relative = path.relative(realRoot, real);
  const names = relative.split(path.sep);
  for (let n = 1; n < names.length; n++)
    if (await succeeds(lstat(path.join(realRoot, ...names.slice(0, n), '.git')))) return undefined;
  return names.join('/');
}

/** The folder with its links resolved, as far as it exists. */
async function realFolder(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => undefined);
  if (real !== undefined) return real;
  const above = path.dirname(folder);
  return above === folder ? folder : path.join(await realFolder(above), path.basename(folder));
}
