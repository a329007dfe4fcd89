import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../../src/agent/base/localiser.ts';
import { CommandRuns } from '../../../../src/agent/sandbox/commands/commandRuns.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { runInSandbox } from '../../../../src/agent/session/tools/command/runInSandbox.ts';
import { modify, textIn } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { planOf } from '../../../histories/sandboxPlaces.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';
import { MemoryPreviewLog, restoredStore } from '../../../support/testSession.ts';

const SESSION = 's1';
const names = Array.from({ length: 12 }, (_, n) => `src/${n}.txt`);
const middle = Array.from({ length: 8 }, (_, n) => `line ${n}\n`).join('');
const FILES = Object.fromEntries(names.map(name => [name, `first  \n${middle}last  \n`]));

/** A conversation on real files, with the engine of this machine. */
async function open(t: TestContext) {
  const world = await SandboxWorld.create('auto', FILES);
  t.after(() => world.remove());
  const store = restoredStore(new MemoryPreviewLog());
  const workspace = new DiskWorkspace(world.root);
  const invoker = new Invoker(store, workspace, () => 'apply');
  const overlay = new Overlay(store);
  const stage = (action: PendingAction): Preview => {
    const origin = { sessionId: SESSION, asksModel: false };
    return queueResolveHandler({ store, invoker, overlay, l10n: english }, action, origin).preview;
  };
  const run = async (command: string): Promise<readonly Preview[]> => {
    const sandbox = await world.sandboxes.of(SESSION);
    assert.ok(sandbox);
    const [view, one] = [overlay.of(SESSION), new CommandRuns().start('p', 60_000)];
    const before = store.all().length;
    const context = { pending: view, workspace: view.on(workspace), followUp: stage };
    await runInSandbox(sandbox, planOf(command, world.root), one, context);
    one.end();
    return store.all().slice(before);
  };
  const vote = (id: string, action: 'apply' | 'discard') =>
    invoker.resolve({ id, action, reason: 'r', actor: 'human' });
  const unchanged = (): void => {
    for (const [name, text] of Object.entries(FILES)) assert.equal(world.read(name), text, name);
    assert.equal(world.git('status', '--short'), '');
  };
  return { world, store, workspace, invoker, overlay, stage, run, vote, unchanged };
}

test('a command that deletes a folder becomes a preview of deletions; when it is discarded, nothing has happened', async t => {
  const { store, run, vote, unchanged } = await open(t);
  const [preview, ...others] = await run('rm -rf src');
  assert.ok(preview);
  assert.deepEqual(others, []);
  assert.deepEqual(
    preview.changes?.map(({ kind, path }) => `${kind} ${path}`).sort(),
    names.map(name => `delete ${name}`).sort(),
  );
  unchanged();
  await vote(preview.id, 'discard');
  assert.equal(store.get(preview.id)?.state.kind, 'discarded');
  unchanged();
  assert.deepEqual(await run('ls src | wc -l'), []);
});

test('a formatter over 12 files with pending edits becomes one preview, which is decided hunk by hunk', async t => {
  const { world, store, stage, run, vote, unchanged, ...rest } = await open(t);
  const edited = (text: string): string => text.replace('line 4', 'line four');
  const edit = stage({
    label: 'Edit',
    sourceToolName: 'test',
    changes: names.map(name => modify(name, FILES[name] ?? '', edited(FILES[name] ?? ''))),
  });
  const [preview, ...others] = await run(`sed -i 's/ *$//' src/*.txt`);
  assert.ok(preview);
  assert.deepEqual(others, []);
  assert.equal(preview.changes?.length, 12);
  assert.deepEqual(preview.dependsOn, [edit.id]);
  for (const change of preview.changes)
    assert.deepEqual(
      [textIn(change.before), textIn(change.after)],
      [edited(FILES[change.path] ?? ''), `first\n${edited(middle)}last\n`],
    );
  unchanged();

  await vote(edit.id, 'apply');
  const [path = ''] = names;
  const request = {
    id: preview.id,
    revision: store.get(preview.id)?.revision ?? 0,
    reason: 'r',
    ...({ action: 'apply', actor: 'human', chain: {} } as const),
  };
  await resolvePart({ store, ...rest }, request, { path, hunk: 0 });
  assert.equal(world.read(path), `first\n${edited(middle)}last  \n`);
  const left = store.list('oldestFirst').find(({ state }) => state.kind === 'pending');
  assert.equal(left?.changes?.length, 12);
  await vote(left?.id ?? '', 'discard');
  for (const name of names.slice(1)) assert.equal(world.read(name), edited(FILES[name] ?? ''), name);
});
