/** The ways to open VS Code with Redline for a user, on the project of the tour: a desktop one, or one in the browser. */
import { downloadAndUnzipVSCode, resolveCliPathFromVSCodeExecutablePath } from '@vscode/test-electron';
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runsHeadless } from '../headless/releases.mjs';
import { installExtension, startServer } from '../headless/server.mjs';
import { temporaryFolder } from './cleanup.mjs';
import { run } from './command.mjs';
import { downloads, inRepo, vsixPath } from './paths.mjs';

/** The profile is ours, and so is the check that it has: nothing of the workspace has to be approved. */
export const SETTINGS = { 'redline.checks': [{ name: 'test', command: 'node --test' }] };
const WHAT_NEXT = 'Send /tour in the chat of Redline: an agent mends a failing test. It needs no key.';

/**
 * Opens a desktop VS Code and waits until its window is closed.
 * @returns {Promise<boolean>} false when `code` is not on PATH and a browser can be used instead of a download
 * @throws {Error} when VS Code exits with an error
 */
export async function startDesktopCode() {
  const code = await desktopCode();
  if (!code) return false;
  const profile = temporaryFolder('rl-start-');
  const data = path.join(profile, 'data');
  const workspace = copyTour(data);
  fs.writeFileSync(path.join(data, 'User', 'settings.json'), JSON.stringify(SETTINGS));
  const folders = [`--user-data-dir=${data}`, `--extensions-dir=${path.join(profile, 'extensions')}`];
  await runCode(code, [...folders, '--install-extension', vsixPath, '--force']);
  console.log(`\nOpening VS Code on ${workspace}\n${WHAT_NEXT}\nClose its window to end.`);
  await runCode(code, [...folders, '--disable-workspace-trust', '--new-window', '--wait', workspace]);
  return true;
}

/** Serves VS Code for a browser until Ctrl+C. Linux x64 only. */
export async function startBrowserCode() {
  const userDataDir = temporaryFolder('redline-start-');
  await installExtension(vsixPath, userDataDir);
  const folder = copyTour(userDataDir);
  // Any page in the user's browser can reach this port, so a token is required.
  const token = randomBytes(16).toString('hex');
  const server = await startServer({ userDataDir, settings: SETTINGS, token });
  console.log(
    `\nOpen VS Code with Redline, on ${folder}, at\n\n  ${server.url({ folder })}\n\n${WHAT_NEXT}\nPress Ctrl+C to end.`,
  );
  throw new Error(await server.ended);
}

/**
 * Copies the project of the tour to where the command Redline: Open the Tour puts it, so that Redline shows its chat there.
 * @param {string} userDataDir of VS Code
 * @returns {string} the folder
 */
function copyTour(userDataDir) {
  const folder = path.join(userDataDir, 'User', 'globalStorage', 'redline.redline', 'tour');
  fs.cpSync(inRepo('media', 'tour'), folder, { recursive: true });
  return folder;
}

/** The command that starts VS Code: `code` on PATH, else a downloaded one where no browser can be used instead. */
async function desktopCode() {
  const windows = process.platform === 'win32';
  if (spawnSync('code', ['--version'], { stdio: 'ignore', shell: windows }).status === 0) return 'code';
  if (runsHeadless()) return undefined;
  return resolveCliPathFromVSCodeExecutablePath(await downloadAndUnzipVSCode({ cachePath: downloads }));
}

async function runCode(code, args) {
  // On Windows the command is a .cmd file, which needs a shell, and the shell needs quotes.
  const shell = process.platform === 'win32';
  const quote = text => (shell ? `"${text}"` : text);
  const status = await run(quote(code), args.map(quote), { shell });
  if (status !== 0) throw new Error(`${code} ${args.join(' ')} ended with status ${status}`);
}
