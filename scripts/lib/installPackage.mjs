/** Installs packages from npm that the project does not depend on. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { npm } from './npm.mjs';

/** How long the registry may take to answer a request, in milliseconds. */
const ANSWER_MS = 60_000;

/**
 * Installs a package into a folder of its own, unless it is there already.
 * @param {string} name with its exact version
 * @param {string} folder is complete when this returns, or not there at all
 * @throws {Error} that says so if the registry cannot be reached or the package cannot be installed
 */
export async function installPackage(name, folder) {
  if (fs.existsSync(folder)) return;
  const draft = `${folder}.${process.pid}`;
  fs.mkdirSync(draft, { recursive: true });
  fs.writeFileSync(path.join(draft, 'package.json'), JSON.stringify({ private: true }));
  console.log(`installing ${name}`);
  const patience = ['--fetch-retries=1', `--fetch-timeout=${ANSWER_MS}`];
  try {
    await npm(['install', '--no-package-lock', ...patience, name], { cwd: draft });
    fs.renameSync(draft, folder);
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true, maxRetries: 3 });
    throw new Error(`${name} could not be installed (${error.message}). Is npm's registry within reach?`, {
      cause: error,
    });
  }
}
