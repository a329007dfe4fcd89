import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { chartOf } from '../../bench/lib/chart.ts';
import { tableOf, withResults, type PublishedFigure, type Results } from '../../bench/lib/results.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');

const missed: PublishedFigure = {
  bench: 'b',
  figure: 'a | b <c>',
  ours: '3 ms',
  baseline: 'bare 2 ms',
  ratio: 1.5,
  limit: 1,
  goal: '≤ 1×',
  met: false,
};

test('the page about performance and its chart show the figures of bench/results.json', () => {
  const results = JSON.parse(read('bench/results.json')) as Results;
  const page = read('docs/performance.md');
  assert.equal(withResults(page, results), page);
  assert.equal(read('docs/performance.svg'), chartOf(results.figures));
});

test('the published results name neither this machine nor a path of it', () => {
  for (const file of ['bench/results.json', 'docs/performance.md', 'docs/performance.svg'])
    assert.doesNotMatch(read(file), /\/(?:home|root|tmp|Users|work)\/|[A-Z]:\\/, file);
});

test('a goal that was missed is marked in the table, on the page and in the chart', () => {
  const met = { ...missed, figure: 'quick', ratio: 0.5, met: true };
  const [, , first, second] = tableOf([missed, met]).split('\n');
  assert.match(first ?? '', /1\.50× +≤ 1× +✖$/);
  assert.match(second ?? '', /0\.50× +≤ 1× +✔$/);
  const chart = chartOf([missed, met]);
  assert.match(chart, /a \| b &lt;c&gt;/);
  assert.match(chart, /<rect class="missed"[^>]*>.*✖ 1\.50×/);
  const machine = { cpu: 'c', cores: 2, platform: 'p', node: 'n', vscode: 'v' };
  const results = { at: '2026-01-01', commit: 'abc', seconds: 61, machine, figures: [missed, met] };
  const page = withResults('before\n<!-- written by npm run bench -->\nold\n<!-- end -->\nafter', results);
  assert.match(
    page,
    /^before\n[^]*1 of 2 goals were met; 1 were missed[^]*\| a \\\| b <c> \| 3 ms[^]*after$/,
  );
  assert.doesNotMatch(page, /^old$/m);
});
