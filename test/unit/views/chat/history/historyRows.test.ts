import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ConversationTree } from '../../../../../src/agent/session/conversation/conversationTree.ts';
import {
  childrenOf,
  countAttached,
  countBelow,
  isCurrent,
  keyOf,
  PAGE,
  revertTargetOf,
  type HistoryRow,
} from '../../../../../src/views/chat/history/historyRows.ts';
import { TreeMaker } from '../../../../support/treeMaker.ts';

/** The whole drawing, each row with two spaces for each level. */
function drawing(tree: ConversationTree, row?: HistoryRow, indent = ''): string[] {
  return childrenOf(tree, row).flatMap(child => [
    `${indent}${nameOf(tree, child)}`,
    ...drawing(tree, child, `${indent}  `),
  ]);
}

function nameOf(tree: ConversationTree, row: HistoryRow): string {
  const span = (nodes: readonly number[]): string =>
    nodes.length < 2 ? `n${nodes[0]}` : `n${nodes[0]}–n${nodes.at(-1)}`;
  switch (row.kind) {
    case 'start':
      return tree.active === null ? 'start*' : 'start';
    case 'turn':
      return `turn ${span([...new Set([row.node, row.end])])}${isCurrent(tree, row) ? '*' : ''}`;
    case 'step':
      return `${span(row.nodes)}${isCurrent(tree, row) ? '*' : ''}`;
    case 'steps':
      return `${row.steps.length} steps${isCurrent(tree, row) ? '*' : ''}`;
    case 'branch':
      return `branch n${row.node}–n${row.tip} (${row.length}) ${row.tags.map(({ kind, text }) => `${kind}: ${text}`).join('; ')}`.trimEnd();
    case 'tag':
      return `tag ${row.tag.kind}`;
    case 'earlier':
      return `earlier ${row.from}–${row.to}`;
  }
}

/** The nodes that rows stand for. A step in a group is drawn below it. */
function nodesIn(rows: readonly HistoryRow[]): number[] {
  return rows
    .flatMap(row => (row.kind === 'turn' ? [row.node] : row.kind === 'step' ? row.nodes : []))
    .sort((a, b) => a - b);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

function everyRow(tree: ConversationTree, row?: HistoryRow): HistoryRow[] {
  return childrenOf(tree, row).flatMap(child => [child, ...everyRow(tree, child)]);
}

test('an empty conversation has no rows', () => {
  assert.deepEqual(drawing(new TreeMaker().tree), []);
});

test('rows are prompts, with the steps of their turns below: a result belongs to its call, calls alone are folded', () => {
  const maker = new TreeMaker();
  maker.user('q');
  maker.calls('', 'read_file', 'read_file');
  maker.calls('', 'search_text');
  maker.calls('I change it.', 'edit_file');
  maker.calls('', 'resolve');
  maker.says('done');
  maker.user('more');
  assert.deepEqual(drawing(maker.tree), [
    'turn n11*',
    'turn n0–n10',
    '  n10',
    '  n8–n9',
    '  n6–n7',
    '  2 steps',
    '    n4–n5',
    '    n1–n3',
    'start',
  ]);
});

test('a branch is nested below the step that it starts from, which is not folded then', () => {
  const maker = new TreeMaker();
  maker.user('q');
  maker.calls('', 'read_file');
  const [, result] = maker.calls('', 'read_file');
  assert.ok(result !== undefined);
  maker.says('dead end');
  maker.revert('failure', result, 'Generated.');
  const good = maker.says('two');
  maker.user('more');
  maker.says('three');
  maker.go(good);
  assert.deepEqual(drawing(maker.tree), [
    'turn n0–n6*',
    '  n6*',
    '    branch n7–n8 (2)',
    '      turn n7–n8',
    '        n8',
    '  n3–n4',
    '    branch n5–n5 (1) revert-lesson: Generated.',
    '      n5',
    '  n1–n2',
    'start',
  ]);
  const [turn] = childrenOf(maker.tree);
  assert.ok(turn?.kind === 'turn');
  assert.equal(countBelow(maker.tree, turn), 2);
  assert.equal(countAttached(maker.tree, good), 1);
  assert.equal(countAttached(maker.tree, 0), 0);
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
    'turn n0–n4*',
    '  branch n1–n3 (2) revert-outcome: Both.',
    '    turn n3',
    '    n1',
    '      branch n2–n2 (1)',
    '        turn n2',
    '  n4*',
    'start',
  ]);
});

test('before the first message: everything is a branch of the start, and can be switched to', () => {
  const maker = new TreeMaker();
  maker.user('q');
  const tip = maker.says('a');
  maker.go(null);
  assert.deepEqual(drawing(maker.tree), ['start*', '  branch n0–n1 (2)', '    turn n0–n1', '      n1']);
  maker.go(tip);
  assert.deepEqual(drawing(maker.tree), ['turn n0–n1*', '  n1*', 'start']);
});

test('a branch that is switched to becomes the trunk without its tag, and the old trunk becomes a branch', () => {
  const maker = new TreeMaker();
  const root = maker.user('q');
  const left = maker.says('one');
  maker.revert('failure', root, 'No.');
  maker.says('two');
  maker.go(left);
  assert.deepEqual(drawing(maker.tree), ['turn n0–n1*', '  branch n2–n2 (1)', '    n2', '  n1*', 'start']);
});

