import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { findEngine } from '../../../../../../scripts/packaging/engines.mjs';
import { ToolError } from '../../../../../../src/agent/base/errors.ts';
import { platformName, thisMachine } from '../../../../../../src/agent/session/tools/ast/engine/machine.ts';
import { searchByStructure } from '../../../../../../src/agent/session/tools/ast/structuralSearch.ts';
import { WorkerAstEngine } from '../../../../../../src/agent/session/tools/ast/worker/client.ts';
import type { ToolContext } from '../../../../../../src/agent/session/tools/tool.ts';
import { after, failureOf, folderWith, searchFolder } from '../../../../../support/astFolder.ts';
import { packageWorker, packedFile } from '../../../../../support/packagedWorker.ts';

/** The packaged worker, with the native files of a folder. */
async function packagedEngine(t: { after(end: () => void): void }, packed: string) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-worker-'));
  const reasons: string[] = [];
  const files = { packed, unpacked: path.join(folder, 'unpacked') };
  const engine = new WorkerAstEngine(await packageWorker(folder), files, reason => reasons.push(reason));
  t.after(() => {
    engine.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return { engine, reasons };
}

test('without the native engine every search fails and says that', async t => {
  const root = folderWith({ 'a.ts': 'f(1)' });
  const { engine, reasons } = await packagedEngine(t, path.join(root, 'native'));
  t.after(() => fs.rmSync(root, { recursive: true }));
  for (const pat of ['f($A)', 'g($A)']) {
    const failure = await failureOf(searchFolder(engine, root, [{ pat, out: null }]));
    assert.equal(failure.code, 'noEngine');
    assert.match(failure.code === 'noEngine' ? failure.reason : '', /ENOENT.*native/s);
  }
  assert.equal(reasons.length, 2);
});

test('a file that is no engine for this machine is told like a missing one', async t => {
  const root = folderWith({ 'a.ts': 'f(1)', ...packedFile('native/engine', 'built for another machine') });
  const { engine } = await packagedEngine(t, path.join(root, 'native'));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const failure = await failureOf(searchFolder(engine, root, [{ pat: 'f($A)', out: null }]));
  assert.equal(failure.code, 'noEngine');
});

test('the model is told what to do in place of a structural search', async t => {
  const root = folderWith({ 'a.ts': 'f(1)' });
  const { engine } = await packagedEngine(t, path.join(root, 'native'));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const files = { read: () => assert.fail(), placeOf: () => assert.fail(), encodingOf: () => assert.fail() };
  const scope = { folders: () => [{ name: 'one', fsPath: root, exclude: [] }], unsaved: () => [], ...files };
  const context = {
    workspace: { resolvePath: (input: string) => Promise.resolve(input) },
    signal: new AbortController().signal,
    pending: { paths: () => [], at: () => undefined },
  } as unknown as ToolContext;
  await assert.rejects(
    searchByStructure({ engine, scope }, [{ pat: 'f($A)', out: 'g($A)' }], ['a.ts'], context),
    error =>
      error instanceof ToolError &&
      /native engine cannot be loaded.*search_text.*edit them as text instead/.test(error.message),
  );
});

test('with the native engine the packaged worker searches', async t => {
  const file =
    findEngine(platformName(thisMachine())) ?? assert.fail('npm installs the engine of this machine');
  const root = folderWith({ 'a.ts': 'f(1)', ...packedFile('native/engine', fs.readFileSync(file)) });
  const { engine, reasons } = await packagedEngine(t, path.join(root, 'native'));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const found = await searchFolder(engine, root, [{ pat: 'f($A)', out: 'g($A)' }]);
  assert.deepEqual(after(found), { 'a.ts': 'g(1)' });
  assert.deepEqual(reasons, []);
});
