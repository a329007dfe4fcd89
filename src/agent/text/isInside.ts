import * as path from 'node:path';

/** Whether an absolute path is a folder itself or inside it, judged by the text alone. */
export function isInside(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  // A name may begin with two dots.
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
