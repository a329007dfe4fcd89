import * as path from 'node:path';
import { realPathSync } from '../../../base/system/realPath.ts';
import { foldName } from '../../../preview/resolve/protectedPlaces.ts';
import { isInside } from '../../../text/isInside.ts';

/**
 * Whether something is there, with links followed, that is inside the folder and not one of git's own files.
 * @param folder absolute
 * @param relative to the folder
 */
export function leadsInside(folder: string, relative: string): boolean {
  try {
    const root = realPathSync(folder);
    const real = realPathSync(path.join(folder, relative));
    const names = path.relative(root, real).split(path.sep);
    return isInside(real, root) && !names.some(name => foldName(name) === '.git');
  } catch {
    return false;
  }
}
