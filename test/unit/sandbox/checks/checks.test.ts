import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bisect } from '../../../../src/agent/sandbox/checks/bisect.ts';
import type { Check } from '../../../../src/agent/sandbox/checks/check.ts';
import { sideOfText } from '../../../../src/agent/hold/preview/fileChange.ts';
import { resultText } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { create, modify } from '../../../support/changes.ts';
import { CheckWorld, forever } from '../../../support/checkWorld.ts';
import { Gate } from '../../../support/gate.ts';

const model = { actor: 'model', reason: 'done' } as const;

/** `a.txt` must be in capitals. */
const capitals = { test: (view: (path: string) => string | undefined) => (view('a.txt') === 'A' ? 0 : 1) };

test('a result is about the previews and files that it saw, and about nothing else', async () => {
  const world = new CheckWorld('recommend', capitals);
  world.stage();
  await world.checks.run(world.all, 'human');
  assert.deepEqual(world.marks('p1'), ['test passed']);
  world.put('b.txt', 'another program');
  await world.checks.refresh();
  assert.deepEqual(world.marks('p1'), ['test passed (old)']);
  world.put('b.txt', null);
  await world.checks.refresh();
  assert.deepEqual(world.marks('p1'), ['test passed'], 'what it saw is back');
});

test('a result is about the permission bits of the files that the previews change, too', async () => {
  const world = new CheckWorld('recommend', capitals);
  world.workspace.put('a.txt', 'a', 0o755);
  world.stage();
  world.stage({ changes: [create('b.txt', 'b')] });
  await world.checks.run(world.all, 'human');
  const isPassed = async (): Promise<void> => {
    await world.checks.refresh();
    assert.deepEqual(world.marks('p2'), ['test passed']);
  };
  for (const state of ['pending', 'applied']) {
    if (state === 'applied') await world.resolve({ id: 'p1' });
    await isPassed();
    world.workspace.put('a.txt', world.workspace.text('a.txt') ?? null, 0o644);
    await world.checks.refresh();
    assert.deepEqual(world.marks('p2'), ['test passed (old)'], state);
    world.workspace.put('a.txt', world.workspace.text('a.txt') ?? null, 0o755);
    await isPassed();
  }
});

test('bits that a preview sets are seen where it is pending and where it is applied', async () => {
  const world = new CheckWorld('recommend', { test: () => 0 });
  const text = sideOfText('a');
  world.stage({ changes: [{ kind: 'modify', path: 'a.txt', before: text, after: text, mode: 0o755 }] });
  world.stage({ changes: [create('b.txt', 'b')] });
  await world.checks.run(world.all, 'human');
  world.workspace.put('a.txt', 'a', 0o600);
  await world.resolve({ id: 'p1' });
  await world.checks.refresh();
  assert.equal(world.workspace.modeOf('a.txt'), 0o755);
  assert.deepEqual(world.marks('p2'), ['test passed']);
});

test('a result is no longer current at once when a person types, and is again when it is taken back', async () => {
  const world = new CheckWorld('recommend', capitals);
  world.stage();
  await world.checks.run(world.all, 'human');
  world.workspace.type('b.txt', 'x');
  world.files.fire();
  assert.deepEqual(world.marks('p1'), ['test passed (old)']);
  world.workspace.revert('b.txt');
  await world.checks.refresh();
  assert.deepEqual(world.marks('p1'), ['test passed']);
});

test('the files are looked at by one comparison at a time, and by one more for all that happens meanwhile', async t => {
  const world = new CheckWorld('recommend', capitals);
  world.stage();
  await world.checks.run(world.all, 'human');
  const gate = new Gate();
  let [looks, under, most] = [0, 0, 0];
  world.afterLook = async () => {
    looks += 1;
    most = Math.max(most, ++under);
    await gate.pass();
    under -= 1;
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let n = 0; n < 3; n++) {
    world.put('b.txt', `${n}`);
    t.mock.timers.tick(150);
    await gate.reached;
  }
  assert.deepEqual([looks, most], [1, 1]);
  gate.open();
  world.put('b.txt', null);
  await world.checks.refresh();
  assert.deepEqual([looks, most, world.marks('p1')], [2, 1, ['test passed']]);
  t.mock.timers.tick(150);
  await world.checks.refresh();
  assert.equal(looks, 3, 'what had happened was compared already');
});

