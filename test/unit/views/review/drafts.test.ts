import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { Drafts } from '../../../../src/views/review/documents/drafts.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const a = 'redline-preview://p1/project/a.txt';
const b = 'redline-preview://p2/project/b.txt';

/** The drafts as a window finds them that opens now. */
async function opened(folder: string, logger = silentLogger): Promise<Drafts> {
  const drafts = new Drafts(folder, logger);
  await drafts.load();
  return drafts;
}

async function folderFor(t: TestContext): Promise<string> {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  return temp.at('drafts');
}

test('what was typed and not saved is there after a reload, with what it was typed on, until it is thrown away', async t => {
  const folder = await folderFor(t);
  const drafts = await opened(folder);
  drafts.set(a, { revision: 1, base: 'one', text: 'on' });
  drafts.set(a, { revision: 2, base: 'two', text: 'two typed' });
  drafts.set(b, { revision: 1, base: 'b' });
  await drafts.flush();

  const after = await opened(folder);
  assert.deepEqual(after.entries().toSorted(), [
    [a, { revision: 2, base: 'two', text: 'two typed' }],
    [b, { revision: 1, base: 'b' }],
  ]);
  assert.equal(after.delete(a), true);
  assert.equal(after.delete(a), false);
  await after.flush();
  assert.deepEqual((await opened(folder)).entries(), [[b, { revision: 1, base: 'b' }]]);
});

test('a draft that is damaged is logged and left alone, and costs no other one', async t => {
  const folder = await folderFor(t);
  const drafts = await opened(folder);
  drafts.set(a, { revision: 1, base: 'one', text: 'typed' });
  await drafts.flush();
  const damaged = path.join(folder, 'damaged.json');
  fs.writeFileSync(damaged, '{"uri":');
  const errors: string[] = [];
  const after = await opened(folder, { ...silentLogger, error: text => void errors.push(text) });
  assert.equal(after.get(a)?.text, 'typed');
  assert.match(errors.join(), /^The draft damaged\.json cannot be read/);
  assert.ok(fs.existsSync(damaged));
});

test('what cannot be stored is kept in memory, and logged', async t => {
  const folder = await folderFor(t);
  fs.writeFileSync(folder, 'a file stands where the folder would be');
  const errors: string[] = [];
  const drafts = await opened(folder, { ...silentLogger, error: text => void errors.push(text) });
  drafts.set(a, { revision: 1, base: 'one', text: 'typed' });
  await drafts.flush();
  assert.equal(drafts.get(a)?.text, 'typed');
  assert.match(errors.join(), /cannot be stored/);
});
