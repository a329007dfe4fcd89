#!/usr/bin/env node
/**
 * Replaces the executable of the desktop VS Code, as `vscodeExecutablePath` of @vscode/test-electron or on the command
 * line: takes the same arguments, runs the headless VS Code, and exits with 0 if the test suite passed.
 *
 *   codeExecutable.mjs [folder] [--extensionDevelopmentPath=…]… [--extensionTestsPath=…] [--user-data-dir=…]
 *                      [--extensions-dir=…] [--install-extension=…]… [--disable-extensions]
 *
 * Without `--extensionTestsPath` the window stays open until a signal. Runs with the same `--user-data-dir`, one after
 * the other, share settings and storage. The environment is passed on to the extension host. Other arguments are
 * ignored.
 *
 * A suite that logs nothing for long (`quietMs` of lib/limits.mjs) has failed.
 *
 * Environment: REDLINE_VSCODE_LOG=1 shows the window's own log lines · REDLINE_VSCODE_SHOT where to save the picture of a
 * window whose suite failed.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { openBrowser } from './browser.mjs';
import { cleanUp, isEnding, temporaryFolder } from '../lib/cleanup.mjs';
import { quietMs } from '../lib/limits.mjs';
import { inRepo } from '../lib/paths.mjs';
import { installExtension, startServer } from './server.mjs';
import { STILL_SETTINGS } from './settings.mjs';

const args = process.argv.slice(2);
/** The values of `--name=value` and `--name value`. */
const all = name =>
  args.flatMap((arg, i) => {
    if (arg.startsWith(`--${name}=`)) return [arg.slice(name.length + 3)];
    return arg === `--${name}` && args[i + 1] !== undefined ? [args[i + 1]] : [];
  });
const VALUED = [
  'extensionDevelopmentPath',
  'extensionTestsPath',
  'user-data-dir',
  'extensions-dir',
  'install-extension',
];
const folder = args.find((arg, i) => !arg.startsWith('-') && !VALUED.includes(args[i - 1]?.slice(2)));
const tests = all('extensionTestsPath').at(-1);
/** A window on a server loads one extension in development; the others are copied to the installed ones. */
const [developed, ...others] = all('extensionDevelopmentPath').map(file => path.resolve(file));
const scratch = temporaryFolder('redline-headless-');

/** Log lines of the window about itself rather than about extensions. */
const CHATTER = [
  /^\[(AgentHost|ChatModelSelection|AccountPolicyGate|Service Worker|reconnection-grace-time|RemoteAgentHostProtocol)/,
  /^(Resolv(ing|ed) connection token|Creating a socket|Updating additional builtin|Ignoring fetching additional builtin)/,
  /^(Started|Completed) initializing|^Creation of workbench contribution|^No search provider registered/,
  /^\[(remote-connection|DefaultAccount)\]|^Canceled|^An unknown error occurred\. Please consult the log/,
  /\/static\/out\/vs\/code\/browser\/workbench\/workbench\.js:/,
];

// Set by a parent that wants us to end when it does, however it ends. Not passed on to our children.
if (process.env.REDLINE_END_WITH_STDIN) {
  delete process.env.REDLINE_END_WITH_STDIN;
  process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
}

process.exitCode = 1;
try {
  process.exitCode = await main();
} catch (error) {
  say(error.stack ?? error);
}
await cleanUp();
process.exit();

async function main() {
  const userDataDir = all('user-data-dir').at(-1) ?? path.join(scratch, 'data');
  const extensionsDir = all('extensions-dir').at(-1) ?? path.join(userDataDir, 'extensions');
  for (const vsix of all('install-extension')) await installExtension(vsix, { extensionsDir, userDataDir });
  for (const extension of others) copyExtension(extension, extensionsDir);
  const settings = tests ? { ...STILL_SETTINGS, 'editor.minimap.enabled': false } : {};
  const testDriver = Boolean(tests) || developed !== undefined;
  const server = await startServer({ userDataDir, extensionsDir, testDriver, settings });
  const { page } = await openBrowser({ profile: path.join(server.userDataDir, 'browser') });

  let stir = () => {};
  // The window calls these two: with the exit status of the extension host that ran the suite, and with log lines.
  const suiteEnded = new Promise(resolve => void page.exposeFunction('codeAutomationExit', resolve));
  await page.exposeFunction('codeAutomationLog', (type, values) => {
    stir();
    const text = String(values[0]);
    if (process.env.REDLINE_VSCODE_LOG || !CHATTER.some(pattern => pattern.test(text))) {
      (console[type] ?? console.log)(...values);
    }
  });
  const marker = path.join(scratch, 'suite-outcome');
  const payload = developed ? [['extensionDevelopmentPath', server.uri(developed)]] : [];
  if (tests)
    payload.push(['extensionTestsPath', server.uri(writeSuiteWithMarker(path.resolve(tests), marker))]);
  if (args.includes('--disable-extensions')) payload.push(['disableExtensions', 'true']);
  const crashed = new Promise(resolve => page.once('crash', () => resolve('The window crashed.')));
  const closed = new Promise(resolve => page.once('close', () => resolve('The window was closed.')));
  await page.goto(server.url({ folder, payload }));

  if (!tests) {
    console.log(`VS Code is open (${server.url({ folder })}), data in ${server.userDataDir}`);
    say(await Promise.race([server.ended, crashed, closed]));
    return 1;
  }
  let timer;
  const silent = new Promise(resolve => {
    stir = () => {
      clearTimeout(timer);
      const minutes = Math.round(quietMs() / 60_000);
      timer = setTimeout(resolve, quietMs(), `The suite has logged nothing for ${minutes} minutes.`);
    };
    stir();
  });
  const result = await Promise.race([suiteEnded, server.ended, crashed, closed, silent]);
  stir = () => {};
  clearTimeout(timer);
  // VS Code reports 0 also for an extension host that crashed or called process.exit(): only the marker is certain.
  const outcome = fs.existsSync(marker) ? fs.readFileSync(marker, 'utf8') : 'unfinished';
  if (result === 0 && outcome === 'passed') return 0;
  if (typeof result === 'string') say(result);
  else if (outcome === 'unfinished') say(`The extension host ended (${result}) before its suite did.`);
  await takePicture(page);
  return typeof result === 'number' && result !== 0 ? result : 1;
}

/** Copies an extension's folder to where VS Code looks for installed extensions when it starts. */
function copyExtension(folder, extensionsDir) {
  const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  fs.cpSync(folder, path.join(extensionsDir, `${publisher}.${name}-${version}`), { recursive: true });
}

/** Writes a suite that runs the given one and then writes `passed` or `failed` into the marker file. */
function writeSuiteWithMarker(suite, marker) {
  const file = path.join(scratch, 'suite.cjs');
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

async function takePicture(page) {
  const file = process.env.REDLINE_VSCODE_SHOT ?? inRepo('out', 'headless-failure.png');
  try {
    await page.screenshot({ path: file, timeout: 5_000 });
    say(`The window's last picture: ${file}`);
  } catch {
    // The window itself may have failed.
  }
}

function say(text) {
  if (!isEnding()) console.error(`[headless VS Code] ${text}`);
}
