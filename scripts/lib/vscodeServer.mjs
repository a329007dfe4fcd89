/** Starts and stops the headless VS Code's server, and installs extensions into its folders. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { atExit, temporaryFolder } from './cleanup.mjs';
import { headlessCode } from './headlessCode.mjs';
import { inRepo } from './paths.mjs';

const START_MS = 60_000;
const STOP_MS = 5_000;
const guard = fileURLToPath(new URL('./serverGuard.cjs', import.meta.url));

/** Settings for a window that shows only what is asked for. */
const QUIET_SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'security.workspace.trust.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': 'off',
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'remote.autoForwardPorts': false,
  'files.autoSave': 'off',
  'files.hotExit': 'off',
  'update.mode': 'none',
  'window.confirmBeforeClose': 'never',
};

/**
 * @typedef {object} ServerOptions
 * @property {string} [userDataDir] what VS Code keeps between runs (settings, storage, port). Fresh when omitted
 * @property {string} [extensionsDir] installed extensions. Inside `userDataDir` when omitted
 * @property {Record<string, unknown>} [settings] added to the quiet settings and to those already in `userDataDir`
 * @property {Record<string, string | undefined>} [env] added to our own for the extension host
 * @property {boolean} [testDriver] lets the window take extensions in development and tests; hides notifications
 * @property {string} [token] what a browser must present; omitted, nobody is asked
 */

/**
 * @typedef {object} Server
 * @property {number} port on 127.0.0.1
 * @property {string} userDataDir
 * @property {string} extensionsDir
 * @property {string} logFile the server's own output
 * @property {Promise<string>} ended settles, with the reason, when the server is gone
 * @property {(open?: { folder?: string, payload?: [string, string][] }) => string} url of a window on a folder or
 *   .code-workspace file
 * @property {(file: string) => string} uri how a file of this machine is named in a payload
 * @property {() => Promise<void>} stop ends the server and its extension hosts, nothing else
 */

/**
 * Starts a server. The port stays the same for a `userDataDir`, as the window's storage belongs to the address.
 * @param {ServerOptions} [options]
 * @returns {Promise<Server>}
 * @throws {Error} with the server's output when it does not start
 */
