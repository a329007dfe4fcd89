/**
 * Runs test files one after the other in this process, which `fileLanes.mjs` starts and tells which file is next. Modules that
 * they share are loaded once. Shared things, such as a VS Code, are cleared away when the process is disconnected.
 */
import { once } from 'node:events';
import * as path from 'node:path';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { limitMs } from '../lib/limits.mjs';
import { repoRoot } from '../lib/paths.mjs';

const environment = { ...process.env };
// A test may wait for something that does not keep a process running.
process.channel.ref();
for (;;) {
  process.send({ type: 'free' });
  const [file] = await once(process, 'message');
  if (file === null) break;
  await suite(file, async () => void (await import(pathToFileURL(path.resolve(repoRoot, file)).href)));
  restoreEnvironment();
}
process.disconnect();
setTimeout(() => {
  console.error(`Files have left something open: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}, limitMs(30_000)).unref();

function restoreEnvironment() {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
