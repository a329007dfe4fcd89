import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { realPath, realPathSync, realPlaceSync } from '../../../../src/agent/base/system/realPath.ts';

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

test('links are followed one by one where the disk cannot be asked for a whole path', async t => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'redline-real-')));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const [real, link] = [path.join(folder, 'real'), path.join(folder, 'link')];
  fs.mkdirSync(real);
  fs.writeFileSync(path.join(real, 'a.txt'), '');
  fs.symlinkSync(real, link, 'junction');
  const [asked, wanted] = [path.join(link, 'a.txt'), path.join(real, 'a.txt')];
  assert.equal(realPathSync(asked), wanted);
  assert.equal(await realPath(asked), wanted);
  for (const code of ['EISDIR', 'UNKNOWN']) {
    const refuse = (): never => {
      throw failure(code);
    };
    assert.equal(realPathSync(asked, refuse), wanted, code);
    assert.equal(await realPath(asked, () => Promise.reject(failure(code))), wanted, code);
  }
  assert.equal(realPlaceSync(path.join(link, 'new', 'b.txt')), path.join(real, 'new', 'b.txt'));
});

test('what is missing or forbidden is told as it is', async () => {
  const missing = path.join(os.tmpdir(), 'redline-missing', 'a.txt');
  assert.throws(() => realPathSync(missing), { code: 'ENOENT' });
  await assert.rejects(realPath(missing), { code: 'ENOENT' });
  const refuse = (): never => {
    throw failure('EACCES');
  };
  assert.throws(() => realPathSync(os.tmpdir(), refuse), { code: 'EACCES' });
});