export async function startServer(options = {}) {
  const code = await headlessCode();
  const userDataDir = options.userDataDir
    ? path.resolve(options.userDataDir)
    : temporaryFolder('redline-code-');
  const extensionsDir = path.resolve(options.extensionsDir ?? path.join(userDataDir, 'extensions'));
  const logFile = path.join(userDataDir, 'server.log');
  fs.mkdirSync(extensionsDir, { recursive: true });
  const quiet = fs.existsSync(userSettings(userDataDir)) ? {} : QUIET_SETTINGS;
  updateSettings(userDataDir, { ...quiet, ...options.settings });

  const portFile = path.join(userDataDir, 'port');
  const wanted = fs.existsSync(portFile) ? fs.readFileSync(portFile, 'utf8') : '0';
  const child = spawn(
    code.node,
    [
      ...['--require', guard, code.server, '--host', '127.0.0.1', '--port', wanted],
      ...(options.token ? ['--connection-token', options.token] : ['--without-connection-token']),
      ...[
        '--accept-server-license-terms',
        '--telemetry-level',
        'off',
        // Without it the settings decide, which ask for trust only where they are told to.
        ...(options.settings?.['security.workspace.trust.enabled'] ? [] : ['--disable-workspace-trust']),
        '--force-disable-user-env',
      ],
      ...['--server-data-dir', path.join(userDataDir, 'server'), '--user-data-dir', userDataDir],
      ...['--extensions-dir', extensionsDir, ...(options.testDriver ? ['--enable-smoke-test-driver'] : [])],
    ],
    {
      // The guard ends the server when our end of its standard input closes, even if we are killed.
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, ...options.env, ...SERVER_ENV },
    },
  );
  const ended = new Promise(resolve => {
    child.once('error', error => resolve(`VS Code's server could not be started: ${error.message}`));
    child.once('exit', (status, signal) =>
      resolve(`VS Code's server ended with ${signal ?? `status ${status}`}`),
    );
  });
  const kill = signal => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The whole group is gone.
    }
  };
  const stop = atExit(
    async () => {
      kill('SIGTERM');
      const late = setTimeout(() => kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
      // Extension hosts that outlived their server.
      kill('SIGKILL');
    },
    () => kill('SIGKILL'),
  );
  try {
    const port = await listening(child, ended, logFile);
    fs.writeFileSync(portFile, String(port));
    const uri = file => `vscode-remote://127.0.0.1:${port}${file}`;
    const url = open => windowUrl(port, options.token, open);
    return { port, userDataDir, extensionsDir, logFile, ended, url, uri, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Installs a packaged extension for servers on `extensionsDir`.
 * @param {string} vsix
 * @param {{ extensionsDir: string, userDataDir: string }} folders
 * @throws {Error} with VS Code's words when it refuses
 */
export async function installExtension(vsix, { extensionsDir, userDataDir }) {
  const code = await headlessCode();
  const child = spawn(
    code.node,
    [
      ...[
        code.server,
        '--accept-server-license-terms',
        '--server-data-dir',
        path.join(userDataDir, 'server'),
      ],
      ...[
        '--user-data-dir',
        userDataDir,
        '--extensions-dir',
        extensionsDir,
        '--install-extension',
        vsix,
        '--force',
      ],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...SERVER_ENV } },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += data));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (status !== 0) throw new Error(`${vsix} could not be installed: ${output.trim()}`);
}

/** No marketplace; none of the variables an outer VS Code or Node may have left. */
const SERVER_ENV = {
  EXTENSIONS_GALLERY: '{}',
  NODE_OPTIONS: undefined,
  NODE_TEST_CONTEXT: undefined,
  VSCODE_IPC_HOOK_CLI: undefined,
  VSCODE_NLS_CONFIG: undefined,
};

/** Resolves with the port once the server says it. */
function listening(child, ended, logFile) {
  const log = fs.createWriteStream(logFile, { flags: 'a' });
  let output = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`VS Code's server did not start:\n${output}`)), START_MS);
    const read = data => {
      log.write(data);
      if (output.length > 100_000) return;
      output += data;
      const port = /Extension host agent listening on (\d+)/.exec(output)?.[1];
      if (!port) return;
      clearTimeout(timer);
      resolve(Number(port));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(reason => {
      clearTimeout(timer);
      log.end();
      reject(new Error(`${reason}\n${output}`));
    });
  });
}

function windowUrl(port, token, { folder, payload = [] } = {}) {
  const query = new URLSearchParams();
  if (token) query.set('tkn', token);
  if (!folder) query.set('ew', 'true');
  else query.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', path.resolve(folder));
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `http://127.0.0.1:${port}/?${query}`;
}

/**
 * Changes settings as a person would for all workspaces: they are read when a window opens. A window on a server takes
 * those of scope `machine` from the server's own file.
 * @param {string} userDataDir
 * @param {Record<string, unknown>} changes undefined removes a setting
 */
export function updateSettings(userDataDir, changes) {
  const { contributes } = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  const { properties } = contributes.configuration;
  const isMachines = key => properties[key]?.scope === 'machine';
  const machineSettings = path.join(userDataDir, 'Machine', 'settings.json');
  const pick = wanted => Object.fromEntries(Object.entries(changes).filter(([key]) => wanted(key)));
  mergeSettings(
    userSettings(userDataDir),
    pick(key => !isMachines(key)),
  );
  mergeSettings(machineSettings, pick(isMachines));
}

const userSettings = userDataDir => path.join(userDataDir, 'User', 'settings.json');

/** In one step, so that a window never reads half of a file. */
function mergeSettings(file, changes) {
  const before = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.new`, `${JSON.stringify({ ...before, ...changes }, null, 2)}\n`);
  fs.renameSync(`${file}.new`, file);
}
