import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { PathError, type PathErrorCode } from '../../../../src/agent/base/errors.ts';
import { assertRealPathInside, resolvePath } from '../../../../src/views/workspace/realPaths.ts';
import { locate, withUniqueNames, workspacePathOf } from '../../../../src/views/workspace/workspacePaths.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());

const root = (name: string) => ({ name, fsPath: path.resolve('/project', name) });
const web = root('web');
const api = root('api');

const pathOf = (input: string, folders = [web]): string => workspacePathOf(locate(input, folders), folders);
const refused = (input: string, code: PathErrorCode, folders = [web]): void => {
  assert.throws(
    () => locate(input, folders),
    error => error instanceof PathError && error.code === code && error.message !== '',
  );
};

test('a file of a folder inside another one is named by the inner one', () => {
  const inner = { name: 'sub', fsPath: path.resolve('/project', 'web', 'sub') };
  const outer = (relative: string): string => workspacePathOf({ folder: web, relative }, [web, inner]);
  assert.equal(outer('sub/a.ts'), 'sub/a.ts');
  assert.equal(outer('sub/deep/a.ts'), 'sub/deep/a.ts');
  assert.equal(outer('subtle/a.ts'), 'web/subtle/a.ts');
  assert.equal(outer('sub'), 'web/sub');
  assert.equal(workspacePathOf({ folder: inner, relative: 'a.ts' }, [web, inner]), 'sub/a.ts');
});

const inside: readonly [input: string, expected: string][] = [
  ['a.ts', 'a.ts'],
  ['src/a.ts', 'src/a.ts'],
  ['./src/./a.ts', 'src/a.ts'],
  ['src//a.ts', 'src/a.ts'],
  ['src/../a.ts', 'a.ts'],
  ['../web/a.ts', ''],
  [path.resolve('/project/web/src/a.ts'), 'src/a.ts'],
  [path.resolve('/project/web/src/../a.ts'), 'a.ts'],
  ['..a/b', '..a/b'],
  [`${'d/'.repeat(99)}a.ts`, `${'d/'.repeat(99)}a.ts`],
  ['a b/ü.ts', 'a b/ü.ts'],
  ['.gitignore', '.gitignore'],
  ['.github/ci.yml', '.github/ci.yml'],
];
for (const [input, expected] of inside.filter(([, expected]) => expected !== '')) {
  test(`${input} means ${expected}, which means itself`, () => {
    assert.equal(pathOf(input), expected);
    assert.equal(pathOf(expected), expected);
  });
}

const outside: readonly [input: string, code: PathErrorCode][] = [
  ['..', 'outside'],
  ['../a.ts', 'outside'],
  ['../web/a.ts', 'outside'],
  ['src/../../a.ts', 'outside'],
  [path.resolve('/etc/passwd'), 'outside'],
  [path.resolve('/project'), 'outside'],
  [path.resolve('/project/website/a.ts'), 'outside'],
  [path.resolve('/project/web/../api/a.ts'), 'outside'],
  ['', 'empty'],
  ['.', 'empty'],
  ['./', 'empty'],
  ['src/..', 'empty'],
  ['src/', 'empty'],
  [`${'d/'.repeat(100)}a.ts`, 'empty'],
  [path.resolve('/project/web'), 'empty'],
  ['a\0.ts', 'empty'],
  ['a\n.ts', 'empty'],
  ['a\ud800.ts', 'empty'],
  ['.git/config', 'protected'],
  ['.git', 'protected'],
  ['.GIT/hooks/pre-commit', 'protected'],
  ['sub/.git/config', 'protected'],
  ['src/../.git/config', 'protected'],
  ['.git./config', 'protected'],
  ['.git::$INDEX_ALLOCATION/config', 'protected'],
  ['.g\u200Cit/config', 'protected'],
  ['.\uFF47it/config', 'protected'],
];
for (const [input, code] of outside) {
  test(`${JSON.stringify(input)} is refused as ${code}`, () => refused(input, code));
}

test('without an open folder every path is refused', () => refused('a.ts', 'noWorkspace', []));

test('with several folders a path begins with the name of its folder', () => {
  const folders = [web, api];
  assert.equal(pathOf('api/src/a.ts', folders), 'api/src/a.ts');
  assert.equal(pathOf('web/src/a.ts', folders), 'web/src/a.ts');
  assert.equal(pathOf(path.resolve('/project/api/a.ts'), folders), 'api/a.ts');
  assert.deepEqual(locate('api/src/a.ts', folders), { folder: api, relative: 'src/a.ts' });
});

