/** The ways to open VS Code with Redline for a user: a desktop one, or one in the browser. */
import { downloadAndUnzipVSCode, resolveCliPathFromVSCodeExecutablePath } from '@vscode/test-electron';
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { headlessSupported } from '../headless/install.mjs';
import { installExtension, startServer } from '../headless/server.mjs';
import { temporaryFolder } from './cleanup.mjs';
import { run } from './command.mjs';
import { downloads, vsixPath } from './paths.mjs';
import { copyExampleWorkspace } from './workspaceCopy.mjs';

/**
 * Opens a desktop VS Code and waits until its window is closed.
 * @returns {Promise<boolean>} false when `code` is not on PATH and a browser can be used instead of a download
 * @throws {Error} when VS Code exits with an error
 */
export async function startDesktopCode() {
  const code = await desktopCode();
  if (!code) return false;
  const profile = temporaryFolder('rl-start-');
  const workspace = copyExampleWorkspace();
  const folders = [
    `--user-data-dir=${path.join(profile, 'data')}`,
    `--extensions-dir=${path.join(profile, 'extensions')}`,
  ];
  await runCode(code, [...folders, '--install-extension', vsixPath, '--force']);
  console.log(`\nOpening VS Code on ${workspace}\nClose its window to end.`);
  await runCode(code, [...folders, '--disable-workspace-trust', '--new-window', '--wait', workspace]);
  return true;
}

/** Serves VS Code for a browser until Ctrl+C. Linux x64 only. */
export async function startBrowserCode() {
  const userDataDir = temporaryFolder('redline-start-');
  const extensionsDir = path.join(userDataDir, 'extensions');
  await installExtension(vsixPath, { userDataDir, extensionsDir });
  const folder = copyExampleWorkspace();
  // Any page in the user's browser can reach this port, so a token is required.
  const server = await startServer({ userDataDir, extensionsDir, token: randomBytes(16).toString('hex') });
  console.log(
    `\nOpen VS Code with Redline, on ${folder}, at\n\n  ${server.url({ folder })}\n\nPress Ctrl+C to end.`,
  );
  throw new Error(await server.ended);
}

/** The command that starts VS Code: `code` on PATH, else a downloaded one where no browser can be used instead. */
async function desktopCode() {
  const windows = process.platform === 'win32';
  if (spawnSync('code', ['--version'], { stdio: 'ignore', shell: windows }).status === 0) return 'code';
  if (headlessSupported) return undefined;
  return resolveCliPathFromVSCodeExecutablePath(await downloadAndUnzipVSCode({ cachePath: downloads }));
}

async function runCode(code, args) {
  // On Windows the command is a .cmd file, which needs a shell, and the shell needs quotes.
  const shell = process.platform === 'win32';
  const quote = text => (shell ? `"${text}"` : text);
  const status = await run(quote(code), args.map(quote), { shell });
  if (status !== 0) throw new Error(`${code} ${args.join(' ')} ended with status ${status}`);
}
