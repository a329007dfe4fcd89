import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { platformName, thisMachine } from '../../../../../src/agent/session/tools/ast/engine/machine.ts';
import { failureOf, searchFolder } from '../../../../support/astFolder.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { packageWorker } from '../../../../support/packagedWorker.ts';

stub.useVscodeStub();
const { createStructuralEngine } = await import('../../../../../src/views/chat/search/structuralEngine.ts');

test('without a native engine the user and the log are told at the first search, and only then', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-extension-'));
  await packageWorker(folder);
  const told: string[] = [];
  const logged: string[] = [];
  const showWarningMessage = (text: string): Promise<undefined> => {
    told.push(text);
    return Promise.resolve(undefined);
  };
  Object.assign(stub.window, { showWarningMessage });
  const at = { extensionPath: folder, globalStorageUri: { fsPath: path.join(folder, 'storage') } };
  const engine = createStructuralEngine(at, { ...silentLogger, error: text => void logged.push(text) });
  t.after(() => {
    engine.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  engine.warm();
  assert.deepEqual([told, logged], [[], []]);
  for (const pat of ['f($A)', 'g($A)']) {
    const failure = await failureOf(searchFolder(engine, folder, [{ pat, out: null }]));
    assert.equal(failure.code, 'noEngine');
  }

  const platform = platformName(thisMachine());
  assert.deepEqual(told, [
    `Structural search is not available: its engine for ${platform} cannot be loaded. The agent is told to search and edit text instead; everything else works. The log has the reason.`,
  ]);
  assert.equal(logged.length, 1);
  assert.ok(logged[0]?.startsWith(`The structural engine for ${platform} cannot be loaded: ENOENT`));
});