test('a comparison that is overtaken makes no result current, and does not forget one that came meanwhile', async () => {
  const world = new CheckWorld('recommend', { ...capitals, other: () => 0 });
  world.stage();
  await world.checks.run(world.all, 'human', { names: ['test'] });
  const gate = new Gate();
  world.afterLook = () => gate.pass();
  const compared = world.checks.refresh();
  await gate.reached;
  world.afterLook = () => Promise.resolve();
  world.workspace.type('b.txt', 'x');
  world.files.fire();
  world.workspace.revert('b.txt');
  await world.checks.run(world.all, 'human', { names: ['other'] });
  gate.open();
  await compared;
  assert.deepEqual(world.marks('p1'), ['test passed (old)', 'other passed']);
  await world.checks.refresh();
  assert.deepEqual(world.marks('p1'), ['test passed', 'other passed']);
});

test('a result of several stays about the rest when one of them is applied, and not when one is discarded', async () => {
  const world = new CheckWorld('recommend', capitals);
  world.stage();
  world.stage({ changes: [create('b.txt', 'b')] });
  await world.checks.run(world.all, 'human');
  assert.deepEqual(
    world.checks.marksOf(world.all).map(({ together }) => together),
    [[]],
  );
  await world.resolve({ id: 'p2' });
  await world.checks.refresh();
  assert.deepEqual(world.marks('p1'), ['test passed']);
  world.stage({ changes: [create('c.txt', 'c')] });
  await world.checks.run(world.all, 'human');
  await world.resolve({ id: 'p3', action: 'discard' });
  assert.deepEqual(world.marks('p1'), ['test passed'], 'the first result is still right');
});

