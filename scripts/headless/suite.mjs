/** Runs a test suite in the extension host of the headless VS Code, as @vscode/test-electron does in that of a desktop one. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { format } from 'node:util';
import { temporaryFolder } from '../lib/cleanup.mjs';
import { quietMs } from '../lib/limits.mjs';
import { inRepo } from '../lib/paths.mjs';
import { openBrowser } from './browser.mjs';
import { extensionsOf, startServer } from './server.mjs';
import { STILL_SETTINGS } from './settings.mjs';

/** Log lines of the window about itself rather than about extensions. */
const CHATTER = [
  /^\[(AgentHost|ChatModelSelection|AccountPolicyGate|Service Worker|reconnection-grace-time|RemoteAgentHostProtocol)/,
  /^(Resolv(ing|ed) connection token|Creating a socket|Updating additional builtin|Ignoring fetching additional builtin)/,
  /^(Started|Completed) initializing|^Creation of workbench contribution|^No search provider registered/,
  /^\[(remote-connection|DefaultAccount)\]|^Canceled|^An unknown error occurred\. Please consult the log/,
  /\/static\/out\/vs\/code\/browser\/workbench\/workbench\.js:/,
];

/**
 * Runs a suite in a profile of its own. One that logs nothing for `quietMs` has failed.
 * @param {import('../lib/extensionHost.mjs').HostRun & { print: (text: string) => void }} run
 * @throws {Error} when the suite fails, or the extension host ends before it; a picture of the window is kept
 */
export async function runSuite({ suite, workspace, extensions: [developed, ...others], env, print }) {
  const userDataDir = temporaryFolder('redline-headless-');
  // A window on a server loads one extension in development; the others are copied to the installed ones.
  for (const extension of others) copyExtension(extension, extensionsOf(userDataDir));
  const settings = { ...STILL_SETTINGS, 'editor.minimap.enabled': false };
  const server = await startServer({ userDataDir, settings, env, testDriver: true });
  const { page, close } = await openBrowser({ profile: path.join(userDataDir, 'browser') });
  try {
    const marker = path.join(userDataDir, 'suite-outcome');
    const payload = [
      ['extensionDevelopmentPath', server.uri(developed)],
      ['extensionTestsPath', server.uri(writeSuiteWithMarker(suite, marker))],
    ];
    const result = await ended(page, server, server.url({ folder: workspace, payload }), print);
    // VS Code reports 0 also for an extension host that crashed or called process.exit(): only the marker is certain.
    const outcome = fs.existsSync(marker) ? fs.readFileSync(marker, 'utf8') : 'unfinished';
    if (result === 0 && outcome === 'passed') return;
    await takePicture(page, print);
    if (typeof result === 'string') throw new Error(result);
    throw new Error(
      outcome === 'unfinished'
        ? `The extension host ended (${result}) before its suite did.`
        : `The suite failed (${result}).`,
    );
  } finally {
    await close();
    await server.stop();
  }
}

/** Opens the window, and waits for the exit status of its extension host, or for the reason why there is none. */
async function ended(page, server, url, print) {
  let stir = () => {};
  // The window calls these two.
  const suiteEnded = new Promise(resolve => void page.exposeFunction('codeAutomationExit', resolve));
  await page.exposeFunction('codeAutomationLog', (_type, values) => {
    stir();
    if (!CHATTER.some(pattern => pattern.test(String(values[0])))) print(`${format(...values)}\n`);
  });
  const crashed = new Promise(resolve => page.once('crash', () => resolve('The window crashed.')));
  const closed = new Promise(resolve => page.once('close', () => resolve('The window was closed.')));
  await page.goto(url);
  let timer;
  const silent = new Promise(resolve => {
    const minutes = Math.round(quietMs() / 60_000);
    stir = () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, quietMs(), `The suite has logged nothing for ${minutes} minutes.`);
    };
    stir();
  });
  const result = await Promise.race([suiteEnded, server.ended, crashed, closed, silent]);
  stir = () => {};
  clearTimeout(timer);
  return result;
}

/** Copies an extension's folder to where VS Code looks for installed extensions when it starts. */
function copyExtension(folder, extensionsDir) {
  const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  fs.cpSync(folder, path.join(extensionsDir, `${publisher}.${name}-${version}`), { recursive: true });
}

/** Writes a suite that runs the given one and then writes `passed` or `failed` into the marker file. */
function writeSuiteWithMarker(suite, marker) {
  const file = `${marker}.cjs`;
  const text = `const { writeFileSync } = require('node:fs');
exports.run = async () => {
  try {
    await require(${JSON.stringify(suite)}).run();
    writeFileSync(${JSON.stringify(marker)}, 'passed');
  } catch (error) {
    writeFileSync(${JSON.stringify(marker)}, 'failed');
    throw error;
  }
};
`;
  fs.writeFileSync(file, text);
  return file;
}

async function takePicture(page, print) {
  const file = inRepo('out', 'headless-failure.png');
  try {
    await page.screenshot({ path: file, timeout: 5_000 });
    print(`The window's last picture: ${file}\n`);
  } catch {
    // The window itself may have failed.
  }
}
