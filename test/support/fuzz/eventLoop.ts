import { Session, type Profiler } from 'node:inspector/promises';
import { PerformanceObserver } from 'node:perf_hooks';

/** A time during which no other code of the thread could run, in milliseconds. */
export interface Blockage {
  readonly wall: number;
  /** What this thread computed in that time, collecting garbage included. The rest waited: for the disk, or for other processes. */
  readonly cpu: number;
  /** How long garbage was collected. */
  readonly gc: number;
  /** How long code of the test itself ran, such as a scripted provider, and how long starting another process took. */
  readonly others: number;
  /** What was going on. */
  readonly during: string;
  /** The functions that ran longest, with those that they called: `name (file:line) milliseconds`. */
  readonly functions: readonly string[];
}

/** Every this many milliseconds the watch looks whether the event loop turns. */
const TICK = 5;

/** Watches how long the event loop of this thread is blocked while the code under test runs. */
export class EventLoopWatch {
  readonly blockages: Blockage[] = [];
  readonly #limit: number;
  readonly #pauses: { start: number; duration: number }[] = [];
  readonly #observer: PerformanceObserver;
  readonly #unrated: { start: number; end: number; cpu: number; during: string; from: number; to: number }[] =
    [];
  readonly #inspector = new Session();
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  #cpu = 0;
  #monotonic = 0;
  /** What runs at the moment, for the report. */
  during = '';

  /** @param limit blockages up to this long, in milliseconds, are not recorded. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#observer = new PerformanceObserver(list => {
      for (const { startTime, duration } of list.getEntries())
        this.#pauses.push({ start: startTime, duration });
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Begins to record what runs. */
  async open(): Promise<void> {
    this.#inspector.connect();
    await this.#inspector.post('Profiler.enable');
    await this.#inspector.post('Profiler.setSamplingInterval', { interval: 2_000 });
    await this.#inspector.post('Profiler.start');
  }

  start(): void {
    this.#mark();
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  /** To be called when the code under test has come to rest, before anything else is computed. */
  stop(): void {
    this.#tick();
    clearInterval(this.#timer);
  }

  /** Call it at the end: only then are all pauses of the garbage collection known. */
  async finish(): Promise<readonly Blockage[]> {
    this.stop();
    await new Promise(resolve => setTimeout(resolve, 50));
    this.#observer.disconnect();
    const { profile } = await this.#inspector.post('Profiler.stop');
    this.#inspector.disconnect();
    for (const { start, end, cpu, during, from, to } of this.#unrated) {
      const gc = this.#pauses
        .filter(pause => pause.start >= start - 1 && pause.start < end)
        .reduce((sum, { duration }) => sum + duration, 0);
      this.blockages.push({ wall: end - start, cpu, gc, during, ...spent(profile, from, to) });
    }
    return this.blockages;
  }

  #mark(): void {
    this.#last = performance.now();
    this.#monotonic = microseconds();
    this.#cpu = cpuNow();
  }

  #tick(): void {
    const now = performance.now();
    if (now - this.#last > this.#limit)
      this.#unrated.push({
        start: this.#last,
        end: now,
        from: this.#monotonic,
        to: microseconds(),
        cpu: cpuNow() - this.#cpu,
        during: this.during,
      });
    this.#mark();
  }
}

/** What this thread has computed so far, in milliseconds. */
function cpuNow(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The clock of the profiler. */
function microseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** How long our own code computed in a blockage, in milliseconds. */
export function ownTime({ cpu, gc, others }: Blockage): number {
  return cpu - gc - others;
}

/** How many functions of a blockage are named. */
const NAMED = 6;

/**
 * What ran between two times.
 * @returns the functions of our source that ran longest, with what they called, and how long `others` took.
 */
function spent(
  { nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile,
  from: number,
  to: number,
): Pick<Blockage, 'functions' | 'others'> {
  const byId = new Map(nodes.map(node => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id] as const)),
  );
  const times = new Map<string, number>();
  let others = 0;
  let at = startTime;
  samples.forEach((sample, index) => {
    const delta = timeDeltas[index] ?? 0;
    at += delta;
    if (at < from || at > to) return;
    let isStarting = false;
    const seen = new Set<string>(); // the innermost function first
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const { functionName, url, lineNumber } = byId.get(id)?.callFrame ?? {};
      isStarting ||= seen.size === 0 && url === 'node:internal/child_process';
      if (!url?.startsWith('file:')) continue;
      const file = url.replace(/^.*\/(?=(?:src|test|node_modules)\/)/, '');
      seen.add(`${functionName === '' ? 'anonymous' : functionName} (${file}:${(lineNumber ?? 0) + 1})`);
    }
    const [innermost] = seen;
    if (isStarting || innermost?.includes('(test/')) others += delta / 1_000;
    for (const name of seen) times.set(name, (times.get(name) ?? 0) + delta / 1_000);
  });
  const sorted = [...times].sort(([, a], [, b]) => b - a).filter(([name]) => !name.includes('(test/'));
  return { functions: sorted.slice(0, NAMED).map(([name, time]) => `${name} ${time.toFixed(0)}`), others };
}
