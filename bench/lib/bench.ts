import * as os from 'node:os';

export interface BenchOptions {
  readonly name: string;
  /** The folder for downloads and copies that are kept between runs. */
  readonly home: string;
  /** The number of measurements of each thing. */
  readonly rounds: number;
}

/** One figure and its target. */
export interface Row {
  readonly what: string;
  readonly value: string;
  readonly target?: string;
  /** Whether the target was met; left out if there is no target. */
  readonly met?: boolean;
  /** The measurements behind it. */
  readonly samples?: Readonly<Record<string, readonly number[]>>;
}

/** One run of a benchmark: measures, prints the figures and keeps them for the report. */
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

  /** The number of targets that were not met. */
  get missed(): number {
    return this.#rows.filter(row => row.met === false).length;
  }

  /** Records something that the figures depend on. */
  fact(name: string, value: unknown): void {
    this.#facts[name] = value;
  }

  /** Prints a line that is not part of the report. */
  say(line: string): void {
    console.log(line);
  }

  /** Prints and records one figure. */
  row(row: Row): void {
    this.#rows.push(row);
    const mark = row.met === undefined ? ' ' : row.met ? '✔' : '✖';
    const target = row.target === undefined ? '' : ` (target ${row.target})`;
    console.log(`${mark} ${row.what.padEnd(62)} ${row.value}${target}`);
  }

  /** Prints and records the median of these times, in milliseconds, and its upper limit. */
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
   * Measures several things in turn, so that other load on the machine affects all of them.
   * @returns the samples of each: the figure that its function returned, or else its duration in milliseconds
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

  /** Everything that was recorded, for JSON. */
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
