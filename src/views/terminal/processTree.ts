import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';

/** How long processes may take to end by themselves before they are killed for good, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Ends a process, what it has started, and the rest of its process group if it leads one: asks first, and kills what is left
 * after a short time. Processes that are gone are no error. On Windows, what an ended process has started cannot be found.
 */
export function endProcessTree(pid: number): void {
  if (process.platform === 'win32') {
    const [program, ...args] = taskkill(pid, process.env);
    spawn(program, args, { windowsHide: true }).on('error', () => undefined);
    return;
  }
  const all = [pid, ...descendantsOf(pid)];
  signalAll(pid, all, 'SIGTERM');
  setTimeout(() => signalAll(pid, new Set([...all, ...all.flatMap(descendantsOf)]), 'SIGKILL'), GRACE_MS);
}

/** The command that ends a process tree on Windows: by its full path, so that no program in the current folder is run instead. */
export function taskkill(pid: number, env: NodeJS.ProcessEnv): readonly [program: string, ...string[]] {
  const system = path.win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32');
  return [path.win32.join(system, 'taskkill.exe'), '/pid', String(pid), '/T', '/F'];
}

/** What becomes of the processes that an ended one has left, once they are to be ended by {@link endProcessTree}. */
export function leftoversOf(platform: NodeJS.Platform): 'ended' | 'running' {
  return platform === 'win32' ? 'running' : 'ended';
}

/** Whether processes of the group that this process led are still running. */
export function hasGroup(leader: number): boolean {
  if (process.platform === 'win32') return false;
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

function signalAll(leader: number, pids: Iterable<number>, signal: NodeJS.Signals): void {
  for (const target of [-leader, ...pids]) {
    try {
      process.kill(target, signal);
    } catch {
      // gone, or no group
    }
  }
}

/** The processes that a process has started and those that these have started; empty if the system does not tell. */
function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const [child, parent] of processes()) children.set(parent, [...(children.get(parent) ?? []), child]);
  const found: number[] = [];
  const open = [pid];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const child of children.get(at) ?? []) {
      if (found.includes(child)) continue;
      found.push(child);
      open.push(child);
    }
  }
  return found;
}

/** Every process with its parent. */
function processes(): [pid: number, parent: number][] {
  try {
    if (process.platform === 'linux') return readdirSync('/proc').flatMap(processIn);
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8', timeout: 2_000 });
    return table.split('\n').flatMap((row): [number, number][] => {
      const [pid, parent] = row.trim().split(/\s+/).map(Number);
      return pid && parent ? [[pid, parent]] : [];
    });
  } catch {
    return [];
  }
}

function processIn(name: string): [number, number][] {
  if (!/^\d+$/.test(name)) return [];
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    // The name of the program, in brackets, may contain anything.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [[Number(name), Number(parent)]];
  } catch {
    return []; // it has ended meanwhile
  }
}
