import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { PathError, type PathErrorCode } from '../../../../src/agent/base/errors.ts';
import { isInside } from '../../../../src/agent/base/system/realPath.ts';
import {
  belowOpenFolder,
  locate,
  openFolderNamed,
  workspacePathOf,
} from '../../../../src/views/workspace/workspacePaths.ts';

const web = { name: 'web', fsPath: 'c:\\code\\web' };
const share = { name: 'share', fsPath: '\\\\server\\share\\app' };

const onWindows = (input: string, folders = [web]): string =>
  workspacePathOf(locate(input, folders, path.win32), folders);

const meant: readonly [input: string, expected: string][] = [
  ['src/a.ts', 'src/a.ts'],
  ['src\\a.ts', 'src/a.ts'],
  ['.\\src\\..\\b\\a.ts', 'b/a.ts'],
  ['C:\\code\\web\\src\\a.ts', 'src/a.ts'],
  ['c:/code/web/src/a.ts', 'src/a.ts'],
  ['C:\\CODE\\Web\\src\\A.ts', 'src/A.ts'],
  ['console.ts', 'console.ts'],
  ['com10/aux1.ts', 'com10/aux1.ts'],
  ['src/.env', 'src/.env'],
  ['a b/~$x;y.ts', 'a b/~$x;y.ts'],
];
for (const [input, expected] of meant)
  test(`on Windows, ${input} means ${expected}`, () => assert.equal(onWindows(input), expected));

test('on Windows, a path on a server is inside the folder of that server', () => {
  assert.equal(onWindows('\\\\server\\share\\app\\src\\a.ts', [share]), 'src/a.ts');
  assert.equal(onWindows('//SERVER/share/app/a.ts', [share]), 'a.ts');
});

test('a name that no file system holds is refused before anything is staged', () => {
  const [fits, long] = ['a'.repeat(252), 'a'.repeat(253)];
  for (const paths of [path.win32, path.posix]) {
    const folders = [paths === path.win32 ? web : { name: 'web', fsPath: '/web' }];
    assert.equal(locate(`src/${fits}.ts`, folders, paths).relative, `src/${fits}.ts`);
    for (const input of [`src/${long}.ts`, `${long}.ts/a.ts`])
      assert.throws(
        () => locate(input, folders, paths),
        /is not a file name: names have at most 255 characters/,
      );
  }
});

const refused: readonly [input: string, code: PathErrorCode][] = [
  ['..\\a.ts', 'outside'],
  ['src\\..\\..\\a.ts', 'outside'],
  ['D:\\code\\web\\a.ts', 'outside'],
  ['C:\\code\\website\\a.ts', 'outside'],
  ['\\\\server\\share\\a.ts', 'outside'],
  ['\\\\?\\C:\\code\\web\\a.ts', 'outside'],
  ['.GIT\\config', 'protected'],
  ['.git.\\config', 'protected'],
  ['.git::$INDEX_ALLOCATION\\config', 'protected'],
  // Relative to the folder that the drive has open, or the stream of a file.
  ['C:a.ts', 'empty'],
  ['a.ts:hidden', 'empty'],
  ['C:\\code\\web\\a.ts::$DATA', 'empty'],
  // Other names of a.ts and src.
  ['a.ts.', 'empty'],
  ['a.ts ', 'empty'],
  ['src ./a.ts', 'empty'],
  // Devices.
  ['NUL', 'empty'],
  ['src/con.ts', 'empty'],
  ['aux/a.ts', 'empty'],
  ['Com1.tar.gz', 'empty'],
  ['lpt\u00b2', 'empty'],
  ['prn .txt', 'empty'],
  ['CONOUT$', 'empty'],
  // What no file name has.
  ['what?.ts', 'empty'],
  ['a|b', 'empty'],
  ['<a>', 'empty'],
  ['"a"', 'empty'],
];
for (const [input, code] of refused)
  test(`on Windows, ${input} is refused as ${code}`, () =>
    assert.throws(
      () => onWindows(input),
      error => error instanceof PathError && error.code === code,
    ));

