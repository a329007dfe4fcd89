import { execFile, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { processNow, readProcesses, systemProgram, type SeenProcess } from './processTable.ts';

/** How long processes may take to end by themselves before they are killed for good, in milliseconds. */
const GRACE_MS = 2_000;
/** How long they may take to end after that. */
const KILL_MS = 2_000;
/** How long `taskkill` may take. */
const TASKKILL_MS = 5_000;

/** The environment variable that identifies processes on Linux, however they detach. */
const MARK = 'REDLINE_RUN';

/** The processes that a child has started, as last seen. */
export interface LeftProcesses {
  /** How many were ended although the child itself had ended. */
  readonly ended: number;
  /** Processes that still run; `undefined` if the system does not list them. */
  readonly running: readonly SeenProcess[] | undefined;
}

/** The port to the operating system; tests have a double. */
export interface ProcessSystem {
  readonly platform: NodeJS.Platform;
  processes(): Promise<readonly SeenProcess[]>;
  /** @param isForced whether the processes get a signal that they cannot ignore; on Windows they always do. */
  signal(processes: readonly SeenProcess[], how: { readonly isForced: boolean }): Promise<void>;
}

/** Identifies a child and its descendants to another program, even once the one that started it has gone. */
export interface KnownProcesses extends Pick<SeenProcess, 'pid' | 'started'> {
  readonly mark: string;
}

/**
 * A child process and the processes that it has started, including those in the background or in sessions of their own, as far as
 * the system shows them. The child is given these {@link variables}, and leads a session (`detached`) on POSIX.
 */
export class StartedProcesses {
  readonly variables: Readonly<Record<string, string>>;
  readonly #system: ProcessSystem;
  #child: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode' | 'kill'> | undefined;
  #since = 0;
  /** When a child of another program started. A child of this one keeps its id until its end is known. */
  #started: number | undefined;

  constructor(system: ProcessSystem = thisSystem, mark: string = randomUUID()) {
    this.#system = system;
    this.variables = { [MARK]: mark };
  }

  /** The processes that another program has started. */
  static of({ mark, pid, started }: KnownProcesses, system: ProcessSystem = thisSystem): StartedProcesses {
    const found = new StartedProcesses(system, mark);
    found.#child = { pid, exitCode: null, signalCode: null, kill: () => false };
    found.#since = found.#started = started;
    return found;
  }

  /** The child has just been spawned. */
  own(child: ChildProcess): void {
    this.#child = child;
    const now = Math.floor(Date.now() / 1_000 - 1) * 1_000;
    this.#since = this.#system.platform === 'linux' ? (processNow(child.pid ?? 0)?.started ?? 0) : now;
  }

  /** For {@link of}; `undefined` if the child has ended, or the system does not list it. Never rejects. */
  async known(): Promise<KnownProcesses | undefined> {
    const all = await this.#system.processes().catch(() => []);
    const own = all.find(({ pid }) => pid === this.#child?.pid);
    return own && { mark: this.variables[MARK] ?? '', pid: own.pid, started: own.started };
  }

  /**
   * Ends them: asks first, and kills the rest after a short time. Always settles within seconds.
   * @param which `all`; or the `attached` ones, which share the session of the child: processes that left it are meant to go on. On
   *   Windows, none is attached.
   */
  async end(which: 'all' | 'attached'): Promise<LeftProcesses> {
    const ended = new Map<string, SeenProcess>();
    const begin = performance.now();
    try {
      for (let pause = 20; ; pause = Math.min(2 * pause, 400)) {
        const running = await this.#running();
        const wanted = running.filter(one => which === 'all' || this.#isAttached(one));
        for (const one of wanted) ended.set(`${one.pid} ${one.started}`, one);
        const passed = performance.now() - begin;
        if (wanted.length === 0) return this.#left(ended, running);
        if (passed > GRACE_MS + KILL_MS) {
          if (wanted.some(({ pid }) => pid === this.#child?.pid)) this.#killChild();
          return this.#left(ended, running);
        }
        await this.#system.signal(parentsFirst(wanted), { isForced: passed >= GRACE_MS });
        await new Promise(resolve => setTimeout(resolve, pause));
      }
    } catch {
      await this.#endChild();
      return { ended: 0, running: undefined };
    }
  }

  /** Ends the child, and the processes that the system can end with it; other processes that it started are unknown. */
  async #endChild(): Promise<void> {
    const { pid } = this.#child ?? {};
    if (pid === undefined || this.#hasEnded) return;
    const child = { pid, parent: 0, session: pid, started: this.#since, name: '' };
    await this.#system.signal([child], { isForced: true });
    this.#killChild();
  }

  /** The last resort, where the system's own means has failed: it needs no other program. */
  #killChild(): void {
    if (!this.#hasEnded) this.#child?.kill('SIGKILL');
  }

  get #hasEnded(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #left(ended: ReadonlyMap<string, SeenProcess>, running: readonly SeenProcess[]): LeftProcesses {
    const left = [...ended].filter(
      ([key, { pid }]) =>
        pid !== this.#child?.pid && !running.some(one => `${one.pid} ${one.started}` === key),
    );
    return { ended: left.length, running };
  }

  #isAttached({ session }: SeenProcess): boolean {
    return session !== 0 && session === this.#child?.pid;
  }

  async #running(): Promise<SeenProcess[]> {
    const leader = this.#child?.pid;
    if (this.#child === undefined || leader === undefined) return [];
    const table = (await this.#system.processes()).filter(({ started }) => started >= this.#since);
    const isLinux = this.#system.platform === 'linux';
    const first = table.find(({ pid }) => pid === leader);
    // Another program may have been given the id meanwhile. Where marks can be read, the leader of an old session need not be guessed.
    const isTaken =
      (this.#hasEnded || this.#started !== undefined) &&
      (first ? first.started !== this.#started : isLinux && this.#started !== undefined);
    const own = new Set<SeenProcess>();
    for (const one of table) {
      const isNear = !isTaken && [one.pid, one.session, one.parent].includes(leader);
      if (isNear || (isLinux && (await hasVariables(one, this.variables)))) own.add(one);
    }
    // Iterating over a set reaches entries added meanwhile.
    for (const parent of own)
      for (const one of table) if (one.parent === parent.pid && one.started >= parent.started) own.add(one);
    return [...own];
  }
}

/**
 * The processes in an order in which each comes after its parent. A shell that outlives its program reports the signal in the
 * output and goes on with its next command.
 */
function parentsFirst(processes: readonly SeenProcess[]): readonly SeenProcess[] {
  const pids = new Set(processes.map(({ pid }) => pid));
  const ordered = new Set(processes.filter(({ parent }) => !pids.has(parent)));
  // Iterating over a set reaches entries added meanwhile.
  for (const { pid } of ordered) for (const one of processes) if (one.parent === pid) ordered.add(one);
  // The table is not read at one moment: ids given out again may form a circle.
  return [...ordered, ...processes.filter(one => !ordered.has(one))];
}

async function hasVariables(
  { pid }: SeenProcess,
  variables: Readonly<Record<string, string>>,
): Promise<boolean> {
  // Environments of other users' processes cannot be read.
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return Object.entries(variables).every(([name, value]) => environment.includes(`${name}=${value}\0`));
}

/** The system that this program runs on. */
const thisSystem: ProcessSystem = {
  platform: process.platform,
  processes: () => readProcesses(),
  signal: async (processes, { isForced }) => {
    if (process.platform === 'win32') return taskkill(processes.map(({ pid }) => pid));
    for (const { pid, started } of processes) {
      if (process.platform === 'linux' && processNow(pid)?.started !== started) continue;
      try {
        process.kill(pid, isForced ? 'SIGKILL' : 'SIGTERM');
      } catch {
        // It has ended, or changed its user.
      }
    }
  },
};

/** Ends processes with their children on Windows. Processes that could not be ended are still listed. */
function taskkill(pids: readonly number[]): Promise<void> {
  const args = [...pids.flatMap(pid => ['/pid', String(pid)]), '/T', '/F'];
  return new Promise(resolve => {
    execFile(systemProgram('taskkill.exe'), args, { timeout: TASKKILL_MS, windowsHide: true }, () =>
      resolve(),
    );
  });
}
