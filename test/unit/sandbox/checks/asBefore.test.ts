import { test } from 'node:test';
import assert from 'node:assert/strict';
import { resultText } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { create, modify, remove } from '../../../support/changes.ts';
import { CheckWorld, forever, type View } from '../../../support/checkWorld.ts';

const model = { actor: 'model', reason: 'done' } as const;

/** A suite: `old` always fails, and `capitals` unless `a.txt` is `a` or `A`. It reports what it does as TAP. */
function suite(view: View, more: Readonly<Record<string, boolean>> = {}): readonly [number, string] {
  const tests = Object.entries({ old: false, capitals: /^a$/i.test(view('a.txt') ?? ''), ...more });
  const lines = tests.map(([name, ok], n) => `${ok ? 'ok' : 'not ok'} ${n + 1} - ${name}`);
  return [tests.every(([, ok]) => ok) ? 0 : 1, [...lines, `1..${tests.length}`].join('\n')];
}

test('failures that are there without the preview do not block it, and card, model and ledger say so', async () => {
  const world = new CheckWorld('checked', { test: view => suite(view) });
  world.stage();
  world.stage({ changes: [create('b.txt', 'b')] });
  assert.equal(world.state('p2').kind, 'pending');
  const { results } = await world.checks.run(world.all, 'other');
  assert.deepEqual(
    results.map(({ outcome, failures, exitCode }) => ({ outcome, failures, exitCode })),
    [{ outcome: 'asBefore', failures: 1, exitCode: 1 }],
  );
  assert.deepEqual(world.marks('p1', 'p2'), ['test asBefore']);
  await world.resolve(model);
  assert.equal(world.state().kind, 'applied');
  assert.deepEqual(
    world.store
      .ledger()
      .at(-1)
      ?.checks?.map(({ name, outcome, failures }) => ({ name, outcome, failures })),
    [{ name: 'test', outcome: 'asBefore', failures: 1 }],
  );
});

test('the run without the previews costs two runs for each state of the disk, and only where it is asked for', async () => {
  const world = new CheckWorld('recommend', { test: view => suite(view) });
  world.stage();
  const previews = world.all;
  await world.checks.run(previews, 'other', { compares: false });
  assert.equal(world.ran.length, 1, 'at the end of a turn');
  assert.deepEqual(world.marks('p1'), ['test failed']);
  await world.checks.run(previews, 'other');
  assert.equal(world.ran.length, 3, 'the result that is known is compared');
  world.stage({ changes: [create('b.txt', 'b')] });
  await world.checks.run(world.all, 'other');
  assert.equal(world.ran.length, 4, 'on the same disk');
  world.put('c.txt', 'another program');
  await world.checks.refresh();
  assert.deepEqual(world.marks('p1', 'p2'), ['test asBefore (old)']);
  await world.checks.run(world.all, 'other');
  assert.equal(world.ran.length, 7, 'on another one');
});

for (const [what, second] of [
  ['fails', 'bad'],
  ['is gone, since it is not run any more', null],
] as const)
  test(`what one preview mends and the next breaks again ${what}: it does not land after the first`, async () => {
    const world = new CheckWorld('checked', {
      test: view => suite(view, view('b.txt') === undefined ? {} : { mended: view('b.txt') === 'good' }),
    });
    world.workspace.put('b.txt', 'bad');
    world.stage({ changes: [modify('b.txt', 'bad', 'good')] });
    await world.resolve(model);
    assert.equal(world.state('p1').kind, 'applied', 'one failure is mended');
    world.stage({
      changes: [second === null ? remove('b.txt', 'good') : modify('b.txt', 'good', second)],
    });
    const told = resultText(await world.resolve({ id: 'p2', ...model }));
    assert.equal(world.state('p2').kind, 'pending', told);
    assert.match(told, /test failed \(exit code 1\)/);
  });

test('a result of both is not one of the second, once the first has landed', async () => {
  const world = new CheckWorld('checked', {
    test: view => suite(view, { mended: view('b.txt') === 'good' && view('c.txt') === undefined }),
  });
  world.workspace.put('b.txt', 'bad');
  world.stage({ changes: [modify('b.txt', 'bad', 'good')] });
  world.stage({ changes: [create('c.txt', 'c')] });
  await world.checks.run(world.all, 'other');
  assert.deepEqual(world.marks('p1', 'p2'), ['test asBefore']);
  await world.resolve(model);
  assert.equal(world.state('p1').kind, 'applied');
  const told = resultText(await world.resolve({ id: 'p2', ...model }));
  assert.equal(world.state('p2').kind, 'pending', told);
  assert.equal(world.workspace.text('c.txt'), undefined);
});

for (const [what, baseline] of [
  ['differs from run to run', (_: View, n: number) => [1, n % 2 === 0 ? 'ok 1 - old' : 'not ok 1 - old']],
  ['ends with another exit code', (view: View) => [2, suite(view)[1]]],
  ['passes', () => [0, 'ok 1 - old\n1..1']],
  ['has no report', () => [1, 'old fails']],
  ['has a report that is cut off', (view: View) => [1, suite(view)[1].replace(/\n1\.\.\d+$/, '')]],
  ['says something else than the run with the preview', (view: View) => [1, suite(view)[1]]],
] as const)
  test(`where the run without the previews ${what}, what fails stays red`, async () => {
    let n = 0;
    const world = new CheckWorld('checked', {
      test: view => {
        if (view('a.txt') === 'a') {
          const [code = 1, text = ''] = baseline(view, ++n) as [number, string];
          return [code, what.startsWith('differs') ? `${text}\nok 2 - capitals\n1..2` : text];
        }
        const [code, text] = suite(view);
        return [code, what.startsWith('says') ? `warning: something is new\n${text}` : text];
      },
    });
    world.stage();
    await world.resolve(model);
    assert.equal(world.state().kind, 'pending');
    assert.deepEqual(world.marks('p1'), ['test failed']);
  });

test('where the run without the previews does not end, what fails stays red', async () => {
  const world = new CheckWorld();
  world.add('test', (view, signal) => (view('a.txt') === 'a' ? forever(signal) : suite(view)), {
    timeLimit: 1,
  });
  world.stage();
  await world.resolve(model);
  assert.equal(world.state().kind, 'pending');
  await world.resolve(model);
  assert.equal(world.ran.length, 2, 'it is not waited for again on the same disk');
});

test('where a file changes during the run without the previews, what fails stays red', async () => {
  const world = new CheckWorld('checked', {
    test: view => {
      if (view('a.txt') === 'a') world.put('c.txt', 'typed meanwhile');
      return suite(view);
    },
  });
  world.stage();
  await world.resolve(model);
  assert.equal(world.state().kind, 'pending');
});
