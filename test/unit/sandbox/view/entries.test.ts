import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { removeTree } from '../../../../src/agent/sandbox/view/entries.ts';
import { aroundDiskCalls } from '../../../support/diskCalls.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('a tree is removed while another window removes it, too, and is always the first', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  fs.mkdirSync(temp.at('tree', 'below'), { recursive: true });
  for (let each = 0; each < 200; each++) fs.writeFileSync(temp.at('tree', 'below', `${each}`), '');
  await aroundDiskCalls(
    ({ name, make }) => {
      if (name !== 'unlink') return make();
      const first = make() as Promise<unknown>;
      return first.then(() => make());
    },
    () => removeTree(temp.at('tree')),
  );
  assert.deepEqual(fs.readdirSync(temp.root), []);
});
