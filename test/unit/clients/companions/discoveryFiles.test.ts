import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { leaveWord } from '../../../../src/agent/clients/companions/discoveryFiles.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const skip = process.platform === 'win32' && 'Windows has no modes';
const before = process.env['TMPDIR'];
/** What `os.tmpdir()` returns during a test. */
let shared: string;

let folder: TempFolder;

beforeEach(async () => {
  folder = await TempFolder.create();
  shared = process.env['TMPDIR'] = await folder.folder('shared');
});
afterEach(async () => {
  await folder.remove();
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
});

const leave = () => leaveWord({ file: path.join(shared, 'agent', 'ide', 'a.json'), content: { token: 'x' } });

test('a file in a folder of our own is for us alone, and goes', { skip }, async () => {
  const remove = await leave();
  const file = path.join(shared, 'agent', 'ide', 'a.json');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.join(shared, 'agent')).mode & 0o777, 0o700);
  await remove();
  assert.equal(fs.existsSync(file), false);
});

for (const depth of ['agent', 'agent/ide'])
  test(`none is left where others may exchange ${depth}`, { skip }, async () => {
    fs.mkdirSync(path.join(shared, 'agent', 'ide'), { recursive: true, mode: 0o700 });
    fs.chmodSync(path.join(shared, depth), 0o777);
    await assert.rejects(leave(), /Other users can change what is in /);
    assert.deepEqual(fs.readdirSync(path.join(shared, 'agent', 'ide')), []);
  });

test('none is left behind a link', { skip }, async () => {
  const elsewhere = await folder.folder('elsewhere');
  await folder.link('shared/agent', elsewhere);
  await assert.rejects(leave(), /Other users can change what is in /);
  assert.deepEqual(fs.globSync('**/*.json', { cwd: elsewhere }), []);
});