test('elsewhere, the names that Windows cannot hold are names like any other', () => {
  const folders = [{ name: 'web', fsPath: '/code/web' }];
  for (const name of ['NUL', 'a.ts.', 'a:b', 'what?.ts', 'src\\a.ts', 'C:a.ts'])
    assert.equal(workspacePathOf(locate(name, folders, path.posix), folders), name);
});

test('on Windows, what is inside a folder does not depend on case, drive letters included', () => {
  for (const file of ['C:\\Code\\a.ts', 'c:\\code', 'C:\\code\\..notes\\a'])
    assert.equal(isInside(file, 'c:\\CODE', path.win32), true, file);
  for (const file of ['D:\\Code\\a.ts', 'C:\\codeshop', 'C:\\', '\\\\c\\code\\a.ts'])
    assert.equal(isInside(file, 'c:\\CODE', path.win32), false, file);
});

/** A file system with links that finds folders by any case and normalisation, and tells what was looked at. */
function insensitive(links: Readonly<Record<string, string>> = {}) {
  const fold = (text: string): string => text.normalize('NFC').toLowerCase();
  const looked: string[] = [];
  return {
    looked,
    realOf: (folder: string) => links[folder] ?? folder,
    isSame: (a: string, b: string) => {
      looked.push(a);
      return fold(a) === fold(b);
    },
  };
}

test('an absolute path names an open folder by its real path, and in another case or normalisation', () => {
  const opened = [{ name: 'caf\u00e9', fsPath: '/tmp/Caf\u00e9' }];
  const files = insensitive({ '/tmp/Caf\u00e9': '/private/tmp/Caf\u00e9' });
  for (const folder of [
    '/tmp/Caf\u00e9',
    '/TMP/cafe\u0301',
    '/private/tmp/Caf\u00e9',
    '/Private/tmp/CAF\u00c9',
  ])
    assert.equal(
      path.posix.relative('/tmp/Caf\u00e9', belowOpenFolder(`${folder}/src/a.ts`, opened, files, path.posix)),
      'src/a.ts',
      folder,
    );
});

test('on Windows, a folder that was opened by its short name is found by its long one', () => {
  const opened = [{ name: 'app', fsPath: 'c:\\Users\\RUNNER~1\\app' }];
  const files = insensitive({ 'c:\\Users\\RUNNER~1\\app': 'C:\\Users\\runneradmin\\app' });
  const found = belowOpenFolder('c:\\users\\runneradmin\\app\\src\\a.ts', opened, files, path.win32);
  assert.equal(found, 'c:\\Users\\RUNNER~1\\app\\src\\a.ts');
});

test('where case counts, another spelling of a folder is another folder', () => {
  const opened = [{ name: 'app', fsPath: '/code/App' }];
  const files = { ...insensitive(), isSame: (a: string, b: string) => a === b };
  assert.equal(belowOpenFolder('/code/app/a.ts', opened, files, path.posix), '/code/app/a.ts');
});

test('the disk is not asked about a path that is outside in any spelling, such as one on a server', () => {
  const files = insensitive();
  for (const file of ['\\\\evil\\share\\a.ts', 'D:\\code\\web\\a.ts', 'C:\\code\\website\\a.ts'])
    assert.equal(belowOpenFolder(file, [web], files, path.win32), file);
  assert.deepEqual(files.looked, []);
});

test('an open folder is named by its path in any case on Windows, by its name, and by a dot', () => {
  const api = { name: 'api', fsPath: 'c:\\code\\api' };
  const named = (input: string, folders = [web, api]) => openFolderNamed(input, folders, path.win32)?.name;
  for (const input of ['C:\\CODE\\Api', 'c:/code/api/', 'c:\\code\\web\\..\\api\\', 'api', 'api\\', './api'])
    assert.equal(named(input), 'api', input);
  for (const input of ['', '.', './', '.\\']) assert.equal(named(input), 'web', input);
  for (const input of ['C:\\code', 'D:\\code\\api', 'C:\\code\\api\\src', 'apis', 'api/src'])
    assert.equal(named(input), undefined, input);
  assert.equal(named('web', [web]), undefined, 'with one folder, its name is a path');
  assert.equal(named('D:\\', [{ name: 'disk', fsPath: 'd:\\' }]), 'disk');
});
