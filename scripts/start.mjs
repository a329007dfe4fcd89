/**
 * `npm start`: builds and packages Redline, and opens VS Code with it on the project of the tour (media/tour), in a temporary
 * profile. It uses the installed VS Code (`code`), else a browser on Linux x64, else a VS Code that it downloads.
 *
 *   npm start -- --once      opens no window: walks through the core story by itself (Linux x64) and takes pictures
 *   npm start -- --browser   uses a browser even where `code` is installed
 */
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values } = parseArgs({ options: { once: { type: 'boolean' }, browser: { type: 'boolean' } } });
const { cleanUp, isEnding } = await import('./lib/cleanup.mjs');
const { runNode } = await import('./lib/command.mjs');
const { inRepo } = await import('./lib/paths.mjs');
const { build } = await import('./stages/build.mjs');
const { chromiumPath } = await import('./headless/findChromium.mjs');
const { installedServer } = await import('./headless/install.mjs');
const { runsHeadless } = await import('./headless/releases.mjs');
const { startBrowserCode, startDesktopCode } = await import('./lib/startCode.mjs');

try {
  if ((await build()).failed > 0) process.exitCode = 1;
  else if (values.once) process.exitCode = await takeWalk();
  else if (values.browser || !(await startDesktopCode())) await startBrowserCode();
} catch (error) {
  process.exitCode = 1;
  if (!isEnding()) console.error(error);
}
await cleanUp();
process.exit();

/** Runs the walk, which is a test that prints its steps. */
async function takeWalk() {
  if (!runsHeadless())
    throw new Error('The walk runs on Linux x64 only. "npm start" opens VS Code for you to walk through it.');
  // Installed before the test begins, so that it does not count towards its time limit.
  await installedServer();
  await chromiumPath();
  console.log('\nThe steps print what is on disk. Their pictures go to out/walk.');
  return runNode([inRepo('test', 'ui', 'start.test.ts')], { env: { REDLINE_PICTURES: '1' } });
}
