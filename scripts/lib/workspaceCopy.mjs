/** Writable copies of the projects that windows open, each in a temporary folder, which is deleted when this process ends. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { temporaryFolder } from './cleanup.mjs';
import { inRepo } from './paths.mjs';

/** Copies the example workspace. Returns the copy's real path. */
export const copyExampleWorkspace = () => copied(inRepo('examples', 'workspace'), 'workspace');

/** Copies the project of the tour. Returns the copy's real path. */
export const copyTour = () => copied(inRepo('media', 'tour'), 'shop');

function copied(project, name) {
  const folder = path.join(temporaryFolder('redline-'), name);
  fs.cpSync(project, folder, { recursive: true });
  return folder;
}
