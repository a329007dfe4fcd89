import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { commitChanges } from '../../../../src/agent/hold/preview/commit/commitChanges.ts';
import { sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { inverseOf } from '../../../../src/agent/hold/preview/undo.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { keptMode } from '../../../support/snapshot.ts';

test('a change of permission bits alone is written, checked, and undone', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  const file = folder.at('run.sh');
  fs.writeFileSync(file, 'echo\n', { mode: 0o644 });
  const workspace = new DiskWorkspace(folder.root);
  const side = sideOfText('echo\n');
  const change: FileChange = { kind: 'modify', path: 'run.sh', before: side, after: side, mode: 0o755 };
  let modes: Readonly<Record<string, number>> = {};
  await commitChanges(workspace, [change], async rollback => {
    modes = rollback.modes;
  });
  assert.equal(fs.statSync(file).mode & 0o777, keptMode(0o755));
  await commitChanges(workspace, inverseOf([change], { modes }));
  assert.equal(fs.statSync(file).mode & 0o777, keptMode(0o644));
  fs.writeFileSync(file, 'other\n');
  await assert.rejects(commitChanges(workspace, [change]), { name: 'StalePreviewError' });
  assert.equal(fs.statSync(file).mode & 0o777, keptMode(0o644));
});
