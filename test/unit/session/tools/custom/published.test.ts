import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { CustomToolWorld } from '../../../../support/customToolWorld.ts';

const folder = path.join(import.meta.dirname, '../../../../fixtures/customTools/published');

let world: CustomToolWorld;
before(async () => {
  world = await CustomToolWorld.create();
});
after(() => world.dispose());

/** Tools that were published for other agents: they load and work without a change. */
for (const name of ['stack.ts', 'queue.ts', 'flat.ts']) {
  test(`${name} loads without a change, stages, applies and discards with its own texts`, async () => {
    const loaded = await world.load(name, readFileSync(path.join(folder, name), 'utf8'));
    assert.deepEqual(loaded.owner.problems, []);
    const [only] = loaded.tools;
    assert.equal(loaded.tools.length, 1);
    assert.equal(only?.tool.name, 'batch_rename_preview');
    assert.equal(only.tool.label, 'Batch Rename Preview');
    assert.deepEqual(only.tool.inputSchema?.['required'], ['files']);

    const harness = world.harness(loaded);
    const result = await harness.run('batch_rename_preview', { files: ['a', 'b'] });
    assert.equal(
      result.content,
      'Staged as p1, no file modified yet.\nPrepared rename plan for 2 files. Call resolve to apply or discard.',
    );
    const [action] = harness.staged;
    assert.equal(action?.label, 'Batch rename: 2 files');
    assert.equal(action.sourceToolName, 'batch_rename_preview');
    assert.deepEqual((await action.apply?.('fine'))?.content, [
      { type: 'text', text: 'Applied batch rename. Reason: fine' },
    ]);
    assert.deepEqual((await action.reject?.('no'))?.content, [
      { type: 'text', text: 'Discarded batch rename. Reason: no' },
    ]);
  });

  test(`${name} refuses arguments that do not fit, by the field`, async () => {
    const loaded = await world.load(name, readFileSync(path.join(folder, name), 'utf8'));
    for (const args of [{ files: ['a', 1] }, { files: { a: 1 } }, {}]) {
      const { content, isError } = await world.harness(loaded).run('batch_rename_preview', args);
      assert.equal(isError, true);
      assert.match(
        content,
        /^Invalid arguments for batch_rename_preview\. .*files.*Correct them and call it again\.$/,
      );
    }
  });
}
