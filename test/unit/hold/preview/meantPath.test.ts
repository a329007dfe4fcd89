import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { quoted, safeName } from '../../../../src/agent/base/safeName.ts';
import { PathError } from '../../../../src/agent/base/errors.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { create } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { draft } from '../../../support/drafts.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

/** Names that Windows cannot hold. */
const NAMES_ON_POSIX = process.platform === 'win32' ? [] : ['odd:1', '"quoted"'];

let folder: TempFolder;
let store: PreviewStore;
before(async () => {
  folder = await TempFolder.create();
  for (const name of ['src/a.ts', 'src/b c.ts', 'ends#L3', ...NAMES_ON_POSIX]) await folder.file(name);
  store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const origin = { sessionId: 's1', asksModel: true };
  store.stage(draft({ changes: [create('src/proposed.ts', '')], origin }));
});
after(() => folder.remove());

/** What the tools of a session, and those of other agents, take a path for. */
const resolved = (input: string): Promise<string> =>
  new Overlay(store).of('s1').on(new DiskWorkspace(folder.root)).resolvePath(input);

test('a path to a file may be a URL, quoted, padded, with backslashes, or with a line behind it', async () => {
  const url = pathToFileURL(folder.at('src', 'a.ts')).href;
  const written = [
    ...[url, ` ${url} `, `${url}#L12`, `"${url}"`, `${url}:3`, `${url}:3:5`],
    ...['src/a.ts(3,4)', 'src/a.ts:L3', '“src/a.ts”'],
    ...['"src/a.ts"', "'src/a.ts'", '`src/a.ts`', '<src/a.ts>', ' src/a.ts', 'src/a.ts\n', '" src/a.ts "'],
    ...['src/a.ts:1', 'src/a.ts:1:5', 'src/a.ts:1-9', 'src/a.ts:1:', 'src/a.ts#L3', 'src/a.ts#L3-L9'],
    ...['src\\a.ts', '.\\src\\a.ts', `${folder.at('src', 'a.ts')}:7`],
  ];
  for (const input of written) assert.equal(await resolved(input), 'src/a.ts', JSON.stringify(input));
  assert.equal(await resolved(pathToFileURL(folder.at('src', 'b c.ts')).href), 'src/b c.ts');
  assert.equal(await resolved('"src/b c.ts":3'.replace('":3', ':3"')), 'src/b c.ts');
});

test('a name that was shown with escapes is found, and one that ends a line is refused', async () => {
  const name = 'right\u200eleft.ts';
  await folder.file(name);
  for (const input of [name, safeName(name)]) assert.equal(await resolved(input), name);
  assert.equal(safeName(name), String.raw`"right\u200eleft.ts"`);
  for (const evil of ['a\nb', 'a\x1b[31m', 'a\x9b', 'a\u2028b', 'a</system-reminder>', 'a```b'])
    for (const input of [evil, safeName(evil)])
      await assert.rejects(resolved(input), error => {
        assert.ok(error instanceof PathError);
        assert.ok(error.message.startsWith(`${quoted(evil)} is not a file path. `), error.message);
        return true;
      });
});

test('so may one to a folder, or to a file that is only proposed', async () => {
  assert.equal(await resolved('"src"'), 'src');
  assert.equal(await resolved('src\\proposed.ts:4'), 'src/proposed.ts');
});

test('a file whose name looks like that is taken at its word', async () => {
  for (const name of [...NAMES_ON_POSIX, 'ends#L3']) assert.equal(await resolved(name), name);
});

test('what is written like that and does not exist is refused, so that no such file is made', async () => {
  for (const input of ['"src/new.ts"', ' src/new.ts', 'src/new.ts:1', 'src\\new.ts'])
    await assert.rejects(resolved(input), error => {
      assert.ok(error instanceof PathError);
      assert.match(
        error.message,
        /^There is no file .*, and none at src\/new\.ts\. Give the plain path alone: src\/new\.ts\.$/,
      );
      return true;
    });
});

test('a URL of a new file is its path; other URLs, and those that lead outside, are refused', async () => {
  assert.equal(await resolved(pathToFileURL(folder.at('src', 'new.ts')).href), 'src/new.ts');
  await assert.rejects(resolved(pathToFileURL('/etc/passwd').href), /outside the workspace/);
  const others = ['file://server/a.ts', 'vscode-remote://ssh/src/a.ts', 'https://example.com/src/a.ts'];
  for (const input of others) await assert.rejects(resolved(input), /is not the URL of a file here/, input);
});

test('what a shell takes for the home folder or a variable is no folder of the workspace', async () => {
  for (const input of ['~/new.ts', '$HOME/new.ts', '${HOME}/new.ts', '%USERPROFILE%\\new.ts'])
    await assert.rejects(resolved(input), /is outside the workspace/, input);
  assert.equal(await resolved('$route/new.ts'), '$route/new.ts');
});

test('a plain path is left to the workspace', async () => {
  assert.equal(await resolved('src/new.ts'), 'src/new.ts');
  await assert.rejects(resolved('../a.ts'), /outside the workspace/);
});

test('an address of something that is no file is refused, so that no file of that name is made', async () => {
  for (const input of [
    'untitled:Untitled-1',
    'vscode-notebook-cell:a.ts',
    'git:/w/a.ts',
    'redline-preview://p1/a.ts',
    'mailto:x',
  ])
    await assert.rejects(resolved(input), error => {
      assert.ok(error instanceof PathError);
      assert.match(
        error.message,
        /is the address of something other than a file|is not the URL of a file here/,
      );
      return true;
    });
  assert.equal(await resolved('./note:new'), 'note:new');
  assert.equal(await resolved('src/note:new'), 'src/note:new');
});

test(
  'a file that has such a name is taken at its word',
  { skip: process.platform === 'win32' && 'Windows has no such names' },
  async () => {
    await folder.file('untitled:1');
    await folder.file('pkg:a/x.ts');
    for (const name of ['untitled:1', 'pkg:a/x.ts', 'pkg:a/new.ts', 'a:b', 'c:new'])
      assert.equal(await resolved(name), name);
  },
);

test('a file that is named by a link is one with its proposals; a link that is removed is itself', async () => {
  await folder.file('real/file.ts', 'one');
  await folder.link('alias', 'real');
  await folder.link('alias.ts', 'real/file.ts');
  for (const name of ['alias/file.ts', 'alias.ts', 'real/file.ts'])
    assert.equal(await resolved(name), 'real/file.ts');
  assert.equal(await resolved('alias/new.ts'), 'real/new.ts');
  const workspace = new Overlay(store).of('s1').on(new DiskWorkspace(folder.root));
  assert.equal(await workspace.resolvePath('alias.ts', { throughLink: false }), 'alias.ts');
  assert.equal(await workspace.resolvePath('alias/file.ts', { throughLink: false }), 'real/file.ts');
});
