import { spawn } from 'node:child_process';
import { withoutEditor, withVariables } from '../../base/system/environment.ts';

/** Where git is not asked, because the folder is in no repository or there is no git. */
const IGNORED_WITHOUT_GIT = /(^|\/)node_modules(\/|$)/;

/**
 * Those of the paths that git ignores and does not track.
 * @param folder absolute; the paths are relative to it, with slashes, also after a folder. They need not exist.
 */
export async function ignoredOf(folder: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  // Paths in a folder that git takes for a submodule or link make it end with an error: then each is asked for by itself.
  const found = await checkIgnore(folder, paths);
  if (found) return found;
  return new Set(paths.filter(path => IGNORED_WITHOUT_GIT.test(path)));
}

/** @returns `undefined` if git does not answer */
function checkIgnore(folder: string, paths: readonly string[]): Promise<ReadonlySet<string> | undefined> {
  return new Promise(resolve => {
    const child = spawn('git', ['-c', 'core.quotePath=false', 'check-ignore', '-z', '--stdin'], {
      cwd: folder,
      env: withVariables(withoutEditor(process.env), {
        GIT_OPTIONAL_LOCKS: '0',
        GIT_DIR: null,
        GIT_WORK_TREE: null,
      }),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', () => resolve(undefined));
    // It ends with 1 if it found none.
    child.once('close', status =>
      resolve(
        status === 0 || status === 1
          ? new Set(Buffer.concat(chunks).toString().split('\0').filter(Boolean))
          : undefined,
      ),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(paths.map(path => `${path}\0`).join(''));
  });
}
