import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The path of the pinned ast-grep CLI for this platform. */
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
      // The name is that of another platform.
    }
  }
  throw new Error(`@ast-grep/cli has no binary for ${process.platform} ${process.arch}`);
}

/** Hidden files are searched, as Redline does. */
const FLAGS = ['--no-ignore', 'hidden', '--no-ignore', 'vcs'];

/** Finds the matches and their rewrites, and discards the output. */
export async function cliFind(pattern: string, rewrite: string, folder: string): Promise<void> {
  await run(['run', '-p', pattern, '-r', rewrite, '--json=stream', ...FLAGS, folder]);
}

/** A range of a file, in bytes of its UTF-8; `end` is exclusive. */
export type ByteRange = readonly [start: number, end: number];

/** The ranges of a TypeScript or JavaScript file that the CLI cannot parse, in the order of the text. */
export async function cliErrors(file: string): Promise<ByteRange[]> {
  const language = ['tsx', 'js'].find(extension => file.endsWith(`.${extension}`)) ?? 'ts';
  const rule = JSON.stringify({ id: 'error', language, rule: { kind: 'ERROR' } });
  const rows = await run(['scan', '--inline-rules', rule, '--json=stream', ...FLAGS, file], true);
  return rows
    .split('\n')
    .filter(row => row !== '')
    .map(row => {
      const { start, end } = (JSON.parse(row) as { range: { byteOffset: { start: number; end: number } } })
        .range.byteOffset;
      return [start, end];
    });
}

/** Rewrites the files of a folder. */
export async function cliUpdate(
  pattern: string,
  rewrite: string,
  folder: string,
  selector?: string,
): Promise<void> {
  const selected = selector === undefined ? [] : ['--selector', selector];
  await run(['run', '-p', pattern, ...selected, '-r', rewrite, '--update-all', ...FLAGS, folder]);
}

function run(args: string[], keep = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(cliFile(), args, { stdio: ['ignore', keep ? 'pipe' : 'ignore', 'pipe'] });
    let output = '';
    let complaint = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.once('error', reject);
    // Status 1 means that nothing was found.
    child.once('close', code =>
      code === 0 || code === 1
        ? resolve(output)
        : reject(new Error(`ast-grep exited with ${code}: ${complaint}`)),
    );
  });
}
