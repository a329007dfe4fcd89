import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { test } from 'node:test';
import type * as vscode from 'vscode';
import { aroundDiskCalls } from '../../../support/diskCalls.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { placePrograms } = await import('../../../../src/views/agents/agentServer.ts');

test('a full disk leaves the programs of agents as they were, never a part of a new one', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const names = ['redline-gate.cjs', 'redline-mcp.cjs', 'redline-run.cjs'];
  const dist = await temp.folder('dist');
  const storage = temp.at('storage');
  const context = {
    extensionPath: path.dirname(dist),
    globalStorageUri: stub.Uri.file(storage),
  } as unknown as vscode.ExtensionContext;
  const build = (version: string) =>
    Promise.all(names.map(name => fs.writeFile(path.join(dist, name), version)));
  const placed = () => Promise.all(names.map(name => fs.readFile(path.join(storage, name), 'utf8')));
  await build('the old version');
  await Promise.all([placePrograms(context), placePrograms(context)]); // in two windows
  await build('the new one');
  await aroundDiskCalls(
    ({ name, args, make }) => {
      if (name !== 'writeFile' && name !== 'copyFile') return make();
      const file = String(args[name === 'copyFile' ? 1 : 0]);
      return fs.appendFile(file, 'the n', { flag: 'w' }).then(() => Promise.reject(new Error('ENOSPC')));
    },
    () => assert.rejects(placePrograms(context), /ENOSPC/),
  );
  assert.deepEqual(
    await placed(),
    names.map(() => 'the old version'),
  );
  await placePrograms(context);
  assert.deepEqual(
    await placed(),
    names.map(() => 'the new one'),
  );
  assert.deepEqual((await fs.readdir(storage)).sort(), names);
});
