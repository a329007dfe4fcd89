import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineEndingOfNewFile, type NewFile } from '../../../../src/views/workspace/newLineEnding.ts';
import { GitRepository } from '../../../support/gitRepository.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const about = (
  folder: TempFolder,
  name: string,
  { setting = 'auto', isTrusted = true, platform = 'linux' }: Partial<NewFile> = {},
): NewFile => ({ file: folder.at(...name.split('/')), root: folder.root, setting, isTrusted, platform });

test('a new file follows the setting, then the files beside it, then the system', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  await folder.file('src/a.ts', 'one\r\ntwo\r\n');
  await folder.file('src/b.TS', 'one\r\n');
  await folder.file('src/c.md', 'one\n');
  await folder.file('mixed/a.ts', 'one\r\n');
  await folder.file('mixed/b.ts', 'one\n');
  await folder.file('wide/a.ts', Buffer.from('one\r\ntwo\r\n', 'utf16le'));
  const CASES: readonly (readonly [name: string, options: Partial<NewFile>, expected: string])[] = [
    ['src/new.ts', {}, '\r\n'],
    ['src/new.ts', { setting: '\n' }, '\n'],
    ['src/new.md', { platform: 'win32' }, '\n'],
    ['src/new.md', { setting: '\r\n' }, '\r\n'],
    ['src/new.css', {}, '\n'],
    ['src/new.css', { platform: 'win32' }, '\r\n'],
    ['mixed/new.ts', {}, '\n'],
    ['wide/new.ts', {}, '\r\n'],
    ['made/now/new.ts', {}, '\n'],
    ['made/now/new.ts', { platform: 'win32' }, '\r\n'],
  ];
  for (const [name, options, expected] of CASES)
    assert.equal(
      await lineEndingOfNewFile(about(folder, name, options)),
      expected,
      JSON.stringify([name, options]),
    );
});

test("git's attributes count before all else, if git may be asked", async t => {
  const { folder } = await GitRepository.create(t);
  await folder.file('.gitattributes', '*.bat eol=crlf\n*.sh eol=lf\n*.md text\n');
  await folder.file('made/.gitattributes', '*.txt eol=crlf\n');
  await folder.file('a.sh', 'one\r\n');
  const CASES: readonly (readonly [name: string, options: Partial<NewFile>, expected: string])[] = [
    ['run.bat', {}, '\r\n'],
    ['deep/er/run.bat', { setting: '\n' }, '\r\n'],
    ['run.sh', { setting: '\r\n', platform: 'win32' }, '\n'],
    ['run.sh', { isTrusted: false }, '\r\n'],
    ['a.md', { platform: 'win32' }, '\r\n'],
    ['made/[a] b.txt', {}, '\r\n'],
    ['a.txt', {}, '\n'],
  ];
  for (const [name, options, expected] of CASES)
    assert.equal(
      await lineEndingOfNewFile(about(folder, name, options)),
      expected,
      JSON.stringify([name, options]),
    );
});

test('attributes without a repository say nothing', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  await folder.file('.gitattributes', '* eol=crlf\n');
  assert.equal(await lineEndingOfNewFile(about(folder, 'a.txt')), '\n');
});
