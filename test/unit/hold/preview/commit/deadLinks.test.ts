import * as fs from 'node:fs';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { StalePreviewError } from '../../../../../src/agent/hold/preview/errors.ts';
import { changeOf, linkTo, type FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { DiskWorkspace } from '../../../../support/diskWorkspace.ts';
import { draft } from '../../../../support/drafts.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

const toLink = (before: string | null): FileChange =>
  changeOf('d/a.txt', before === null ? null : linkTo(before), linkTo('new')) ?? assert.fail();
const changes: Record<string, FileChange> = {
  'an edit': modify('d/a.txt', 'a\n', 'A\n'),
  'a new file': create('d/a.txt', 'A\n'),
  'a deletion': remove('d/a.txt', 'a\n'),
  'a rename from there': rename('d/a.txt', 'b.txt', 'a\n', 'A\n'),
  'a rename to there': rename('c.txt', 'd/a.txt', 'c\n'),
  'a new link': toLink(null),
  'an edit of a link': toLink('old'),
};
/** Links that stand in the way: where, and their targets. */
const links = {
  'a link to itself': ['d/a.txt', 'a.txt'],
  'a link without a target': ['d/a.txt', 'nowhere'],
  'a folder that is a link to itself': ['d', 'd'],
  'a folder that is a link without a target': ['d', 'nowhere'],
} as const;

for (const [what, [at, target]] of Object.entries(links))
  for (const [kind, change] of Object.entries(changes))
    test(`${kind} where ${what} stands is a conflict in plain words, and no error of the log`, async context => {
      const folder = await TempFolder.create();
      context.after(() => folder.remove());
      fs.writeFileSync(folder.at('c.txt'), 'c\n');
      if (at !== 'd') fs.mkdirSync(folder.at('d'));
      fs.symlinkSync(target, folder.at(at));
      const before = fs.readdirSync(folder.root, { recursive: true });
      const workspace = new DiskWorkspace(folder.root);
      const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
      const { id } = store.stage(draft({ changes: [change] })).preview;
      const invoker = new Invoker(store, workspace, () => 'apply');
      await assert.rejects(invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' }), error => {
        assert.ok(error instanceof Error);
        // Below a folder without a target there is no file that has changed.
        const isPlain = error instanceof StalePreviewError || (at === 'd' && target === 'nowhere');
        assert.ok(isPlain && !/ELOOP|ENOENT|EEXIST/.test(error.message), error.message);
        return true;
      });
      assert.deepEqual(fs.readdirSync(folder.root, { recursive: true }), before);
      assert.equal(fs.readlinkSync(folder.at(at)), target);
      const logger = { ...silentLogger, error: (text: string): never => assert.fail(text) };
      await new Rebaser({ store, workspace, logger }).refresh([id]);
      const { state } = store.get(id) ?? assert.fail();
      assert.ok(state.kind === 'pending');
      if (at !== 'd' || target === 'd') assert.deepEqual(state.stale, [change.path]);
    });
