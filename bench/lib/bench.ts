import * as os from 'node:os';

export interface BenchOptions {
  readonly name: string;
  /** The folder for downloads and copies that are kept between runs. */
  readonly home: string;
  /** Whether all benchmarks run, which together may take ten minutes. */
  readonly isOneOfAll: boolean;
}

/** One figure, what it is compared with, and its goal. */
export interface Row {
  readonly what: string;
  /** Ours, with its unit. */
  readonly value: string;
  /** What it is compared with, with its own figure, which was measured in the same minute. */
  readonly baseline?: string;
  /** Ours divided by the baseline. */
  readonly ratio?: number;
  /** The most that the ratio may be. */
  readonly limit?: number;
  /** The goal, if it is another one than the ratio's limit. */
  readonly target?: string;
  /** Whether the goal was met; left out if there is none. */
  readonly met?: boolean;
  /** The measurements behind it. */
  readonly samples?: Readonly<Record<string, readonly number[]>>;
}

/** One run of a benchmark: measures, prints the figures and keeps them for the report. */
export class Bench {
  readonly name: string;
  readonly home: string;
  /** The number of measurements of each thing. */
  readonly rounds = 3;
  readonly isOneOfAll: boolean;
  readonly #rows: Row[] = [];
  readonly #facts: Record<string, unknown> = {};

  constructor({ name, home, isOneOfAll }: BenchOptions) {
    this.name = name;
    this.home = home;
    this.isOneOfAll = isOneOfAll;
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

  /** All figures so far. */
  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Prints and records one figure. */
  row(row: Row): void {
    this.#rows.push(row);
    const goal = goalOf(row);
    const against = row.ratio === undefined ? '' : `: ${times(row.ratio)} of ${row.baseline}`;
    console.log(
      `${markOf(row)} ${row.what.padEnd(62)} ${row.value}${against}${goal === '' ? '' : ` (goal ${goal})`}`,
    );
  }

  /**
   * Prints and records the median of our times beside that of a baseline, in milliseconds.
   * @param limit the most that the ratio of the two may be
   */
  against(
    what: string,
    ours: readonly number[],
    { name, times: theirs }: { readonly name: string; readonly times: readonly number[] },
    limit?: number,
  ): void {
    const ratio = median(ours) / median(theirs);
    this.row({
      what,
      value: milliseconds(median(ours)),
      baseline: `${name} ${milliseconds(median(theirs))}`,
      ratio,
      ...(limit === undefined ? {} : { limit, met: ratio <= limit }),
      samples: { ours, theirs },
    });
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
    return {
      name: this.name,
      at: new Date().toISOString(),
      machine: machine(),
      facts: this.#facts,
      rows: this.#rows,
    };
  }
}

/** What the figures depend on, without anything that names this machine. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
}

export function machine(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  };
}

/** The goal of a figure as text; empty if it has none. */
export function goalOf({ limit, target }: Row): string {
  return target ?? (limit === undefined ? '' : `≤ ${limit}×`);
}

/** ✔ for a goal that was met, ✖ for one that was missed. */
export function markOf({ met }: Row): string {
  return met === undefined ? ' ' : met ? '✔' : '✖';
}

/** A ratio as text. */
export function times(ratio: number): string {
  return `${ratio.toFixed(ratio < 0.1 ? 3 : ratio < 10 ? 2 : 0)}×`;
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
