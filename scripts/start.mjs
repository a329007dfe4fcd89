/**
 * `npm start`: builds and packages Redline, and opens VS Code with it on a copy of examples/workspace, in a profile that
 * is forgotten afterwards. With the VS Code that is installed (`code`); else on Linux x64 in a browser; else with one
 * that is downloaded.
 *
 *   npm start -- --once      no window: walks through the core story by itself (Linux x64) and leaves pictures
 *   npm start -- --browser   in a browser, even where `code` is installed
 */
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values } = parseArgs({ options: { once: { type: 'boolean' }, browser: { type: 'boolean' } } });
const { cleanUp, isEnding } = await import('./lib/cleanup.mjs');
const { build } = await import('./lib/stages/build.mjs');
const { startBrowserCode, startDesktopCode, takeWalk } = await import('./lib/startCode.mjs');

try {
  if ((await build()).failed > 0) process.exitCode = 1;
  else if (values.once) await takeWalk();
  else if (values.browser || !(await startDesktopCode())) await startBrowserCode();
} catch (error) {
  process.exitCode = 1;
  if (!isEnding()) console.error(error);
}
await cleanUp();
process.exit();
