import * as os from 'node:os';

export interface BenchOptions {
  readonly name: string;
  /** Where downloads and copies may be kept between runs. */
  readonly home: string;
  /** How often each thing is measured. */
  readonly rounds: number;
}

/** One figure beside what it should be. */
export interface Row {
  readonly what: string;
  readonly value: string;
  readonly target?: string;
  /** Whether the target was met; left out for figures without one. */
  readonly met?: boolean;
  /** The measurements behind it. */
  readonly samples?: Readonly<Record<string, readonly number[]>>;
}

/** One run of a benchmark: measures, tells, and keeps what it told. */
export class Bench {
  readonly name: string;
  readonly home: string;
  readonly rounds: number;
  readonly #rows: Row[] = [];
  readonly #facts: Record<string, unknown> = {};

  constructor({ name, home, rounds }: BenchOptions) {
    this.name = name;
    this.home = home;
    this.rounds = rounds;
  }

  /** Targets that were not met. */
  get missed(): number {
    return this.#rows.filter(row => row.met === false).length;
  }

  /** Something that the figures depend on. */
  fact(name: string, value: unknown): void {
    this.#facts[name] = value;
  }

  /** A line that is not kept. */
  say(line: string): void {
    console.log(line);
  }

  /** Tells one figure. */
  row(row: Row): void {
    this.#rows.push(row);
    const mark = row.met === undefined ? ' ' : row.met ? '✔' : '✖';
    const target = row.target === undefined ? '' : ` (target ${row.target})`;
    console.log(`${mark} ${row.what.padEnd(62)} ${row.value}${target}`);
  }

  /** Tells the median of these times, in milliseconds, beside what it should be at most. */
  within(what: string, values: readonly number[], limit?: number): void {
    const value = median(values);
    this.row({
      what,
      value: milliseconds(value),
      ...(limit === undefined ? {} : { target: `≤ ${limit} ms`, met: value <= limit }),
      samples: { all: values },
    });
  }

  /**
   * Measures things in turn, so that whatever else the machine does touches all of them.
   * @returns the samples of each, in milliseconds unless the function gave another figure
   */
  async interleaved<K extends string>(
    things: Readonly<Record<K, (round: number) => Promise<number | undefined>>>,
    rounds = this.rounds,
  ): Promise<Record<K, number[]>> {
    const names = Object.keys(things) as K[];
    const samples = Object.fromEntries(names.map(name => [name, [] as number[]])) as Record<K, number[]>;
    for (let round = 0; round < rounds; round++) {
      for (const name of names) {
        const started = performance.now();
        const own = await things[name](round);
        samples[name].push(own ?? performance.now() - started);
      }
    }
    return samples;
  }

  /** All of it, for machines. */
  report(): object {
    const [cpu] = os.cpus();
    return {
      name: this.name,
      at: new Date().toISOString(),
      machine: {
        cpu: cpu?.model,
        cores: os.availableParallelism(),
        platform: process.platform,
        node: process.version,
      },
      facts: this.#facts,
      rows: this.#rows,
    };
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function milliseconds(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toFixed(2)} s` : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
