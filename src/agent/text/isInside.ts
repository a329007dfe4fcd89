import * as path from 'node:path';

/**
 * Whether an absolute path is a folder itself or inside it, judged by the text alone.
 * @param paths those of the platform; for tests.
 */
export function isInside(file: string, folder: string, paths: path.PlatformPath = path): boolean {
  const relative = paths.relative(folder, file);
  // A name may begin with two dots.
  return relative !== '..' && !relative.startsWith(`..${paths.sep}`) && !paths.isAbsolute(relative);
}
