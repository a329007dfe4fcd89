/** Writable copies of the example workspace, which itself is never opened. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { temporaryFolder } from './cleanup.mjs';
import { inRepo } from './paths.mjs';

/**
 * Copies the example workspace into a temporary folder, which is deleted when this process ends.
 * @returns {string} the copy's real path
 */
export function copyExampleWorkspace() {
  const folder = path.join(temporaryFolder('redline-'), 'workspace');
  fs.cpSync(inRepo('examples', 'workspace'), folder, { recursive: true });
  return folder;
}
