import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';

/** A process that was seen running. The system reuses ids: only id and start together identify a process. */
export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  /** Its session; on macOS, its process group; 0 on Windows. */
  readonly session: number;
  /**
   * Its start: on Linux in clock ticks since the system started, elsewhere in milliseconds since 1970, on macOS exact to the
   * second.
   */
  readonly started: number;
  /** The name of its program. */
  readonly name: string;
}

/** How long the system may take to list its processes, in milliseconds. */
const LIST_MS = 5_000;
/** How many files of `/proc` are read at once, so that the host has turns for other work. */
const AT_ONCE = 16;

/**
 * Lists the processes that run now, in one pass. Zombies, which have ended but were not waited for, are left out.
 * @param list runs a program that lists them, and returns its output.
 * @throws if the system does not list them.
 */
export async function readProcesses(
  platform: NodeJS.Platform = process.platform,
  list: typeof outputOf = outputOf,
): Promise<SeenProcess[]> {
  if (platform === 'linux') return readProc();
  if (platform === 'win32') {
    const rows = parseRows(await list(...CIM), /^(\d+) (\d+) (\d+)() (.*)$/);
    // A PowerShell without permission to ask prints nothing, and exits with success.
    if (rows.length === 0) throw new Error('Windows does not list its processes.');
    return rows;
  }
  return parseRows(
    await list('ps', ['-A', '-o', 'pid=,ppid=,lstart=,pgid=,stat=,comm=']),
    /^\s*(\d+)\s+(\d+)\s+(\w+ \w+ +\d+ [\d:]+ \d+)\s+(\d+)\s+[^Z\s]\S*\s+(.*)$/,
  );
}

/** A process of Linux as it is at this moment; `undefined` if it has ended. */
export function processNow(pid: number): SeenProcess | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The path of a program of Windows itself, so that no program in the current folder is run instead. */
export function systemProgram(name: string, env: NodeJS.ProcessEnv = process.env): string {
  return path.win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', name);
}

const CIM = [
  systemProgram('WindowsPowerShell\\v1.0\\powershell.exe'),
  [
    '-NoProfile',
    '-NonInteractive',
    '-Command',
    '[Console]::OutputEncoding=[Text.Encoding]::UTF8; Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate,Name | Where-Object CreationDate | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $(([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds()) $($_.Name)" }',
  ],
] as const;

function outputOf(program: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C' };
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { env, timeout: LIST_MS, windowsHide: true, maxBuffer: 10_000_000 },
      (error, output) => (error ? reject(new Error(error.message)) : resolve(output)),
    );
  });
}

/** @param row matches the id, the parent, the start, the session and the name. */
function parseRows(table: string, row: RegExp): SeenProcess[] {
  return table.split(/\r?\n/).flatMap(line => {
    const [, pid, parent, start = '', session, name = ''] = row.exec(line) ?? [];
    const started = /^\d+$/.test(start) ? Number(start) : Date.parse(start);
    return pid
      ? [{ pid: Number(pid), parent: Number(parent), session: Number(session ?? 0), started, name }]
      : [];
  });
}

async function readProc(): Promise<SeenProcess[]> {
  const ids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const found: SeenProcess[] = [];
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      // It may have ended meanwhile.
      const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
      const one = parseStat(Number(id), stat);
      if (one) found.push(one);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return found;
}

/** @param stat its line in `/proc` @returns `undefined` once it has ended */
export function parseStat(pid: number, stat: string): SeenProcess | undefined {
  // The name of the program, in brackets, may contain anything.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const [state, parent, , session] = fields;
  if (end < 0 || state === undefined || 'ZX'.includes(state)) return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, end);
  return { pid, parent: Number(parent), session: Number(session), started: Number(fields[19]), name };
}
