/** A file of the home folder and that of a view, without a view. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { SharedFile } from '../../../../src/agent/clients/run/sharedFile.ts';
import { PlainTree } from '../../../../src/agent/sandbox/view/plainTree.ts';
import { aroundDiskCalls } from '../../../support/diskCalls.ts';
import { Random } from '../../../support/fuzz/random.ts';
import { ModelDisk } from '../../../support/modelDisk.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** Views are mounted on no other system. */
const onLinux = { skip: process.platform !== 'linux' };

/** Two files that share {"a":1}. The one outside has another name, and a link to it. */
async function paths(t: TestContext): Promise<Record<'at' | 'outside' | 'view' | 'inView', string>> {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const [at, outside, view] = [temp.at('home', '.agent.json'), temp.at('home', 'real.json'), temp.at('view')];
  for (const folder of [path.dirname(at), view]) fs.mkdirSync(folder);
  fs.symlinkSync('real.json', at);
  replace(outside, { a: 1 }, 0o600);
  return { at, outside, view, inView: path.join(view, '.agent.json') };
}

function replace(file: string, content: object, mode = 0o644): void {
  fs.writeFileSync(`${file}.tmp`, JSON.stringify(content), { mode });
  fs.renameSync(`${file}.tmp`, file);
}

const textOf = (file: string): string => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');
const modeOf = (file: string): number => fs.statSync(file).mode & 0o777;

test(
  'a file that cannot be replaced, since it is mounted on its own, is written in place',
  onLinux,
  async t => {
    const { at, outside, view, inView } = await paths(t);
    replace(outside, { a: 'longer than what follows' }, 0o600);
    const { ino } = fs.statSync(outside);
    await aroundDiskCalls(
      ({ name, args, isPromised, make }) => {
        if (name === 'rename' && isPromised && String(args[1]).endsWith('/real.json'))
          return Promise.reject(Object.assign(new Error('busy'), { code: 'EBUSY' }));
        return make();
      },
      async () => {
        const shared = await SharedFile.start(at, view);
        replace(inView, { a: 2 });
        await shared.stop();
      },
    );
    assert.equal(textOf(outside), '{"a":2}');
    assert.deepEqual([fs.statSync(outside).ino, modeOf(outside)], [ino, 0o600]);
    assert.deepEqual(fs.readdirSync(path.dirname(outside)).sort(), ['.agent.json', 'real.json']);
  },
);

test('a lock that a killed program left in the view keeps nothing from getting out', onLinux, async t => {
  const { at, outside, view, inView } = await paths(t);
  const shared = await SharedFile.start(at, view);
  fs.mkdirSync(`${inView}.lock`);
  replace(inView, { a: 2 });
  await shared.stop();
  assert.equal(textOf(outside), '{"a":2}');
});

test('a lock that a killed program left outside is waited for until it counts as dead', onLinux, async t => {
  const { at, outside, view, inView } = await paths(t);
  const shared = await SharedFile.start(at, view);
  fs.mkdirSync(`${outside}.lock`);
  const sinceThen = new Date(Date.now() - 5_000);
  fs.utimesSync(`${outside}.lock`, sinceThen, sinceThen);
  replace(inView, { a: 2 });
  await shared.stop();
  assert.equal(textOf(outside), '{"a":2}');
  assert.equal(fs.existsSync(`${outside}.lock`), false);
});

test('a removed file is made again with the permission bits that it had', onLinux, async t => {
  const { at, outside, view, inView } = await paths(t);
  const shared = await SharedFile.start(at, view);
  replace(inView, { a: 2 });
  await polled('outside', () => textOf(outside) === '{"a":2}');
  fs.rmSync(outside);
  await polled('made again', () => fs.existsSync(outside));
  await shared.stop();
  assert.equal(modeOf(outside), 0o600);
});

test('what another program writes while the other file is written is seen', onLinux, async t => {
  const { at, outside, view, inView } = await paths(t);
  const write = PlainTree.prototype.write;
  const mock = t.mock.method(PlainTree.prototype, 'write', async function (this: PlainTree, ...args: never) {
    await write.apply(this, args);
    mock.mock.restore();
    replace(outside, { a: 2 });
  });
  const shared = await SharedFile.start(at, view);
  await shared.stop();
  assert.equal(textOf(inView), '{"a":2}');
});

test('a power cut leaves the file outside as it was, or as it is to be', onLinux, async t => {
  const { at, outside, view, inView } = await paths(t);
  const disk = new ModelDisk(path.dirname(outside));
  await disk.watch(async () => {
    const shared = await SharedFile.start(at, view);
    replace(inView, { a: 2 });
    await shared.stop();
  });
  for (let seed = 0; seed < 16; seed++) {
    disk.cut(disk.now, new Random(seed));
    assert.ok(['{"a":1}', '{"a":2}'].includes(textOf(outside)), `${seed}: ${textOf(outside)}`);
  }
});