test('with several folders a path without a name is in the first', () => {
  assert.equal(pathOf('src/a.ts', [web, api]), 'web/src/a.ts');
  assert.equal(pathOf('apis/a.ts', [web, api]), 'web/apis/a.ts');
});

test('with several folders each name alone is a folder, and each .git is protected', () => {
  refused('api/', 'empty', [web, api]);
  refused('api/.git/config', 'protected', [web, api]);
  refused('api/../../x', 'outside', [web, api]);
});

test('with one folder its name is not a prefix', () => {
  assert.equal(pathOf('web/a.ts'), 'web/a.ts');
});

test('folders of the same name get unique names, and absolute paths lead to the right one', () => {
  const at = (fsPath: string) => ({ name: 'app', fsPath: path.resolve(fsPath) });
  const folders = withUniqueNames([at('/project/one/app'), web, at('/project/two/app'), at('/else/two/app')]);
  assert.deepEqual(
    folders.map(folder => folder.name),
    ['app (one)', 'web', 'app (two)', 'app (two) 2'],
  );
  for (const { name, fsPath } of folders) {
    const meant = workspacePathOf(locate(path.join(fsPath, 'src/a.ts'), folders), folders);
    assert.equal(meant, `${name}/src/a.ts`);
    assert.equal(locate(meant, folders).folder.fsPath, fsPath);
  }
  assert.deepEqual(withUniqueNames([web, api]), [web, api], 'unique names stay');
});

test('a folder at the root of a disk is told by the letter of the disk', () => {
  const names = (paths: path.PlatformPath, ...folders: readonly string[]) =>
    withUniqueNames(
      folders.map(fsPath => ({ name: 'app', fsPath })),
      paths,
    ).map(({ name }) => name);
  assert.deepEqual(names(path.win32, 'd:\\app', 'c:\\app', 'c:\\code\\app'), [
    'app (d)',
    'app (c)',
    'app (code)',
  ]);
  assert.deepEqual(names(path.posix, '/app', '/code/app'), ['app (/)', 'app (code)']);
});

test('an absolute path in a folder within a folder belongs to the inner one', () => {
  const inner = { name: 'inner', fsPath: path.join(web.fsPath, 'inner') };
  for (const folders of [
    [web, inner],
    [inner, web],
  ]) {
    assert.equal(locate(path.join(inner.fsPath, 'a.ts'), folders).folder, inner);
    assert.equal(locate(path.join(web.fsPath, 'a.ts'), folders).folder, web);
  }
});

/** The verdict of `assertRealPathInside` on a path in a folder on disk. */
function verdictOn(folder: string, relative: string): PathErrorCode | 'inside' {
  const root = { name: 'w', fsPath: temp.at(folder) };
  try {
    assertRealPathInside(relative, locate(relative, [root]));
    return 'inside';
  } catch (error) {
    if (error instanceof PathError) return error.code;
    throw error;
  }
}

test('plain files, new files and files in new folders are inside', async () => {
  await temp.file('plain/a.txt');
  for (const file of ['a.txt', 'new.txt', 'new/deep/file.txt']) {
    assert.equal(verdictOn('plain', file), 'inside', file);
  }
});

test('a symbolic link within the folder is followed; one that leads out is refused, for old and new files', async () => {
  await temp.file('linked/real/a.txt');
  await temp.file('secret/key.txt');
  await temp.link('linked/in', 'real');
  await temp.link('linked/out', temp.at('secret'));
  await temp.link('linked/up', '..');
  await temp.link('linked/file', temp.at('secret/key.txt'));
  await temp.link('linked/real/chain', '../out');
  const verdicts = {
    'in/a.txt': 'inside',
    'in/new.txt': 'inside',
    'out/key.txt': 'outside',
    'out/new.txt': 'outside',
    'out/new/deep.txt': 'outside',
    'up/secret/key.txt': 'outside',
    file: 'outside',
    'real/chain/key.txt': 'outside',
  };
  for (const [file, expected] of Object.entries(verdicts)) {
    assert.equal(verdictOn('linked', file), expected, file);
  }
});