test('a branch may start in the middle of the results of an answer', () => {
  const maker = new TreeMaker();
  maker.user('q');
  const [answer] = maker.calls('', 'read_file', 'edit_file');
  maker.go(answer);
  assert.deepEqual(drawing(maker.tree), [
    'turn n0–n1*',
    '  n1*',
    '    branch n2–n3 (2)',
    '      n3',
    '      n2',
    'start',
  ]);
});

test('steering messages have no row, unless one is the current message or has something below it', () => {
  const maker = new TreeMaker();
  const tell = (): number =>
    maker.tree.append({ role: 'steering', kind: 'outcome', text: 'x', previewIds: [] }).id;
  maker.user('q');
  tell();
  const fork = tell();
  const end = maker.says('a');
  assert.deepEqual(drawing(maker.tree), ['turn n0–n3*', '  n3*', 'start']);
  maker.go(fork);
  assert.deepEqual(drawing(maker.tree), [
    'turn n0–n2*',
    '  n2*',
    '    branch n3–n3 (1)',
    '      n3',
    'start',
  ]);
  maker.says('b');
  maker.steering('a notice is for people too');
  assert.deepEqual(drawing(maker.tree), [
    'turn n0–n5*',
    '  n5*',
    '  n4',
    '  n2',
    '    branch n3–n3 (1)',
    '      n3',
    'start',
  ]);
  maker.go(end);
  assert.deepEqual(drawing(maker.tree)[0], 'turn n0–n3*');
});

test('a summary has a row where it was made', () => {
  const maker = new TreeMaker();
  maker.user('q');
  maker.says('a');
  maker.tree.append({ role: 'steering', kind: 'summary', text: 'x', previewIds: [], through: 0 });
  maker.says('b');
  assert.deepEqual(drawing(maker.tree), ['turn n0–n3*', '  n3*', '  n2', '  n1', 'start']);
});

test('a command between two turns has its own row, one within a turn is a step of it', () => {
  const maker = new TreeMaker();
  maker.local('/help');
  maker.user('q');
  maker.asks('', 'read_file');
  maker.local('/pending');
  maker.says('a');
  maker.local('/pending');
  maker.user('r');
  maker.local('/help');
  assert.deepEqual(drawing(maker.tree), [
    'n7*',
    'turn n6',
    'n5',
    'turn n1–n4',
    '  n4',
    '  n3',
    '  n2',
    'n0',
    'start',
  ]);
});

test('thousands of prompts are folded into pages on one level, with the newest one open', () => {
  const maker = new TreeMaker();
  for (let i = 0; i < 10 * PAGE + 7; i++) maker.user(String(i));
  const rows = childrenOf(maker.tree);
  assert.equal(rows.length, PAGE + 7 + 9 + 1);
  assert.deepEqual(rows[0], { kind: 'turn', node: 10 * PAGE + 6, end: 10 * PAGE + 6 });
  const folds = rows.filter(row => row.kind === 'earlier');
  assert.equal(folds.length, 9);
  const drawn = [...rows, ...folds.flatMap(fold => childrenOf(maker.tree, fold))];
  assert.deepEqual(nodesIn(drawn), upTo(10 * PAGE + 7));
  assert.equal(new Set(drawn.map(keyOf)).size, drawn.length);
});

test('thousands of steps of one turn are folded into pages too, alone or in a group', () => {
  for (const text of ['looking', '']) {
    const maker = new TreeMaker();
    maker.user('q');
    for (let i = 0; i < 3 * PAGE; i++) maker.calls(text, 'read_file');
    const rows = everyRow(maker.tree);
    assert.equal(rows.filter(row => row.kind === 'earlier').length, 2);
    assert.deepEqual(nodesIn(rows), upTo(6 * PAGE + 1));
    assert.equal(new Set(rows.map(keyOf)).size, rows.length);
  }
});

test('a row of before a change, which is asked for its children after it, has those that are there', () => {
  const maker = new TreeMaker();
  const root = maker.user('q');
  maker.says('one');
  maker.says('two');
  const [turn] = childrenOf(maker.tree);
  assert.ok(turn?.kind === 'turn');
  maker.go(root);
  assert.deepEqual(nodesIn(childrenOf(maker.tree, turn)), []);
  maker.says('three');
  assert.deepEqual(nodesIn(childrenOf(maker.tree, turn)), [3]);
});

test('reverting to a prompt leads to before it, to any other message to the message itself', () => {
  const maker = new TreeMaker();
  const first = maker.user('q');
  const answer = maker.says('a');
  const second = maker.user('r');
  assert.equal(revertTargetOf(maker.tree, first), null);
  assert.equal(revertTargetOf(maker.tree, answer), answer);
  assert.equal(revertTargetOf(maker.tree, second), answer);
});

test('random trees: every visible message has one row, and no two rows share a key', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 50; round++) {
    const maker = new TreeMaker();
    for (let step = 0; step < 40; step++) {
      const target = random(maker.tree.size + 1) - 1;
      const kind = random(6);
      if (kind === 0) maker.says(String(step));
      else if (kind === 1) maker.user(String(step));
      else if (kind === 2) maker.local('/help');
      else if (kind === 3) maker.calls(random(2) === 0 ? '' : 'x', 'read_file', 'edit_file');
      else if (maker.tree.size > 0)
        maker.go(target < 0 ? null : target, random(2) === 0 ? 'tangent' : null, 'x');
    }
    const rows = everyRow(maker.tree);
    assert.deepEqual(nodesIn(rows), upTo(maker.tree.size));
    assert.equal(new Set(rows.map(keyOf)).size, rows.length);
  }
});
