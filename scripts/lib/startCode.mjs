/** The ways to open VS Code with Redline for a person, and the walk that needs none. */
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { temporaryFolder } from './cleanup.mjs';
import { run } from './command.mjs';
import { headlessSupported } from './headlessCode.mjs';
import { downloads, inRepo, vsixPath } from './paths.mjs';
import { installExtension, startServer } from './vscodeServer.mjs';
import { Workbench } from './workbench.mjs';
import { copyExampleWorkspace } from './workspaceCopy.mjs';

/**
 * Opens a desktop VS Code and waits until its window is closed.
 * @returns {Promise<boolean>} false when there is none and a browser is the better way
 * @throws {Error} when VS Code ends badly
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
  await succeed(code, [...folders, '--install-extension', vsixPath, '--force']);
  console.log(`\nVS Code opens on ${workspace}\nClose its window to end.`);
  await succeed(code, [...folders, '--disable-workspace-trust', '--new-window', '--wait', workspace]);
  return true;
}

/** Serves VS Code for a browser and waits for Ctrl+C. Linux x64 only. */
export async function startBrowserCode() {
  const userDataDir = temporaryFolder('redline-start-');
  const extensionsDir = path.join(userDataDir, 'extensions');
  await installExtension(vsixPath, { userDataDir, extensionsDir });
  const folder = copyExampleWorkspace();
  // Any page in the person's browser can reach this port: only who knows the token is let in.
  const server = await startServer({ userDataDir, extensionsDir, token: randomBytes(16).toString('hex') });
  console.log(`\nVS Code with Redline, on ${folder}:\n\n  ${server.url({ folder })}\n\nCtrl+C ends it.`);
  throw new Error(await server.ended);
}

/** Walks through the core story in a window that nobody sees. Linux x64 only. */
export async function takeWalk() {
  if (!headlessSupported) {
    throw new Error('The walk runs on Linux x64 only. "npm start" opens VS Code for you to walk through it.');
  }
  const { walk } = await import('../walk.mjs');
  const workbench = await Workbench.open({ pictures: inRepo('out', 'walk') });
  try {
    console.log(`\nThe workspace is ${workbench.workspace}`);
    await walk(workbench, line => console.log(line));
  } catch (error) {
    console.error(`The window's last picture: ${await workbench.screenshot('failure')}`);
    console.error(workbench.extensionLog());
    throw error;
  } finally {
    await workbench.close();
  }
}

/** The command of the VS Code to use: the one on PATH, or where nothing else is possible a downloaded one. */
async function desktopCode() {
  const windows = process.platform === 'win32';
  if (spawnSync('code', ['--version'], { stdio: 'ignore', shell: windows }).status === 0) return 'code';
  if (headlessSupported) return undefined;
  const { resolveCliPathFromVSCodeExecutablePath } = await import('@vscode/test-electron');
  return resolveCliPathFromVSCodeExecutablePath(await downloadAndUnzipVSCode({ cachePath: downloads }));
}

async function succeed(code, args) {
  // On Windows the command is a .cmd file, which only a shell runs, and the shell wants quotes.
  const shell = process.platform === 'win32';
  const quote = text => (shell ? `"${text}"` : text);
  const status = await run(quote(code), args.map(quote), { shell });
  if (status !== 0) throw new Error(`${code} ${args.join(' ')} ended with status ${status}`);
}