test('a link that hides a protected path under a harmless name is refused', async () => {
  await temp.file('sly/.vscode/settings.json');
  await temp.file('sly/AGENTS.md');
  await temp.link('sly/config', '.vscode');
  await temp.link('sly/notes.json', '.vscode/settings.json');
  await temp.link('sly/README.md', 'AGENTS.md');
  for (const file of ['config/settings.json', 'config/tasks.json', 'notes.json', 'README.md'])
    assert.equal(verdictOn('sly', file), 'protected', file);
  assert.equal(verdictOn('sly', '.vscode/tasks.json'), 'inside');
});

test('a sibling folder whose name begins like the folder is outside', async () => {
  await temp.file('app-secret/key.txt');
  await temp.link('app/out', temp.at('app-secret'));
  assert.equal(verdictOn('app', 'out/key.txt'), 'outside');
});

test('a link into git’s own files is refused', async () => {
  await temp.file('repo/.git/config');
  await temp.link('repo/innocent', '.git');
  await temp.link('repo/conf', '.git/config');
  assert.equal(verdictOn('repo', 'innocent/config'), 'protected');
  assert.equal(verdictOn('repo', 'innocent/new'), 'protected');
  assert.equal(verdictOn('repo', 'conf'), 'protected');
});

test('a dangling link that leads out is refused, so that nothing is created there', async () => {
  await temp.folder('dangling');
  await temp.link('dangling/file', temp.at('not-there.txt'));
  await temp.link('dangling/dir', temp.at('not-there'));
  assert.equal(verdictOn('dangling', 'file'), 'outside');
  assert.equal(verdictOn('dangling', 'dir/new.txt'), 'outside');
});

test('cyclic links are refused', async () => {
  await temp.link('circle/a', 'b');
  await temp.link('circle/b', 'a');
  assert.equal(verdictOn('circle', 'a'), 'outside');
  assert.equal(verdictOn('circle', 'a/x.txt'), 'outside');
});

test('files of a folder that is opened through a link are inside', async () => {
  await temp.file('home/a.txt');
  await temp.link('opened', temp.at('home'));
  assert.equal(verdictOn('opened', 'a.txt'), 'inside');
  assert.equal(verdictOn('opened', 'new.txt'), 'inside');
});

test('a file in a folder within a folder, or in one that is opened by a link, has one path', async () => {
  await temp.file('nest/sub/deep/a.ts');
  await temp.file('nest/b.ts');
  await temp.link('nested-link', temp.at('nest/sub/deep'));
  const roots = [
    { name: 'nest', fsPath: temp.at('nest') },
    { name: 'sub', fsPath: temp.at('nest/sub') },
    { name: 'linked', fsPath: temp.at('nested-link') },
  ];
  for (const input of ['nest/sub/deep/a.ts', 'sub/deep/a.ts', 'linked/a.ts', temp.at('nest/sub/deep/a.ts')])
    assert.equal(resolvePath(input, roots), 'linked/a.ts', input);
  for (const input of ['nest/sub/new.ts', 'sub/new.ts', temp.at('nest/sub/new.ts')])
    assert.equal(resolvePath(input, roots), 'sub/new.ts', input);
  assert.equal(resolvePath('nest/b.ts', roots), 'nest/b.ts');
  assert.equal(resolvePath('b.ts', roots), 'nest/b.ts');
});

test('a path through a file is inside; writing there fails on its own', async () => {
  await temp.file('through/a.txt');
  assert.equal(verdictOn('through', 'a.txt/b.txt'), 'inside');
});

test('a new name with characters that cannot be seen is refused; what has one already is found', async () => {
  const hidden = 'seen\u202egpj.ts';
  const roots = [{ name: 'w', fsPath: temp.root }];
  for (const name of [hidden, 'a\u0085b', 'a\u200bb/c.ts', 'x/a\u007f', 'a\u2800'])
    assert.throws(() => resolvePath(name, roots), PathError);
  for (const name of ['👩‍💻.ts', '\u0645\u06cc\u200c\u062e.ts']) assert.equal(resolvePath(name, roots), name);
  await fs.promises.mkdir(path.join(temp.root, `d${hidden}`));
  await fs.promises.writeFile(path.join(temp.root, hidden), '');
  assert.equal(resolvePath(hidden, roots), hidden);
  assert.equal(resolvePath(`d${hidden}/new.ts`, roots), `d${hidden}/new.ts`);
});
