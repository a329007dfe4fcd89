#!/usr/bin/env node
/**
 * Stands in for the desktop VS Code's executable, for `vscodeExecutablePath` of @vscode/test-electron and by hand:
 * takes its arguments, runs the headless VS Code, ends with the suite's status.
 *
 *   codeHeadless.mjs [folder] [--extensionDevelopmentPath=…]… [--extensionTestsPath=…] [--user-data-dir=…]
 *                    [--extensions-dir=…] [--install-extension=…]… [--disable-extensions]
 *
 * Without `--extensionTestsPath` the window stays open until a signal comes. Two runs with the same
 * `--user-data-dir`, one after the other, see the same settings and storage. The environment reaches the extension
 * host. Other arguments are ignored.
 *
 * Environment: REDLINE_VSCODE_TIMEOUT seconds for a suite (600) · REDLINE_VSCODE_LOG=1 shows the window's own log
 * lines · REDLINE_VSCODE_SHOT picture of a window whose suite ended badly.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { openBrowser } from './browser.mjs';
import { cleanUp, isEnding, temporaryFolder } from './cleanup.mjs';
import { inRepo } from './paths.mjs';
import { installExtension, startServer } from './vscodeServer.mjs';

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
/** A window on a server takes one extension in development; the others are put where installed ones are. */
const [developed, ...others] = all('extensionDevelopmentPath').map(file => path.resolve(file));
const timeout = Number(process.env.REDLINE_VSCODE_TIMEOUT ?? 600) * 1000;
const scratch = temporaryFolder('redline-headless-');

/** Lines the window writes about itself, not about the extension. */
const CHATTER = [
  /^\[(AgentHost|ChatModelSelection|AccountPolicyGate|Service Worker|reconnection-grace-time|RemoteAgentHostProtocol)/,
  /^(Resolv(ing|ed) connection token|Creating a socket|Updating additional builtin|Ignoring fetching additional builtin)/,
  /^(Started|Completed) initializing|^Creation of workbench contribution|^No search provider registered/,
  /^\[(remote-connection|DefaultAccount)\]|^Canceled|^An unknown error occurred\. Please consult the log/,
  /\/static\/out\/vs\/code\/browser\/workbench\/workbench\.js:/,
];

// Who starts us through a pipe may ask us to end with it, however it ends; what we start is not asked that.
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
  for (const extension of others) placeExtension(extension, extensionsDir);
  const testDriver = Boolean(tests) || developed !== undefined;
  const server = await startServer({ userDataDir, extensionsDir, testDriver });
  const { page } = await openBrowser({ profile: path.join(server.userDataDir, 'browser') });

  // Called by the window: log lines, and the status of the extension host that ran the suite.
  const suiteEnded = new Promise(resolve => void page.exposeFunction('codeAutomationExit', resolve));
  await page.exposeFunction('codeAutomationLog', (type, values) => {
    const text = String(values[0]);
    if (process.env.REDLINE_VSCODE_LOG || !CHATTER.some(pattern => pattern.test(text))) {
      (console[type] ?? console.log)(...values);
    }
  });
  const marker = path.join(scratch, 'suite-outcome');
  const payload = developed ? [['extensionDevelopmentPath', server.uri(developed)]] : [];
  if (tests) payload.push(['extensionTestsPath', server.uri(markingSuite(path.resolve(tests), marker))]);
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
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, timeout, `The suite did not end within ${timeout / 1000} s.`);
  });
  const result = await Promise.race([suiteEnded, server.ended, crashed, closed, late]);
  clearTimeout(timer);
  // VS Code reports 0, too, for an extension host that died or called process.exit(): the marker tells.
  const outcome = fs.existsSync(marker) ? fs.readFileSync(marker, 'utf8') : 'unfinished';
  if (result === 0 && outcome === 'passed') return 0;
  if (typeof result === 'string') say(result);
  else if (outcome === 'unfinished') say(`The extension host ended (${result}) before its suite did.`);
  await takePicture(page);
  return typeof result === 'number' && result !== 0 ? result : 1;
}

/** Puts an extension's folder among those that VS Code finds when it starts for the first time. */
function placeExtension(folder, extensionsDir) {
  const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  fs.cpSync(folder, path.join(extensionsDir, `${publisher}.${name}-${version}`), { recursive: true });
}

/** A suite that runs the given one and leaves a marker that says `passed` or `failed` once that has ended. */
function markingSuite(suite, marker) {
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
    say(`the window's last picture: ${file}`);
  } catch {
    // The window may be what failed.
  }
}

function say(text) {
  if (!isEnding()) console.error(`[codeHeadless] ${text}`);
}
