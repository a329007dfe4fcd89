/** Makes the table of `npm run coverage`, and the list of what did not run. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { repoRoot } from '../lib/paths.mjs';
import { coverable } from './coverable.mjs';
import { runCounts } from './runCounts.mjs';

const KINDS = /** @type {const} */ (['lines', 'branches', 'functions']);

/**
 * @param {string} folder what the processes of a run wrote (`NODE_V8_COVERAGE`)
 * @param {string} root the folder of the sources, relative to the repository's root; files that never ran count, too
 * @returns {{ table: string, missed: string, percent: Record<'lines' | 'branches' | 'functions', number>, unreadable: string[] }}
 *   `missed` has a line for each line, branch and function that did not run; `unreadable` as in `runCounts`
 */
export function coverageReport(folder, root) {
  const names = fs.globSync(`${root}/**/*.ts`, { cwd: repoRoot }).sort();
  const sources = new Map(
    names.map(name => [path.join(repoRoot, name), fs.readFileSync(path.join(repoRoot, name), 'utf8')]),
  );
  const { counts, unreadable } = runCounts(folder, sources);
  const all = emptySums();
  /** @type {Map<string, ReturnType<typeof emptySums>>} */
  const folders = new Map();
  const missed = [];
  for (const [file, text] of sources) {
    const name = path.relative(repoRoot, file).replaceAll(path.sep, '/');
    const ofFolder = folders.get(path.posix.dirname(name)) ?? emptySums();
    folders.set(path.posix.dirname(name), ofFolder);
    const kinds = coverable(file, text);
    const textLines = text.split('\n');
    for (const kind of KINDS) {
      for (const { line, what, ran } of kinds[kind]) {
        const hit = ran(counts.get(file)) ? 1 : 0;
        for (const sums of [all, ofFolder]) {
          sums[kind].total++;
          sums[kind].hit += hit;
        }
        if (!hit) missed.push(`${name}:${line} ${what}: ${textLines[line - 1].trim()}`);
      }
    }
  }
  const rows = [...folders].filter(([, { lines }]) => lines.total > 0);
  return {
    table: [HEAD, ...rows.map(row), row(['all', all])].join('\n'),
    missed: `${missed.join('\n')}\n`,
    percent: Object.fromEntries(KINDS.map(kind => [kind, percentOf(all[kind])])),
    unreadable,
  };
}

const emptySums = () => Object.fromEntries(KINDS.map(kind => [kind, { hit: 0, total: 0 }]));
const percentOf = ({ hit, total }) => (total === 0 ? 100 : (100 * hit) / total);

const HEAD = [...KINDS.map(kind => kind.padStart(23)), '  folder'].join('');

const row = ([name, sums]) => [...KINDS.map(kind => cell(sums[kind])), `  ${name}`].join('');

/** Rounded down, so that 100 % means all. */
const cell = sums =>
  `${(Math.floor(percentOf(sums) * 10) / 10).toFixed(1)} %`.padStart(9) +
  `(${sums.hit}/${sums.total})`.padStart(14);