test('in the mode checked, what the checks have passed on lands, and the ledger says so', async () => {
  const world = new CheckWorld('checked', capitals);
  world.stage();
  assert.match(resultText(await world.resolve(model)), /^Applied: p\d+ \(Edit/);
  assert.equal(world.workspace.text('a.txt'), 'A');
  const [entry] = world.store.ledger();
  assert.deepEqual(
    entry?.checks?.map(({ name, outcome, exitCode }) => [name, outcome, exitCode]),
    [['test', 'passed', 0]],
  );
  assert.deepEqual(world.ran, ['run test']);
});

test('a result that is current is not found out again for a vote', async () => {
  const world = new CheckWorld('checked', capitals);
  world.stage();
  await world.checks.run(world.all, 'other');
  await world.resolve(model);
  assert.equal(world.state().kind, 'applied');
  assert.deepEqual(world.ran, ['run test']);
});

test('what does not pass is a recommendation, and the model is told which check says so', async () => {
  const world = new CheckWorld('checked', { ...capitals, lint: () => 3 });
  world.stage();
  const text = resultText(await world.resolve(model));
  assert.match(text, /^p1 \(Edit\) was not applied\. Your vote is kept as a recommendation/);
  assert.match(text, /lint failed \(exit code 3\)/);
  assert.doesNotMatch(text, /test passed/);
  assert.equal(world.workspace.text('a.txt'), 'a');
  assert.equal(world.checks.results.length, 2);
});

test('a person may apply what does not pass, and the ledger says that it did not', async () => {
  const world = new CheckWorld('checked', { test: () => 1 });
  world.stage();
  await world.checks.run(world.all, 'human');
  await world.resolve();
  assert.equal(world.state().kind, 'applied');
  assert.deepEqual(
    world.store.ledger()[0]?.checks?.map(({ outcome }) => outcome),
    ['failed'],
  );
});

test('the ledger says which other previews were applied where a check ran', async () => {
  const world = new CheckWorld('recommend', capitals);
  world.stage();
  world.stage({ changes: [create('b.txt', 'b')] });
  await world.checks.run(world.all, 'human');
  await world.resolve({ id: 'p1' });
  assert.deepEqual(
    world.store.ledger()[0]?.checks?.map(({ together }) => together),
    [['p2']],
  );
});

test('previews that pass only together land together with the last vote', async () => {
  const both = (view: (path: string) => string | undefined): number =>
    (view('a.txt') === 'A') === (view('b.txt') === 'b') ? 0 : 1;
  const world = new CheckWorld('checked', { test: both });
  world.stage();
  world.stage({ changes: [create('b.txt', 'b')] });
  assert.match(resultText(await world.resolve({ ...model, id: 'p1' })), /test failed/);
  assert.match(resultText(await world.resolve({ ...model, id: 'p2' })), /^Applied: p1 \(Edit\), p2 \(Edit\)/);
  assert.deepEqual(world.outcomes(), ['p1 apply applied', 'p2 apply applied']);
});

test('a mend lands together with what it mends, which the model has voted for and which failed alone', async () => {
  const world = new CheckWorld('checked', { test: view => (view('a.txt') === 'AA' ? 0 : 1) });
  world.stage();
  await world.resolve({ ...model, id: 'p1' });
  world.stage({ changes: [modify('a.txt', 'A', 'AA')] });
  assert.match(resultText(await world.resolve({ ...model, id: 'p2' })), /^Applied: p1 \(Edit\), p2 \(Edit\)/);
  assert.equal(world.workspace.text('a.txt'), 'AA');
});

test('a protected blocker that the model has voted for is not written with what builds on it', async () => {
  const world = new CheckWorld('checked', { test: () => 0 });
  world.stage({ changes: [create('.vscode/a.json', '1'), create('b.txt', 'b')] });
  await world.resolve({ ...model, id: 'p1' });
  world.stage({ changes: [modify('b.txt', 'b', 'B')] });
  await assert.rejects(
    world.resolve({ ...model, id: 'p2' }),
    /builds on previews that are still pending: p1/,
  );
  assert.deepEqual([world.state('p1').kind, world.state('p2').kind], ['pending', 'pending']);
  assert.deepEqual(world.ran, []);
});

test('conflict markers that the model voted for in another mode do not land with the next vote', async () => {
  const world = new CheckWorld('recommend', { test: () => 0 });
  const markers = '<<<<<<< current file\na\n=======\nb\n>>>>>>> proposed change\n';
  world.stage({ changes: [create('b.txt', markers)] });
  await world.resolve({ ...model, id: 'p1' });
  world.authority = 'checked';
  world.stage();
  await world.resolve({ ...model, id: 'p2' });
  assert.deepEqual([world.state('p1').kind, world.state('p2').kind], ['pending', 'applied']);
});

test('what another preview breaks lands alone', async () => {
  const world = new CheckWorld('checked', { test: view => (view('b.txt') === undefined ? 0 : 1) });
  world.stage({ changes: [create('b.txt', 'b')] });
  world.stage();
  await world.resolve({ ...model, id: 'p1' });
  await world.resolve({ ...model, id: 'p2' });
  assert.deepEqual([world.state('p1').kind, world.state('p2').kind], ['pending', 'applied']);
});

test('protected places stay a person’s, whatever the checks say', async () => {
  const world = new CheckWorld('checked', { test: () => 0 });
  world.stage({ changes: [create('.vscode/settings.json', '{}')] });
  await world.resolve(model);
  assert.equal(world.state().kind, 'pending');
  assert.deepEqual(world.ran, []);
});

for (const [why, change] of [
  ['not trusted', (world: CheckWorld) => void (world.isTrusted = false)],
  ['not isolated', (world: CheckWorld) => void (world.status = { engine: 'copy', isolated: false })],
  ['without a sandbox', (world: CheckWorld) => void (world.status = { engine: undefined, isolated: false })],
  [
    'with a check that no person approved',
    (world: CheckWorld) =>
      void (world.settings = world.settings.map(each => ({ ...each, isApproved: false }))),
  ],
] as const)
  test(`${why}, nothing runs and nothing lands by itself`, async () => {
    const world = new CheckWorld('checked', { test: () => 0 });
    change(world);
    world.stage();
    assert.match(resultText(await world.resolve(model)), /The checks cannot run by themselves here/);
    assert.equal(world.state().kind, 'pending');
    assert.deepEqual(world.ran, []);
  });

test('a check that fails is told, although another one waits for a person', async () => {
  const world = new CheckWorld('checked', { lint: () => 0, test: () => 1 });
  world.settings = world.settings.map(each => ({ ...each, isApproved: each.name === 'test' }));
  world.stage();
  assert.match(resultText(await world.resolve(model)), /Not every check passes with it: test failed/);
  assert.equal(world.state().kind, 'pending');
});

test('where the sandbox is not isolated, what a person ran counts', async () => {
  const world = new CheckWorld('checked', { test: () => 0 });
  world.status = { engine: 'copy', isolated: false };
  world.stage();
  await world.checks.run(world.all, 'human');
  assert.match(resultText(await world.resolve(model)), /^Applied: p\d+ \(Edit/);
  assert.deepEqual(world.ran, ['run test']);
});

test('without a check, or with none that concerns the files, nothing lands by itself', async () => {
  const world = new CheckWorld('checked');
  world.stage();
  assert.match(resultText(await world.resolve(model)), /The user has set no check that concerns its files/);
  world.add('test', () => 0, { files: '**/*.ts' });
  assert.match(resultText(await world.resolve(model)), /The user has set no check that concerns its files/);
  assert.deepEqual(world.ran, []);
});

test('a file that changes while a check runs: nothing lands', async () => {
  const gate = new Gate();
  const world = new CheckWorld('checked', { test: () => gate.pass().then(() => 0) });
  world.stage();
  const voting = world.resolve(model);
  await gate.reached;
  world.put('b.txt', 'another program');
  gate.open();
  assert.match(resultText(await voting), /Files changed while the checks ran/);
  assert.equal(world.state().kind, 'pending');
});

test('a preview that is revised while a check runs ends it, and the vote is refused as outdated', async () => {
  const world = new CheckWorld('checked', { test: (_view, signal) => forever(signal) });
  world.stage();
  const voting = world.resolve({ ...model, revision: 1 });
  while (world.ran.length === 0) await new Promise(setImmediate);
  await world.store.revise('p1', [modify('a.txt', 'a', 'B')], [], 'user');
  await assert.rejects(voting, /revision 2/);
  assert.equal(world.checks.results.at(-1)?.outcome, 'stopped');
});

test('a person is faster than the checks', async () => {
  const gate = new Gate();
  const world = new CheckWorld('checked', { test: () => gate.pass().then(() => 0) });
  world.stage();
  const voting = world.resolve(model);
  await gate.reached;
  await world.resolve({ action: 'discard' });
  gate.open();
  assert.match(resultText(await voting), /already resolved by the user/);
});

test('the mode is switched while the checks run: the vote is a recommendation', async () => {
  const gate = new Gate();
  const world = new CheckWorld('checked', { test: () => gate.pass().then(() => 0) });
  world.stage();
  const voting = world.resolve(model);
  await gate.reached;
  world.authority = 'recommend';
  gate.open();
  assert.match(resultText(await voting), /Your recommendation for p1 \(Edit\) is recorded/);
});

test('a file is protected while the checks run: the vote is a recommendation', async () => {
  const gate = new Gate();
  const world = new CheckWorld('checked', { test: () => gate.pass().then(() => 0) });
  world.stage();
  const voting = world.resolve(model);
  await gate.reached;
  world.workspace.isProtected = () => Promise.resolve(true);
  gate.open();
  assert.match(resultText(await voting), /Your recommendation for p1 \(Edit\) is recorded/);
});

test('a check that never ends is ended after its time limit, and the next one runs', async () => {
  const world = new CheckWorld('recommend');
  world.add('slow', (_view, signal) => forever(signal), { timeLimit: 0.05 });
  world.add('test', () => 0);
  world.stage();
  const { results } = await world.checks.run(world.all, 'human');
  assert.deepEqual(
    results.map(({ name, outcome }) => `${name} ${outcome}`),
    ['slow timedOut', 'test passed'],
  );
});

test('a check that passes and fails on the same files is told as flaky', async () => {
  let runs = 0;
  const world = new CheckWorld('recommend', { test: () => runs++ % 2 });
  world.stage();
  await world.checks.run(world.all, 'human');
  assert.equal(world.checks.marksOf(world.all)[0]?.isFlaky, false);
  await world.checks.run(world.all, 'human');
  assert.equal(world.checks.marksOf(world.all)[0]?.isFlaky, true);
});

test('a vote does not try again what has failed on the same files', async () => {
  let runs = 0;
  const world = new CheckWorld('checked', { test: () => (runs++ === 0 ? 1 : 0) });
  world.stage();
  await world.resolve(model);
  await world.resolve(model);
  assert.equal(world.state().kind, 'pending');
  assert.equal(runs, 1);
});

test('checks run one at a time, in order', async () => {
  let running = 0;
  const one = async (): Promise<number> => {
    assert.equal(++running, 1);
    await new Promise(setImmediate);
    running -= 1;
    return 0;
  };
  const world = new CheckWorld('recommend', { test: one, lint: one });
  world.stage();
  await Promise.all([world.checks.run(world.all, 'human'), world.checks.run(world.all, 'human')]);
  assert.equal(world.ran.length, 4);
});

for (const [what, change] of Object.entries({
  'has another command': world => void (world.settings = withAll(world, { command: 'run other' })),
  'is not approved any more': world => void (world.settings = withAll(world, { isApproved: false })),
  'is in a workspace that is not trusted any more': world => void (world.isTrusted = false),
} satisfies Record<string, (world: CheckWorld) => void>))
  test(`a check that ${what} is not run from scratch`, async () => {
    const world = new CheckWorld('recommend', capitals);
    world.stage();
    const report = await world.checks.run(world.all, 'human');
    assert.equal((await world.checks.runFromScratch(report, world.all)).size, 1);
    change(world);
    assert.equal((await world.checks.runFromScratch(report, world.all)).size, 0);
    assert.deepEqual(world.ran, ['run test', 'run test']);
  });

function withAll({ settings }: CheckWorld, change: Partial<Check>): Check[] {
  return settings.map(each => ({ ...each, ...change }));
}

test('stale and conflicted previews, and what builds on them, are not checked', async () => {
  const world = new CheckWorld('recommend', capitals);
  world.stage();
  world.stage({
    changes: [create('b.txt', '<<<<<<< current file\na\n=======\nb\n>>>>>>> proposed change\n')],
  });
  world.stage({ changes: [modify('a.txt', 'A', 'AA')] });
  assert.deepEqual(
    world.all.map(({ id }) => id),
    ['p1', 'p3'],
  );
  await world.store.markStale('p1', ['a.txt']);
  assert.deepEqual(
    world.all.map(({ id }) => id),
    [],
  );
});

for (const guilty of [1, 2, 3, 4, 5, 6, 7, 8])
  test(`the preview that breaks a check is found among eight in at most four runs: p${guilty}`, async () => {
    const world = new CheckWorld('recommend', {
      test: view => (view(`${guilty}.txt`) === undefined ? 0 : 1),
    });
    for (let n = 1; n <= 8; n++) world.stage({ changes: [create(`${n}.txt`, 'x')] });
    const found = await bisect(world.all, async first => (await world.checks.run(first, 'human')).results[0]);
    assert.equal(found.kind === 'found' && found.preview.id, `p${guilty}`);
    assert.ok(world.ran.length <= 4);
  });

test('a check that fails without any preview is told as broken before', async () => {
  const world = new CheckWorld('recommend', { test: () => 1 });
  world.stage();
  const found = await bisect(world.all, async first => (await world.checks.run(first, 'human')).results[0]);
  assert.equal(found.kind, 'brokenBefore');
});
