import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The pinned ast-grep program of this platform. */
export function cliFile(): string {
  const exe = process.platform === 'win32' ? 'ast-grep.exe' : 'ast-grep';
  const names = [
    `@ast-grep/cli-${process.platform}-${process.arch}-gnu`,
    `@ast-grep/cli-${process.platform}-${process.arch}-msvc`,
    `@ast-grep/cli-${process.platform}-${process.arch}`,
  ];
  for (const name of names) {
    try {
      return require.resolve(`${name}/${exe}`);
    } catch {
      // Another platform's name.
    }
  }
  throw new Error(`@ast-grep/cli has no program for ${process.platform} ${process.arch}`);
}

/** Files that begin with a dot are searched, as they are by Redline. */
const FLAGS = ['--no-ignore', 'hidden', '--no-ignore', 'vcs'];

/** Finds the matches and their rewrites, and drops what it prints. */
export function cliFind(pattern: string, rewrite: string, folder: string): Promise<void> {
  return run(['run', '-p', pattern, '-r', rewrite, '--json=stream', ...FLAGS, folder]);
}

/** Rewrites the files of a folder. */
export function cliUpdate(pattern: string, rewrite: string, folder: string): Promise<void> {
  return run(['run', '-p', pattern, '-r', rewrite, '--update-all', ...FLAGS, folder]);
}

function run(args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(cliFile(), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.once('error', reject);
    // Status 1 is that nothing was found.
    child.once('close', code =>
      code === 0 || code === 1 ? resolve() : reject(new Error(`ast-grep ended with ${code}: ${complaint}`)),
    );
  });
}
