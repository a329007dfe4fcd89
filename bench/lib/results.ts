import { execFileSync } from 'node:child_process';
import { goalOf, machine, markOf, times, type Machine, type Row } from './bench.ts';

/** One figure as it is published. */
export interface PublishedFigure {
  readonly bench: string;
  readonly figure: string;
  readonly ours: string;
  readonly baseline?: string;
  readonly ratio?: number;
  readonly limit?: number;
  readonly goal?: string;
  readonly met?: boolean;
}

/** What `bench/results.json` holds. It names no paths and no machine, only what kind of machine it was. */
export interface Results {
  readonly at: string;
  /** The commit that was measured; `+` if files were changed since. */
  readonly commit: string;
  /** How long all of it took, in seconds. */
  readonly seconds: number;
  readonly machine: Machine & { readonly vscode: string };
  readonly figures: readonly PublishedFigure[];
}

export function published(bench: string, row: Row): PublishedFigure {
  const goal = goalOf(row);
  return {
    bench,
    figure: row.what,
    ours: row.value,
    ...(row.baseline === undefined ? {} : { baseline: row.baseline }),
    ...(row.ratio === undefined ? {} : { ratio: Number(row.ratio.toPrecision(3)) }),
    ...(row.limit === undefined ? {} : { limit: row.limit }),
    ...(goal === '' ? {} : { goal }),
    ...(row.met === undefined ? {} : { met: row.met }),
  };
}

/** @param vscode the version of VS Code in which what people feel was measured */
export function resultsOf(
  figures: readonly PublishedFigure[],
  { root, seconds, vscode }: { readonly root: string; readonly seconds: number; readonly vscode: string },
): Results {
  const at = new Date().toISOString().slice(0, 10);
  return {
    at,
    commit: commitOf(root),
    seconds: Math.round(seconds),
    machine: { ...machine(), vscode },
    figures,
  };
}

/** What a run of the benchmarks writes: of no importance for what was measured. */
const WRITTEN = ['bench/results.json', 'docs/performance.svg', 'docs/performance.md'];

function commitOf(root: string): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '.', ...WRITTEN.map(file => `:(exclude)${file}`));
    return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : '+'}`;
  } catch {
    return 'unknown'; // a copy without git
  }
}

const HEADINGS = ['figure', 'ours', 'baseline', 'ratio', 'goal', 'met'];

function cellsOf({ figure, ours, baseline = '', ratio, goal = '', met }: PublishedFigure): string[] {
  const mark = markOf({ what: figure, value: ours, ...(met === undefined ? {} : { met }) }).trim();
  return [figure, ours, baseline, ratio === undefined ? '' : times(ratio), goal, mark];
}

/** All figures as one table for a terminal. */
export function tableOf(figures: readonly PublishedFigure[]): string {
  const rows = [HEADINGS, ...figures.map(cellsOf)];
  const widths = HEADINGS.map((_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 3 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ');
  const rule = widths.map(width => '─'.repeat(width)).join('  ');
  return [line(HEADINGS), rule, ...rows.slice(1).map(line)].map(text => text.trimEnd()).join('\n');
}

/** The sentence that says of which machine and commit the figures are. */
function originOf({ at, commit, machine: m, seconds }: Results): string {
  const cpu = m.cpu.replace(/\s+/g, ' ');
  return `Measured on ${at} at commit \`${commit}\`: ${cpu}, ${m.cores} cores, ${m.platform}, Node ${m.node}, VS Code ${m.vscode}. All of it took ${Math.floor(seconds / 60)} min ${seconds % 60} s.`;
}

const BEGIN = '<!-- written by npm run bench -->';
const END = '<!-- end -->';

/** The document with these results between its marks. @throws if it has no marks. */
export function withResults(document: string, results: Results): string {
  const [start, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`The document has no “${BEGIN}” … “${END}”.`);
  const { figures } = results;
  const missed = figures.filter(({ met }) => met === false).length;
  const goals = figures.filter(({ met }) => met !== undefined).length;
  const escaped = (cells: readonly string[]): string =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const table = [HEADINGS, ['---', '---', '---', '--:', '---', '---'], ...figures.map(cellsOf)].map(escaped);
  const summary =
    missed === 0
      ? `All ${goals} goals were met.`
      : `${goals - missed} of ${goals} goals were met; ${missed} were missed (✖).`;
  const body = [BEGIN, `${originOf(results)} ${summary}`, '', ...table, ''].join('\n');
  return document.slice(0, start) + body + document.slice(end);
}
