/**
 * Files whose owner or group a user namespace cannot map. Root maps all, so this is shown as an ordinary user who is in a second
 * group: as root, the file runs itself as one.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { ViewWorld } from '../../../support/viewWorld.ts';

const ORDINARY = 65_534;
const SECOND_GROUP = 65_533;

const temp = await TempFolder.create();
const obstacle = await whyNoOverlay([], temp.root);
await temp.remove();

const other = process.getgroups?.().find(group => group !== process.getgid?.());
const isRoot = process.getuid?.() === 0;
test(
  'files of another group are found first and named; they can be read, and all others can be changed',
  { skip: obstacle !== undefined || isRoot || other === undefined },
  async t => {
    const world = await ViewWorld.create({ 'src/a.ts': 'one\n' });
    t.after(() => world.remove());
    for (let n = 0; n < 300; n++) world.write({ [`node_modules/m/${n}.js`]: `${n}\n` });
    for (const name of ['node_modules/m/7.js', 'src/a.ts'])
      fs.chownSync(world.at(name), process.getuid?.() ?? 0, other ?? assert.fail());
    const agent = world.start();
    assert.equal(await agent.run('cat node_modules/m/7.js'), '7');
    assert.match(
      agent.output,
      /^redline: In node_modules, files belong to another owner or group, and cannot be changed here\.$/m,
    );
    assert.match(await agent.run('echo x > node_modules/m/7.js'), /Value too large for defined data type/);
    assert.equal(await agent.run('echo x > node_modules/m/8.js; cat node_modules/m/8.js'), 'x');
    await agent.run('sed -i s/one/ONE/ src/a.ts');
    assert.deepEqual(await world.previews(1), ['sh: src/a.ts: one => ONE']);
    await agent.exit();
    assert.equal(world.read('node_modules/m/7.js'), '7\n');
  },
);

test('as an ordinary user', { skip: obstacle !== undefined || !isRoot }, async t => {
  const home = await TempFolder.create();
  t.after(() => home.remove());
  fs.chownSync(home.root, ORDINARY, ORDINARY);
  const asUser = (command: string, ...args: string[]) =>
    spawnSync(
      'setpriv',
      ['--reuid', `${ORDINARY}`, '--regid', `${ORDINARY}`, '--groups', `${ORDINARY},${SECOND_GROUP}`].concat(
        command,
        args,
      ),
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: home.root, TMPDIR: home.root } },
    );
  // A checkout in the home folder of root can only be read by root.
  if (asUser('test', '-r', import.meta.filename, '-a', '-x', process.execPath).status !== 0) return;
  const { status, stdout, stderr } = asUser(
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--test',
    import.meta.filename,
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /pass 1\b/);
});
