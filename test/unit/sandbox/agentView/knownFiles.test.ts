import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { KnownFiles } from '../../../../src/agent/sandbox/agentView/knownFiles.ts';
import type { Found } from '../../../../src/agent/sandbox/view/effects.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const file = (text: string): Found => ({
  kind: 'file',
  size: text.length,
  mode: 0o644,
  read: () => Promise.resolve(Buffer.from(text)),
});

test('a record joins another with its newer files, and once more after a process died before it was removed', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  fs.mkdirSync(temp.at('known'));
  const stored = new KnownFiles(temp.at('known'));
  await stored.record([
    ['/w/both', file('older')],
    ['/w/stored', file('stored')],
  ]);
  const own = new KnownFiles(temp.at('known'), 'known-1');
  await own.record([
    ['/w/both', file('newer')],
    ['/w/gone', undefined],
  ]);
  fs.copyFileSync(temp.at('known-1.json'), temp.at('before'));

  // A record that is under way is in it, and later ones are, too.
  const recorded = own.record([['/w/meanwhile', file('meanwhile')]]);
  await Promise.all([recorded, own.join()]);
  await own.record([['/w/later', file('later')]]);
  const all = { both: 'newer', stored: 'stored', gone: '', meanwhile: 'meanwhile', later: 'later' };
  const readBack = async (): Promise<Record<string, string>> => {
    const known = new KnownFiles(temp.at('known'));
    await known.load();
    const texts = Object.keys(all).map(async name => {
      assert.ok(known.has(`/w/${name}`));
      const found = known.find(`/w/${name}`);
      return [name, found?.kind === 'file' ? String(await found.read()) : ''] as const;
    });
    return Object.fromEntries(await Promise.all(texts));
  };
  assert.deepEqual(await readBack(), all);
  assert.equal(fs.existsSync(temp.at('known-1.json')), false);

  fs.copyFileSync(temp.at('before'), temp.at('known-1.json'));
  const again = new KnownFiles(temp.at('known'), 'known-1');
  await again.load();
  await again.join();
  assert.deepEqual(await readBack(), all);
  assert.equal(fs.existsSync(temp.at('known-1.json')), false);
});

test('a record that cannot join goes on by itself, and joins with the next files', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  fs.mkdirSync(temp.at('known'));
  const own = new KnownFiles(temp.at('known'), 'known-1');
  // A folder in the place of the draft stands for a disk that refuses it.
  fs.mkdirSync(temp.at('known.json.new'));
  await assert.rejects(own.join(), { code: 'EISDIR' });
  await own.record([['/w/meanwhile', file('meanwhile')]]);
  assert.ok(!fs.existsSync(temp.at('known.json')));
  fs.rmdirSync(temp.at('known.json.new'));
  await own.record([['/w/later', file('later')]]);
  const stored = new KnownFiles(temp.at('known'));
  await stored.load();
  assert.ok(stored.has('/w/meanwhile') && stored.has('/w/later'));
  assert.ok(!fs.existsSync(temp.at('known-1.json')));
});
