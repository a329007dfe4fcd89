import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test, type TestContext } from 'node:test';
import { AgentView } from '../../../../src/agent/commands/agentView/agentView.ts';
import { noOverlay } from '../../../../src/agent/commands/sandbox/sandboxes.ts';
import { Namespace } from '../../../../src/agent/commands/sandbox/namespace.ts';
import { removeTree } from '../../../../src/agent/commands/sandbox/entries.ts';
import type { FolderRoot } from '../../../../src/agent/preview/workspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const LIMITS = { bytes: 1e9, files: 1_000 };

/** Folders of a workspace that are in no repository, and a view of them in which a command has ended. */
async function ran(
  t: TestContext,
  names: Readonly<Record<string, string>>,
  command: string,
): Promise<AgentView> {
  const temp = await TempFolder.create();
  const folders: FolderRoot[] = [];
  for (const [name, at] of Object.entries(names)) {
    await temp.file(`${at}/a.txt`, name);
    folders.push({ name, fsPath: temp.at(at) });
  }
  const view = await AgentView.create(folders, temp.at('storage', 'view'), LIMITS);
  const { storage, folders: mounted, links } = view.mounts;
  const cwd = temp.at('w');
  const namespace = new Namespace({
    ...{ storage, folders: mounted, links: new Map(links), deleted: [], cwd },
    ...{ program: ['/bin/sh', '-c', command], environment: { PATH: '/usr/bin:/bin' } },
  });
  let output = '';
  namespace.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  t.after(async () => {
    await namespace.release();
    await removeTree(temp.root);
  });
  const { view: root } = await namespace.ended;
  assert.equal(await view.enter(root ?? assert.fail(output)), true);
  return view;
}

const temp = await TempFolder.create();
const obstacle = await noOverlay([], temp.root);
await temp.remove();

if (!obstacle)
  test('in several folders, also one in another, each file is named by its innermost folder, and gets what is decided', async t => {
    const folders = { one: 'w/one', inner: 'w/one/inner', two: 'w/two' };
    const view = await ran(t, folders, 'for at in one one/inner two; do echo new > $at/b.txt; done');
    const { effects, accept } = await view.collect();
    assert.deepEqual(effects.map(({ path }) => path).sort(), ['inner/b.txt', 'one/b.txt', 'two/b.txt']);
    await accept();
    assert.equal(await view.put('inner/b.txt', Buffer.from('decided')), true);
    assert.equal(await view.put('two/b.txt', null), true);
    assert.deepEqual((await view.collect()).effects, [], 'what was decided is no change of the agent');
  });

if (!obstacle)
  test('a file that the agent has changed since is not overwritten; what is no view is not entered', async t => {
    const view = await ran(t, { w: 'w' }, 'echo one > a.txt; echo b > b.txt');
    await (await view.collect()).accept();
    assert.equal(await (await AgentView.reopen(view.storage)).enter('/'), false);
    fs.writeFileSync(`${view.storage}/0/upper/a.txt`, 'two');
    assert.equal(await view.put('a.txt', Buffer.from('decided')), false);
    assert.equal(await view.put('b.txt', Buffer.from('decided')), true);
    const { effects } = await view.collect();
    assert.deepEqual(
      effects.map(({ path, base, theirs }) => [
        path,
        String(base instanceof Uint8Array && Buffer.from(base)),
        theirs instanceof Uint8Array && Buffer.from(theirs).toString(),
      ]),
      [['a.txt', String(Buffer.from('one\n')), 'two']],
    );
  });

test('more than is allowed is not copied, and nothing is left', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  for (const name of ['a', 'b', 'c']) await folder.file(`w/${name}`, name);
  const create = (limits: typeof LIMITS): Promise<AgentView> =>
    AgentView.create([{ name: 'w', fsPath: folder.at('w') }], folder.at('view'), limits);
  await assert.rejects(create({ ...LIMITS, files: 2 }), { name: 'TooLargeError' });
  await assert.rejects(create({ ...LIMITS, bytes: 2 }), { name: 'TooLargeError' });
  assert.equal(fs.existsSync(folder.at('view')), false);
});
