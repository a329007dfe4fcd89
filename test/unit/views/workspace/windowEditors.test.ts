import assert from 'node:assert/strict';
import writable, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, mock, test } from 'node:test';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

stub.useVscodeStub();
const { WindowEditors } = await import('../../../../src/views/workspace/windowEditors.ts');

let temp: TempFolder;
before(async () => (temp = await TempFolder.create()));
after(() => temp.remove());

/** The editors of a window in which these files are open. */
function editorsWith(...open: readonly string[]) {
  const documents = open.map(name => ({ uri: stub.Uri.file(temp.at(name)), isClosed: false }));
  const none = () => ({ dispose: () => undefined });
  const events = ['Open', 'Change', 'Save', 'Close'].map(name => [`onDid${name}TextDocument`, none]);
  Object.assign(stub.workspace, { ...Object.fromEntries(events), textDocuments: documents });
  return new WindowEditors(path => stub.Uri.file(temp.at(path)) as never, []);
}

const watched = (editors: InstanceType<typeof WindowEditors>, path: string): number =>
  editors.watch(path, () => undefined).documents.length;

test('a document is found under each name of its file, also after the file was replaced', async () => {
  fs.writeFileSync(temp.at('a'), 'a');
  fs.symlinkSync('a', temp.at('link'));
  const editors = editorsWith('link', 'a', 'other');
  assert.equal(watched(editors, 'a'), 2);
  fs.writeFileSync(temp.at('new'), 'new');
  fs.renameSync(temp.at('new'), temp.at('a'));
  await Promise.resolve();
  assert.equal(watched(editors, 'a'), 2);
});

test('where many files are watched while many are open, each is looked at once', () => {
  const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
  for (const name of names) fs.writeFileSync(temp.at(name), '');
  const editors = editorsWith(...names.slice(0, 10));
  const stat = mock.method(writable, 'statSync');
  syncBuiltinESMExports();
  try {
    for (const name of names) watched(editors, name);
  } finally {
    stat.mock.restore();
    syncBuiltinESMExports();
  }
  assert.equal(stat.mock.callCount(), 20);
});
