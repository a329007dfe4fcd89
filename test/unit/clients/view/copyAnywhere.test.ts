/** An agent that works in a copy, on every system: it needs no shell. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { UnsavedEditorError } from '../../../../src/agent/hold/preview/errors.ts';
import { AgentView } from '../../../../src/agent/sandbox/agentView/agentView.ts';
import { mountFor } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { ViewWorld } from '../../../support/viewWorld.ts';

const FILES = { 'src/a.ts': 'one\ntwo\nthree\n', 'src/b.ts': 'b\n', 'dos.txt': 'first\r\nsecond\r\n' };

async function opened(t: TestContext): Promise<ViewWorld> {
  const world: ViewWorld = await ViewWorld.create(FILES, {
    mount: () => mountFor([{ name: 'w', fsPath: world.root }], world.storage, 'copy'),
  });
  t.after(() => world.remove());
  return world;
}

/** What each preview changes, without the name of the agent. */
async function changes(world: ViewWorld, count: number): Promise<readonly string[]> {
  return (await world.previews(count)).map(each => each.replace(/^.*?: /, ''));
}

suite('an agent in a copy, on this system', () => {
  test('its edits, deletions and new files are previews; what is decided goes back into the copy', async t => {
    const world = await opened(t);
    const agent = world.startNode();
    assert.equal(
      await agent.run('process.cwd()'),
      path.join(fs.realpathSync(world.storage), 'copies-1', path.basename(world.root)),
    );
    await agent.run(
      `fs.writeFileSync('src/a.ts', 'ONE\\ntwo\\nthree\\n'); fs.rmSync('src/b.ts'); fs.writeFileSync('new.ts', 'new')`,
    );
    assert.deepEqual(await changes(world, 1), [
      'new.ts: ∅ => new; src/a.ts: one\ntwo\nthree => ONE\ntwo\nthree; src/b.ts: b => ∅',
    ]);
    assert.equal(world.git('status', '--porcelain'), '');
    await world.votesOnFiles('p1', { apply: ['new.ts'], discard: ['src/b.ts', 'src/a.ts'] });
    await world.rest();
    assert.equal(
      await agent.run(`fs.readFileSync('src/b.ts', 'utf8') + fs.readFileSync('src/a.ts', 'utf8')`),
      'b\none\ntwo\nthree',
    );
    assert.equal(world.read('new.ts'), 'new');
    assert.equal(await agent.exit(3), 3);
    await polled('the copy to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  test('it can start in a subfolder; git has a repository of its own, and ignored files stay in the copy', async t => {
    const world = await opened(t);
    world.write({ 'node_modules/m/a.js': 'old', 'x.log': 'old' });
    const agent = world.startNode(world.at('src'));
    const git = (command: string): Promise<string> =>
      agent.run(
        `child_process.execSync('git ${command}', { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })`,
      );
    const folder = path.dirname(await agent.run('process.cwd()'));
    assert.equal(path.basename(folder), 'work space');
    assert.equal(path.resolve(await git('rev-parse --show-toplevel')), folder);
    assert.equal(path.resolve(await git('rev-parse --absolute-git-dir')), path.join(folder, '.git'));
    assert.equal(await git('status --porcelain'), '');
    assert.equal(await agent.run(`fs.readFileSync('../node_modules/m/a.js', 'utf8')`), 'old');
    await agent.run(
      `fs.writeFileSync('../node_modules/m/a.js', 'new'); fs.writeFileSync('../x.log', 'new'); fs.mkdirSync('../src/deep'); fs.writeFileSync('../src/deep/c.ts', 'c')`,
    );
    await git('add -A');
    await git('-c user.name=A -c user.email=a@b commit -qm inside');
    assert.deepEqual(await changes(world, 1), ['src/deep/c.ts: ∅ => c']);
    await world.rest();
    const told = await agent.run(`fs.readFileSync('../REDLINE.md', 'utf8')`);
    const stayed = /^Git ignores these, so they stay in this view: (.*)\.$/m.exec(told)?.[1]?.split(', ');
    assert.deepEqual(stayed?.sort(), ['node_modules', 'x.log'], told);
    await agent.exit();
    assert.match(agent.output, /1 commit was not taken/);
    assert.equal(world.read('node_modules/m/a.js'), 'old');
    assert.equal(world.git('log', '--oneline').trim().split('\n').length, 1);
  });

  test('line endings stay as they are, and a file that is moved is one change', async t => {
    const world = await opened(t);
    const agent = world.startNode();
    await agent.run(`fs.appendFileSync('dos.txt', 'third\\r\\n'); fs.renameSync('src/b.ts', 'c.ts')`);
    assert.deepEqual(await changes(world, 1), [
      'src/b.ts → c.ts: b => b; dos.txt: first\r\nsecond => first\r\nsecond\r\nthird',
    ]);
    await world.vote('p1', 'apply');
    assert.equal(world.read('dos.txt'), 'first\r\nsecond\r\nthird\r\n');
    assert.equal(world.read('c.ts'), 'b\n');
    assert.equal(world.read('src/b.ts'), undefined);
    await agent.exit();
  });

  test('a file whose name changes its case is one change, which can be applied, also on a disk that ignores case', async t => {
    const world = await opened(t);
    const isOneName = fs.existsSync(world.at('SRC'));
    const agent = world.startNode();
    // Wine changes no name to itself in another case at once.
    const renamed = (from: string, to: string): string =>
      `fs.renameSync('${from}', 'between'); fs.renameSync('between', '${to}')`;
    await agent.run(
      `${renamed('dos.txt', 'DOS.txt')}; ${renamed('src/a.ts', 'src/A.ts')}; fs.writeFileSync('src/A.ts', 'one\\nTWO\\nthree\\n')`,
    );
    assert.deepEqual(await changes(world, 1), [
      isOneName
        ? 'src/a.ts: one\ntwo\nthree => one\nTWO\nthree'
        : 'dos.txt → DOS.txt: first\r\nsecond => first\r\nsecond; src/A.ts: ∅ => one\nTWO\nthree; src/a.ts: one\ntwo\nthree => ∅',
    ]);
    await world.vote('p1', 'apply');
    assert.equal(world.read('src/A.ts'), 'one\nTWO\nthree\n');
    await agent.exit();
    assert.equal(world.store.all().length, 1);
  });

  test('a file that the agent has open gets what was decided, at the latest once it is closed', async t => {
    const world = await opened(t);
    const agent = world.startNode();
    await agent.run(
      `fs.writeFileSync('src/a.ts', 'ONE\\n'); globalThis.opened = fs.openSync('src/a.ts', 'r')`,
    );
    await changes(world, 1);
    await world.vote('p1', 'discard');
    await world.rest();
    await agent.run('fs.closeSync(opened)');
    await world.rest();
    assert.equal(
      await agent.run(`fs.readFileSync('src/a.ts', 'utf8')`),
      FILES['src/a.ts'].trim(),
      world.troubles.join(),
    );
    await agent.exit();
    await polled('the copy to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  test('a file that cannot be written for now holds up no other one; agent and person hear of it, and it follows', async t => {
    const world = await opened(t);
    const agent = world.startNode();
    await agent.run(`for (const at of ['src/a.ts', 'src/b.ts']) fs.writeFileSync(at, 'new')`);
    await changes(world, 1);
    const put = AgentView.prototype.put;
    const { mock } = t.mock.method(
      AgentView.prototype,
      'put',
      async function (this: AgentView, ...args: Parameters<typeof put>) {
        if (args[0] === 'src/a.ts') throw Object.assign(new Error('EPERM: rename'), { code: 'EPERM' });
        return put.apply(this, args);
      },
    );
    await world.vote('p1', 'discard', 'Not so.');
    await world.rest();
    const both = `fs.readFileSync('src/a.ts', 'utf8') + fs.readFileSync('src/b.ts', 'utf8')`;
    assert.equal(await agent.run(both), 'newb');
    const told = await agent.run(`fs.readFileSync('REDLINE.md', 'utf8')`);
    assert.match(told, /Not so\./);
    assert.match(told, /^Not yet as the user decided, .* has it open: src\/a\.ts\.$/m);
    assert.deepEqual(world.troubles, ['EPERM: rename']);
    mock.restore();
    await world.rest();
    assert.equal(await agent.run(both), 'one\ntwo\nthree\nb');
    assert.doesNotMatch(await agent.run(`fs.readFileSync('REDLINE.md', 'utf8')`), /Not yet/);
    await agent.exit();
  });

  test('a decision whose file cannot be read for now, such as in a notebook with unsaved changes, follows later', async t => {
    const world = await opened(t);
    const agent = world.startNode();
    await agent.run(`for (const at of ['src/a.ts', 'src/b.ts']) fs.writeFileSync(at, 'new')`);
    await changes(world, 1);
    const read = DiskWorkspace.prototype.read;
    const { mock } = t.mock.method(
      DiskWorkspace.prototype,
      'read',
      async function (this: DiskWorkspace, at: string) {
        if (at === 'src/a.ts') throw new UnsavedEditorError(at);
        return read.call(this, at);
      },
    );
    await world.vote('p1', 'discard', 'Not so.');
    await world.rest();
    const both = `fs.readFileSync('src/a.ts', 'utf8') + fs.readFileSync('src/b.ts', 'utf8')`;
    assert.equal(await agent.run(both), 'newb');
    assert.match(await agent.run(`fs.readFileSync('REDLINE.md', 'utf8')`), /^Not yet as .*: src\/a\.ts\.$/m);
    mock.restore();
    await world.rest();
    assert.equal(await agent.run(both), 'one\ntwo\nthree\nb');
    await agent.exit();
  });

  test('a window that is reloaded goes on where it was; what a killed program left is taken', async t => {
    const world = await opened(t);
    const agent = world.startNode();
    await agent.run(`fs.writeFileSync('one.ts', 'one')`);
    await changes(world, 1);
    await world.closeWindow();
    await agent.run(`fs.writeFileSync('two.ts', 'two')`);
    assert.equal(await world.openWindow(), true);
    assert.equal((await changes(world, 2))[1], 'two.ts: ∅ => two');
    await agent.run(`fs.writeFileSync('three.ts', 'three')`);
    agent.kill();
    await agent.ended;
    assert.equal((await changes(world, 3))[2], 'three.ts: ∅ => three');
    await polled('the copy to be gone', () => fs.readdirSync(world.storage).length === 0);
  });
});
