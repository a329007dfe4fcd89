/** Starts and stops VS Code's server, and installs extensions into its folders. */
import { spawn } from 'node:child_process';
import { EventEmitter, on, once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atExit } from '../lib/cleanup.mjs';
import { run } from '../lib/command.mjs';
import { limitMs } from '../lib/limits.mjs';
import { installedServer } from './install.mjs';
import { prepareSettings } from './settings.mjs';

const START_MS = limitMs(60_000);
const STOP_MS = 5_000;
const endWithParent = fileURLToPath(new URL('./endWithParent.cjs', import.meta.url));

/** No marketplace, and none of the variables that a surrounding VS Code or Node may have set. A caller's `env` goes before. */
const SERVER_ENV = {
  EXTENSIONS_GALLERY: '{}',
  NODE_COMPILE_CACHE: undefined,
  NODE_OPTIONS: undefined,
  NODE_TEST_CONTEXT: undefined,
  VSCODE_IPC_HOOK_CLI: undefined,
  VSCODE_NLS_CONFIG: undefined,
};

/**
 * @typedef {object} ServerOptions
 * @property {string} userDataDir VS Code's state between runs (settings, storage, port, installed extensions)
 * @property {Record<string, unknown>} [settings] added to the quiet settings and to those already in `userDataDir`
 * @property {Record<string, string | undefined>} [env] added to our own for the extension host
 * @property {boolean} [testDriver] lets a window load extensions in development and run tests; hides notifications
 * @property {string} [token] secret that a browser must present; without one, any browser is let in
 */

/**
 * @typedef {object} Server
 * @property {Promise<string>} ended resolves with the reason when the server has ended
 * @property {(open?: { folder?: string, payload?: [string, string][] }) => string} url the address of a window on a
 *   folder or .code-workspace file, or of an empty one; `payload` is passed to VS Code as it is
 * @property {(file: string) => string} uri the name of a file of this machine in a payload
 * @property {() => Promise<void>} endHosts resolves when no extension host runs. To be called after the last window was
 *   left: its host then ends by itself. A host whose window could not say goodbye would wait for it, and is killed
 * @property {() => Promise<void>} stop ends the server and its extension hosts
 */

/**
 * Starts a server on 127.0.0.1. A `userDataDir` keeps its port, because the browser stores a window's state by address.
 * @param {ServerOptions} options
 * @returns {Promise<Server>}
 * @throws {Error} with the server's output when it does not start
 */
export async function startServer({ userDataDir, ...options }) {
  const { node, script } = await installedServer();
  fs.mkdirSync(extensionsOf(userDataDir), { recursive: true });
  prepareSettings(userDataDir, options.settings);

  const portFile = path.join(userDataDir, 'port');
  const wantedPort = fs.existsSync(portFile) ? fs.readFileSync(portFile, 'utf8') : '0';
  const args = [
    ...['--host', '127.0.0.1', '--port', wantedPort],
    ...(options.token ? ['--connection-token', options.token] : ['--without-connection-token']),
    ...['--accept-server-license-terms', '--telemetry-level', 'off', '--force-disable-user-env'],
    // This flag overrides the setting.
    ...(options.settings?.['security.workspace.trust.enabled'] ? [] : ['--disable-workspace-trust']),
    ...folderArgs(userDataDir),
    ...(options.testDriver ? ['--enable-smoke-test-driver'] : []),
  ];
  const child = spawn(node, ['--require', endWithParent, script, ...args], {
    // The server ends when our end of its standard input closes, even if we are killed.
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, ...SERVER_ENV, ...options.env },
  });
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
      // All processes of the group have ended.
    }
  };
  const stop = atExit(
    async () => {
      kill('SIGTERM');
      const late = setTimeout(() => kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
      // Extension hosts may outlive their server.
      kill('SIGKILL');
    },
    () => kill('SIGKILL'),
  );
  try {
    const lines = outputLines(child, path.join(userDataDir, 'server.log'));
    const hosts = new ExtensionHosts(lines);
    const port = await listening(lines, ended);
    fs.writeFileSync(portFile, String(port));
    const uri = file => `vscode-remote://127.0.0.1:${port}${file}`;
    const url = open => windowUrl(port, options.token, open);
    return { ended, url, uri, endHosts: () => hosts.end(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Installs a packaged extension for servers that use this folder.
 * @param {string} vsix
 * @param {string} userDataDir
 * @throws {Error} with VS Code's output when it refuses
 */
export async function installExtension(vsix, userDataDir) {
  const { node, script } = await installedServer();
  const args = ['--accept-server-license-terms', ...folderArgs(userDataDir)];
  let output = '';
  const status = await run(node, [script, ...args, '--install-extension', vsix, '--force'], {
    env: SERVER_ENV,
    onOutput: data => (output += data),
  });
  if (status !== 0) throw new Error(`${vsix} could not be installed: ${output.trim()}`);
}

/** The folder of a profile with its installed extensions. */
export const extensionsOf = userDataDir => path.join(userDataDir, 'extensions');

function folderArgs(userDataDir) {
  return [
    ...['--server-data-dir', path.join(userDataDir, 'server'), '--user-data-dir', userDataDir],
    ...['--extensions-dir', extensionsOf(userDataDir)],
  ];
}

/** Emits `line` for each line that the process prints, and appends it to the log file. */
function outputLines(child, logFile) {
  const log = fs.createWriteStream(logFile, { flags: 'a' });
  const lines = new EventEmitter();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', line => {
      log.write(`${line}\n`);
      lines.emit('line', line);
    });
  }
  child.once('close', () => log.end());
  return lines;
}

/** The extension hosts that run, as the server tells of them. */
class ExtensionHosts {
  #pids = new Set();
  #changes = new EventEmitter();

  constructor(lines) {
    lines.on('line', line => {
      const launched = /<(\d+)> Launched Extension Host Process/.exec(line)?.[1];
      if (launched) this.#pids.add(Number(launched));
      const exited = /<(\d+)> Extension Host Process exited/.exec(line)?.[1];
      if (exited && this.#pids.delete(Number(exited))) this.#changes.emit('exited');
    });
  }

  async end() {
    const late = setTimeout(() => this.#kill(), STOP_MS);
    const signal = AbortSignal.timeout(2 * STOP_MS);
    try {
      while (this.#pids.size > 0) await once(this.#changes, 'exited', { signal });
    } catch (cause) {
      throw new Error(`These extension hosts did not end: ${[...this.#pids].join(', ')}`, { cause });
    } finally {
      clearTimeout(late);
    }
  }

  #kill() {
    for (const pid of this.#pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
  }
}

/** Resolves with the port once the server prints it. */
async function listening(lines, ended) {
  let output = '';
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(START_MS)]);
  void ended.then(reason => stop.abort(new Error(reason)));
  try {
    for await (const [line] of on(lines, 'line', { signal })) {
      output += `${line}\n`;
      const port = /Extension host agent listening on (\d+)/.exec(line)?.[1];
      if (port) return Number(port);
    }
  } catch (error) {
    throw new Error(`VS Code's server did not start: ${error.cause?.message}\n${output}`, { cause: error });
  }
}

function windowUrl(port, token, { folder, payload = [] } = {}) {
  const query = new URLSearchParams();
  if (token) query.set('tkn', token);
  if (!folder) query.set('ew', 'true');
  else query.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', path.resolve(folder));
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `http://127.0.0.1:${port}/?${query}`;
}
