import { statSync } from 'node:fs';
import * as path from 'node:path';
import { orUndefined } from '../errors.ts';
import { systemProgram } from './processTable.ts';

/** How a program is spawned without a shell. */
export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  /** The arguments are a command line of Windows, which must not be quoted again. */
  readonly isVerbatim: boolean;
}

/**
 * The call of a program with exactly these arguments. On Windows, a name such as `npm` is found with the extensions of `PATHEXT`,
 * and a batch file is run by `cmd.exe`, with output in UTF-8.
 * @throws for an argument that no batch file can be given.
 */
export function programCall(
  program: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
  isFile: (file: string) => boolean = exists,
): ProgramCall {
  const file = platform === 'win32' ? batchFile(program, folder, env, isFile) : undefined;
  if (file === undefined) return { program, args, isVerbatim: false };
  const unfit = [file, ...args].find(one => /[\r\n\0]/.test(one));
  if (unfit !== undefined)
    throw new Error(`${file} is a batch file, which cannot be given an argument with several lines.`);
  const line = [`"${file}"`, ...args.map(batchArgument)].join(' ');
  return {
    program: systemProgram('cmd.exe', env),
    args: ['/e:on', '/v:off', '/d', '/s', '/c', `"chcp 65001>nul&${line}"`],
    isVerbatim: true,
  };
}

/** The batch file that a name stands for; `undefined` if it stands for another program, or none. */
function batchFile(
  program: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  isFile: (file: string) => boolean,
): string | undefined {
  const { join, resolve, extname } = path.win32;
  const value = (name: string): string =>
    Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1] ?? '';
  const extensions = (value('PATHEXT') || '.COM;.EXE;.BAT;.CMD').toLowerCase().split(';');
  const isWhole = extensions.includes(extname(program).toLowerCase());
  const names = isWhole ? [program] : extensions.map(extension => `${program}${extension}`);
  const folders = value('PATH').split(';').filter(Boolean);
  const files = /[/\\:]/.test(program)
    ? names.map(name => resolve(folder, name))
    : folders.flatMap(one => names.map(name => join(one.replaceAll('"', ''), name)));
  const found = files.find(isFile);
  return found !== undefined && /\.(cmd|bat)$/i.test(found) ? found : undefined;
}

/**
 * An argument as `cmd.exe` must read it so that the batch file, and any program that the batch file passes it to, get it unchanged:
 * a doubled quotation mark does not end the quotation, and `%cd:~,%` is empty.
 */
function batchArgument(argument: string): string {
  const quoted = argument
    .replace(/\\+(?="|$)/g, '$&$&')
    .replaceAll('"', '""')
    .replaceAll('%', '%%cd:~,%');
  return `"${quoted}"`;
}

function exists(file: string): boolean {
  return orUndefined(() => statSync(file))?.isFile() ?? false;
}
