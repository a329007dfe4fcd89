/** Sharp, which joins and writes pictures. Who takes no pictures needs none of its 20 MB: it is installed when they are. */
import * as path from 'node:path';
import { createRequire } from 'node:module';
import { installPackage } from '../lib/installPackage.mjs';
import { downloads } from '../lib/paths.mjs';

const PACKAGE = 'sharp@0.35.5';

/** The function that the package exports. */
export async function loadSharp() {
  const folder = path.join(downloads, 'pictures', PACKAGE);
  await installPackage(PACKAGE, folder);
  return createRequire(path.join(folder, 'package.json'))('sharp');
}
