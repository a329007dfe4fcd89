/** Commands that do not want to end: see `hostile.pl`, which does that on x64 as it can, and without changing other processes elsewhere. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { AgentView } from '../../../../src/agent/sandbox/agentView/agentView.ts';
import { removeTree } from '../../../../src/agent/sandbox/view/entries.ts';
import { Namespace } from '../../../../src/agent/sandbox/view/namespace.ts';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { HOSTILE, livingIn, WAYS } from '../../../support/hostile.ts';
import { FREEZE_WORKER } from '../../../support/freezeWorker.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const probed = await TempFolder.create();
const obstacle = await whyNoOverlay([], probed.root);
await probed.remove();

/** A view of a folder in which `hostile.pl` lies, and a program that is about to run in it. */
async function hostile(t: TestContext, way: string, kind: 'command' | 'terminal'): Promise<Hostile> {
  const temp = await TempFolder.create();
  await temp.file('w/hostile.pl', fs.readFileSync(HOSTILE));
  const cwd = temp.at('w');
  const agents = await temp.folder('agents');
  const view = await AgentView.create([{ name: 'w', fsPath: cwd }], temp.at('view'), {
    bytes: 1e9,
    files: 1_000,
    worker: FREEZE_WORKER,
  });
  const { storage, folders, links } = view.mounts;
  const beat = path.join(kind === 'terminal' ? agents : cwd, 'beat');
  const namespace = new Namespace({
    storage,
    folders,
    links: new Map(links),
    deleted: [],
    cwd,
    program: ['/bin/sh', '-c', `perl hostile.pl ${way} beat 0 '${beat}'; exit 7`],
    environment: { PATH: '/usr/bin:/bin' },
    searchPath: '/usr/bin:/bin',
    ...(kind === 'terminal'
      ? { terminal: { writable: [agents], programs: [], readable: [], shown: view.mounts.shown } }
      : {}),
  });
  t.after(async () => {
    namespace.stop();
    await namespace.release();
    await removeTree(temp.root);
  });
  return { namespace, root: temp.root };
}

interface Hostile {
  readonly namespace: Namespace;
  /** It is in the arguments of all that was started. */
  readonly root: string;
}

suite('a command that does not want to end', { skip: obstacle !== undefined }, () => {
  for (const kind of ['command', 'terminal'] as const)
    for (const way of WAYS)
      test(`nothing of a ${kind} lives once it has ended, by ${way}`, async t => {
        const { namespace, root } = await hostile(t, way, kind);
        const { exitCode, view } = await namespace.ended;
        assert.deepEqual(livingIn(root), []);
        assert.equal(exitCode, 7);
        assert.ok(fs.existsSync(path.join(view ?? '', root, 'w/hostile.pl')), 'the view is still there');
        await namespace.release();
        assert.equal(fs.existsSync(path.join(view ?? '', root)), false);
      });

  test('nothing lives after Stop, although the first process cannot be ended by others', async t => {
    const { namespace, root } = await hostile(t, 'ptrace', 'command');
    await namespace.entered;
    namespace.stop();
    assert.equal((await namespace.ended).exitCode, undefined);
    assert.deepEqual(livingIn(root), []);
  });
});
