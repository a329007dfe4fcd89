import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { temporaryFolder } from '../../../../scripts/lib/cleanup.mjs';

/** What a Node process did, as `recorder.cjs` tells it. */
interface Act {
  readonly kind: 'thread' | 'connect' | 'datagram' | 'lookup';
  /** An address with its port, or a name; of a thread, the arguments of its process. */
  readonly to: string;
  readonly pid: number;
  readonly ppid: number;
  /** 0 is the main thread. */
  readonly thread: number;
  readonly stack: readonly string[];
}

/** What the Node processes of one VS Code do on the network, from their first line on. `recorder.cjs` says what is seen. */
export class NetworkLog {
  readonly #folder = temporaryFolder('redline-network-');

  constructor() {
    copyFileSync(path.join(import.meta.dirname, 'recorder.cjs'), path.join(this.#folder, 'recorder.cjs'));
  }

  /** The environment that a VS Code is to be started with. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--require ${JSON.stringify(path.join(this.#folder, 'recorder.cjs'))}` };
  }

  /**
   * Each place on the network that a process, its threads and the processes that it started have turned to, once, such as
   * `connect 127.0.0.1:80`, in the order of the first time.
   * @throws when the process is not recorded
   */
  contacts(pid: number): string[] {
    const acts = this.#acts(pid).filter(({ kind }) => kind !== 'thread');
    return [...new Set(acts.map(({ kind, to }) => `${kind} ${to}`))];
  }

  /** Fails, with the places in the code, unless a process turned to these places only. They are named as by `contacts`. */
  expect(pid: number, places: readonly string[]): void {
    const strange = this.#acts(pid).filter(
      ({ kind, to }) => kind !== 'thread' && !places.includes(`${kind} ${to}`),
    );
    const told = strange.map(({ kind, to, thread, stack }) => [`${kind} ${to}, thread ${thread}`, ...stack]);
    assert.deepEqual(this.contacts(pid), places, told.flat().join('\n'));
  }

  /** How many worker threads of a process have been recorded. */
  workers(pid: number): number {
    return this.#acts(pid).filter(one => one.kind === 'thread' && one.thread > 0 && one.pid === pid).length;
  }

  /** What a process and its descendants did. */
  #acts(pid: number): readonly Act[] {
    const all = this.#all();
    assert.ok(
      all.some(act => act.pid === pid),
      `the process ${pid} is not recorded`,
    );
    const family = new Set([pid]);
    // A process is told of after the one that started it.
    for (const act of all) if (family.has(act.ppid)) family.add(act.pid);
    return all.filter(act => family.has(act.pid));
  }

  #all(): readonly Act[] {
    const file = path.join(this.#folder, 'network.jsonl');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.filter(line => line !== '').map(line => JSON.parse(line) as Act);
  }
}
