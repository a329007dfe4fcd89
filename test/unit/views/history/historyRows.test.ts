import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  childrenOf,
  countAttached,
  keyOf,
  PAGE,
  revertTargetOf,
  type HistoryRow,
  type HistorySource,
} from '../../../../src/views/history/historyRows.ts';
import { TreeMaker } from '../../../support/treeMaker.ts';

/** The whole drawing, each row with two spaces for each level. */
function drawing(tree: HistorySource, row?: HistoryRow, indent = ''): string[] {
  return childrenOf(tree, row).flatMap(child => [
    `${indent}${nameOf(tree, child)}`,
    ...drawing(tree, child, `${indent}  `),
  ]);
}

function nameOf(tree: HistorySource, row: HistoryRow): string {
  switch (row.kind) {
    case 'start':
      return tree.active === null ? 'start*' : 'start';
    case 'message':
      return `n${row.node}${row.node === tree.active ? '*' : ''}`;
    case 'branch':
      return `branch n${row.node}–n${row.tip} (${row.length}) ${row.tags.map(({ kind, text }) => `${kind}: ${text}`).join('; ')}`.trimEnd();
    case 'tag':
      return `tag ${row.tag.kind}`;
    case 'earlier':
      return `earlier ${row.from}–${row.to}`;
  }
}

test('an empty conversation has no rows', () => {
  assert.deepEqual(drawing(new TreeMaker().tree), []);
});

test('the trunk is flat with the newest first, and a branch is nested below the message that it starts from', () => {
  const maker = new TreeMaker();
  const prompt = maker.user('q');
  const [first] = maker.calls('one', 'read_file');
  maker.says('dead end');
  maker.revert('failure', first, 'Generated.');
  const good = maker.says('two');
  maker.user('more');
  maker.says('three');
  maker.go(good);
  assert.deepEqual(drawing(maker.tree), [
    'n4*',
    '  branch n5–n6 (2)',
    '    n6',
    '    n5',
    'n1',
    '  branch n2–n3 (2) revert-lesson: Generated. (abandoned: read_file)',
    '    n3',
    '    n2',
    'n0',
    'start',
  ]);
  assert.equal(countAttached(maker.tree, good), 1);
  assert.equal(countAttached(maker.tree, prompt), 0);
});

test('a branch has its own branches, and follows its newest child', () => {
  const maker = new TreeMaker();
  const root = maker.user('q');
  const one = maker.says('one');
  maker.user('a');
  maker.go(one);
  maker.user('b');
  maker.go(root, 'completion', 'Both.');
  maker.says('two');
  assert.deepEqual(drawing(maker.tree), [
    'n4*',
    'n0',
    '  branch n1–n3 (2) revert-outcome: Both.',
    '    n3',
    '    n1',
    '      branch n2–n2 (1)',
    '        n2',
    'start',
  ]);
});

test('before the first message: everything is a branch of the start, and can be switched to', () => {
  const maker = new TreeMaker();
  maker.user('q');
  const tip = maker.says('a');
  maker.go(null);
  assert.deepEqual(drawing(maker.tree), ['start*', '  branch n0–n1 (2)', '    n1', '    n0']);
  maker.go(tip);
  assert.deepEqual(drawing(maker.tree), ['n1*', 'n0', 'start']);
});

test('a branch that is switched to becomes the trunk without its tag, and the old trunk becomes a branch', () => {
  const maker = new TreeMaker();
  const root = maker.user('q');
  const left = maker.says('one');
  maker.revert('failure', root, 'No.');
  maker.says('two');
  maker.go(left);
  assert.deepEqual(drawing(maker.tree), ['n1*', 'n0', '  branch n2–n2 (1)', '    n2', 'start']);
});

test('steering messages have no row, unless one is the current message or has something below it', () => {
  const maker = new TreeMaker();
  const tell = (): number =>
    maker.tree.append({ role: 'steering', kind: 'outcome', text: 'x', previewIds: [] }).id;
  maker.user('q');
  tell();
  const fork = tell();
  const end = maker.says('a');
  assert.deepEqual(drawing(maker.tree), ['n3*', 'n0', 'start']);
  maker.go(fork);
  assert.deepEqual(drawing(maker.tree), ['n2*', '  branch n3–n3 (1)', '    n3', 'n0', 'start']);
  maker.says('b');
  maker.steering('a notice is for people too');
  assert.deepEqual(drawing(maker.tree), ['n5*', 'n4', 'n2', '  branch n3–n3 (1)', '    n3', 'n0', 'start']);
  maker.go(end);
  assert.deepEqual(drawing(maker.tree)[0], 'n3*');
});

test('a summary has a row where it was made', () => {
  const maker = new TreeMaker();
  maker.user('q');
  maker.says('a');
  maker.tree.append({ role: 'steering', kind: 'summary', text: 'x', previewIds: [], through: 0 });
  maker.says('b');
  assert.deepEqual(drawing(maker.tree), ['n3*', 'n2', 'n1', 'n0', 'start']);
});

test('thousands of messages are folded into pages on one level, with the newest one open', () => {
  const maker = new TreeMaker();
  for (let i = 0; i < 10 * PAGE + 7; i++) maker.says(String(i));
  const rows = childrenOf(maker.tree);
  assert.equal(rows.length, PAGE + 7 + 9 + 1);
  assert.deepEqual(rows[0], { kind: 'message', node: 10 * PAGE + 6 });
  const folds = rows.filter(row => row.kind === 'earlier');
  assert.equal(folds.length, 9);
  const drawn = [...rows, ...folds.flatMap(fold => childrenOf(maker.tree, fold))];
  const nodes = drawn.flatMap(row => (row.kind === 'message' ? [row.node] : []));
  assert.deepEqual(
    nodes.sort((a, b) => a - b),
    Array.from({ length: 10 * PAGE + 7 }, (_, i) => i),
  );
  assert.equal(new Set(drawn.map(keyOf)).size, drawn.length);
});

test('reverting to a prompt leads to before it, to any other message to the message itself', () => {
  const maker = new TreeMaker();
  const first = maker.user('q');
  const answer = maker.says('a');
  const second = maker.user('r');
  assert.deepEqual(revertTargetOf(maker.tree, first), { target: null, isPrompt: true });
  assert.deepEqual(revertTargetOf(maker.tree, answer), { target: answer, isPrompt: false });
  assert.deepEqual(revertTargetOf(maker.tree, second), { target: answer, isPrompt: true });
});

test('random trees: every visible message has one row, and no two rows share a key', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const everyRow = (tree: HistorySource, row?: HistoryRow): HistoryRow[] =>
    childrenOf(tree, row).flatMap(child => [child, ...everyRow(tree, child)]);
  for (let round = 0; round < 50; round++) {
    const maker = new TreeMaker();
    for (let step = 0; step < 40; step++) {
      const target = random(maker.tree.size + 1) - 1;
      if (random(3) > 0) maker.says(String(step));
      else if (maker.tree.size > 0)
        maker.go(target < 0 ? null : target, random(2) === 0 ? 'tangent' : null, 'x');
    }
    const rows = everyRow(maker.tree);
    const nodes = rows.flatMap(row => (row.kind === 'message' ? [row.node] : []));
    assert.deepEqual(
      nodes.sort((a, b) => a - b),
      Array.from({ length: maker.tree.size }, (_, i) => i),
    );
    assert.equal(new Set(rows.map(keyOf)).size, rows.length);
  }
});
