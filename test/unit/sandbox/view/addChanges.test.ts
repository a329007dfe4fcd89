import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { addChanges } from '../../../../src/agent/sandbox/view/addChanges.ts';
import { Effects } from '../../../../src/agent/sandbox/view/effects.ts';
import { inTrees } from '../../../../src/agent/sandbox/view/plainTree.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('what somebody writes on disk right after it was found unchanged is not taken for the base of a command', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  const file = await folder.file('real/a.txt', 'old');
  await folder.file('view/a.txt', 'theirs');
  const effects = new Effects();
  await inTrees([folder.at('real'), folder.at('view')], (real, view) =>
    addChanges(effects, ['a.txt'], {
      real,
      view,
      puts: new Map(),
      nameOf: at => at,
      isBaseUnknown: () => {
        const isChanged = fs.readFileSync(file, 'utf8') !== 'old';
        fs.writeFileSync(file, 'by the user');
        return Promise.resolve(isChanged);
      },
    }),
  );
  const [effect] = effects.end().effects;
  assert.equal(Buffer.from(effect?.base as Uint8Array).toString(), 'old');
});
