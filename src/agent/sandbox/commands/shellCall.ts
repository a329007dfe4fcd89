import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { CommandPlan } from './commandPlan.ts';

/** Families of shells that take a command in the same way. */
type ShellFamily = 'posix' | 'wsl' | 'powershell' | 'cmd';

/** Arguments that precede the command, or the script that holds it. */
const CONVENTIONS: Readonly<Record<ShellFamily, readonly string[]>> = {
  posix: ['-c'],
  wsl: ['--exec', 'sh', '-c'],
  powershell: ['-NonInteractive', '-Command'],
  cmd: ['/d', '/s', '/c'],
};

/** Options after which a shell takes the rest for a command or a script. */
const RUNS: Readonly<Record<ShellFamily, RegExp>> = {
  posix: /^-[a-zA-Z]*c$/,
  wsl: /^(-e|--exec|--)$/,
  powershell: /^[-/](c|com\w*|e|ec|en\w*|f|fi\w*|noe\w*)$/i,
  cmd: /^\/[ckr]/i,
};

function familyOf(shell: string): ShellFamily {
  const name = (shell.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.exe$/, '');
  if (name === 'cmd' || name === 'wsl') return name;
  return /^(powershell|pwsh)/.test(name) ? 'powershell' : 'posix';
}

/** The arguments that a shell can be given before a command: those before the first that would run something else. */
export function argumentsBeforeCommand(shell: string, given: readonly string[]): readonly string[] {
  const pattern = RUNS[familyOf(shell)];
  const end = given.findIndex(argument => pattern.test(argument));
  return end < 0 ? given : given.slice(0, end);
}

/** The shell with all arguments that precede the command, as it is shown. */
export function shellLine({ shell, arguments: args }: CommandPlan): string {
  return [shell, ...args, ...CONVENTIONS[familyOf(shell)]].join(' ');
}

/** How a shell is called so that it runs a command. */
export interface ShellCall {
  readonly args: readonly string[];
  /** The arguments are a command line of Windows, which must not be quoted again. */
  readonly isVerbatim: boolean;
  /** Removes the files that the call needs. */
  remove(): Promise<void>;
}

/** Prepares a call, with a script in a temporary folder where the text cannot be passed on the command line as it is. */
export async function prepareCall({ shell, arguments: args, command }: CommandPlan): Promise<ShellCall> {
  const family = familyOf(shell);
  const before = [...args, ...CONVENTIONS[family]];
  if (family === 'posix' || family === 'wsl')
    return { args: [...before, command], isVerbatim: false, remove: () => Promise.resolve() };
  const folder = await mkdtemp(path.join(tmpdir(), 'redline-command-'));
  const scripts = family === 'cmd' ? batchScripts(command) : { 'run.ps1': powershellScript(command) };
  for (const [name, text] of Object.entries(scripts)) await writeFile(path.join(folder, name), text);
  const at = (name: string): string => path.join(folder, name);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  if (family === 'cmd') return { args: [...before, `"call "${at('run.cmd')}""`], isVerbatim: true, remove };
  // Not `-File`, which the execution policy may forbid.
  const text = `[IO.File]::ReadAllText('${at('run.ps1').replaceAll("'", "''")}')`;
  return { args: [...before, `. ([ScriptBlock]::Create(${text}))`], isVerbatim: false, remove };
}

/** Lines that work only in one file with the others. */
const JUMPS = /^@?(:|setlocal\b)|\bcall ?:|\bgoto\b|\bexit \/b\b/i;

/**
 * The scripts by which `cmd.exe` runs all lines of a command and writes UTF-8. Each statement has a file of its own: a batch
 * file such as `npm.cmd` that is run without `call` ends the file in which it stands, and the next one still runs. A text with
 * labels, `setlocal` or `exit /b` stays one file.
 */
export function batchScripts(command: string): Readonly<Record<string, string>> {
  const isOne = command.split('\n').some(line => JUMPS.test(line.trim()));
  const parts = isOne ? [command] : batchStatements(command);
  const files = parts.map((part, i) => [`${i + 1}.cmd`, toBatch(part)] as const);
  const calls = files.map(([name]) => `call "%~dp0${name}"`);
  const run = toBatch(['@echo off', 'chcp 65001 >nul', ...calls].join('\n'));
  return { 'run.cmd': run, ...Object.fromEntries(files) };
}

function toBatch(text: string): string {
  return `${text.replace(/\r?\n/g, '\r\n')}\r\n`;
}

/** Splits a command into lines; a line with an open bracket or a caret at its end stays together with the next. */
function batchStatements(command: string): string[] {
  const statements: string[] = [];
  let open = '';
  for (const line of command.split(/\r?\n/)) {
    open += open === '' ? line : `\n${line}`;
    const plain = open.replace(/\^[^\n]/g, '').replace(/"[^"\n]*("|$)/gm, '');
    const depth = plain.split('(').length - plain.split(')').length;
    if (depth > 0 || plain.endsWith('^')) continue;
    if (open.trim() !== '') statements.push(open);
    open = '';
  }
  return open.trim() === '' ? statements : [...statements, open];
}

/** A script that writes UTF-8, and whose exit code is that of its last statement. */
function powershellScript(command: string): string {
  return [
    'try { $OutputEncoding = [Console]::OutputEncoding = New-Object Text.UTF8Encoding $false } catch { }',
    command,
    'if (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }',
  ].join('\n');
}
