import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace } from '../support/redline.ts';

const MB = 1024 * 1024;
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

suite('what is no text file of the workspace is refused, read or written', () => {
  let api: RedlineApi;
  /** Outside of the workspace, with a file that must stay as it is. */
  let outside: string;
  /** In the workspace. */
  let inside: string;

  suiteSetup(async () => {
    api = await activateRedline();
    outside = await mkdtemp(path.join(tmpdir(), 'redline-outside-'));
    inside = fileInWorkspace('escapes');
    await writeFile(path.join(outside, 'secret.txt'), 'secret');
    await mkdir(path.join(inside, '.git'), { recursive: true });
    await mkdir(path.join(inside, 'folder'));
    await writeFile(path.join(inside, '.git', 'config'), 'git');
    await mkdir(path.join(inside, '.vscode'));
    for (const folder of [outside, ...['.git', '.vscode', 'folder'].map(name => path.join(inside, name))])
      await writeFile(path.join(folder, 'cat.png'), PNG);
    await symlink(path.join(outside, 'cat.png'), path.join(inside, 'cat-link.png'));
    await symlink(path.join('folder', 'cat.png'), path.join(inside, 'own-link.png'));
    await symlink(outside, path.join(inside, 'out'));
    await symlink(path.join(outside, 'secret.txt'), path.join(inside, 'secret-link.txt'));
    await symlink(path.join(outside, 'not-there.txt'), path.join(inside, 'nowhere'));
    await symlink('.git', path.join(inside, 'hidden'));
    await promisify(execFile)('mkfifo', [path.join(inside, 'pipe')]);
    await writeFile(path.join(inside, 'big.txt'), 'x'.repeat(6 * MB));
    await writeFile(path.join(inside, 'binary'), Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff));
    await writeFile(path.join(inside, 'fine.txt'), 'fine');
  });

  suiteTeardown(async () => {
    await rm(outside, { recursive: true });
    await rm(inside, { recursive: true });
  });

  teardown(() => cleanUp(api));

  const resultOf = async (tool: string, args: object): Promise<string> => {
    await api.session.prompt(`/call ${tool} ${JSON.stringify(args)}`);
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.equal(result?.isError, true, `${tool} ${JSON.stringify(args).slice(0, 200)}: ${result?.content}`);
    assert.deepEqual(api.previews.list(), [], `${tool} stages nothing`);
    return result.content;
  };

  const untouched = async (): Promise<void> => {
    assert.deepEqual(await readdir(outside), ['cat.png', 'secret.txt']);
    assert.equal(await readFile(path.join(outside, 'secret.txt'), 'utf8'), 'secret');
    assert.deepEqual(await readdir(path.join(inside, '.git')), ['cat.png', 'config']);
    assert.equal(await readFile(path.join(inside, '.git', 'config'), 'utf8'), 'git');
  };

  const cases: readonly [what: string, path: () => string, message: RegExp][] = [
    ['..', () => '../secret.txt', /outside the workspace/],
    ['.. in the middle', () => 'escapes/../../secret.txt', /outside the workspace/],
    ['an absolute path', () => path.join(outside, 'secret.txt'), /outside the workspace/],
    ['a symbolic link to a folder outside', () => 'escapes/out/secret.txt', /through a symbolic link/],
    ['a new file there', () => 'escapes/out/new.txt', /through a symbolic link/],
    ['a symbolic link to a file outside', () => 'escapes/secret-link.txt', /through a symbolic link/],
    ['a symbolic link that leads nowhere', () => 'escapes/nowhere', /symbolic link that leads nowhere/],
    ['.git', () => 'escapes/.git/config', /belongs to git itself/],
    ['a new file in .git', () => 'escapes/.git/hooks/pre-commit', /belongs to git itself/],
    ['.git by a link', () => 'escapes/hidden/config', /git's own files/],
    ['a pipe', () => 'escapes/pipe', /not a regular file/],
    ['a file of 6 MB', () => 'escapes/big.txt', /6\.0 MB; files over 5 MB/],
    ['a binary file', () => 'escapes/binary', /not a text file|escapes\/binary already exists/],
    ['a folder', () => 'escapes/folder', /is a folder, not a file/],
  ];

  for (const [what, of, message] of cases) {
    test(what, async () => {
      const file = of();
      const calls: [string, object][] = [
        ['read_file', { path: file }],
        ['edit_file', { path: file, edits: [{ old: 'secret', new: 'x' }] }],
        ['edit_file', { path: file, edits: [{ old: '', new: 'x' }] }],
        ['write_file', { path: file, content: 'x' }],
        ['delete_file', { path: file }],
        ['rename_file', { from: file, to: 'escapes/moved.txt' }],
        ['rename_file', { from: 'escapes/fine.txt', to: file }],
      ];
      for (const [tool, args] of calls) assert.match(await resultOf(tool, args), message, tool);
      await untouched();
    });
  }

  test('an image is shown only if a text in its place could be read', async () => {
    const refused: readonly [file: string, why: RegExp][] = [
      ['../cat.png', /outside the workspace/],
      ['escapes/out/cat.png', /through a symbolic link/],
      ['escapes/cat-link.png', /through a symbolic link/],
      ['escapes/.git/cat.png', /belongs to git itself/],
      ['escapes/hidden/cat.png', /git's own files/],
    ];
    for (const [file, why] of refused) assert.match(await resultOf('read_file', { path: file }), why, file);
    // Protected places may be read: only changes wait for a person.
    for (const file of ['folder/cat.png', 'own-link.png', '.vscode/cat.png']) {
      await api.session.prompt(`/call read_file ${JSON.stringify({ path: `escapes/${file}` })}`);
      const result = api.session.messages().findLast(message => message.role === 'tool');
      assert.match(result?.content ?? '', /: an image \(image\/png, 8 bytes\)\.$/, file);
    }
  });

  for (const glob of ['escapes/**', 'escapes/out/**', 'escapes/hidden/**', 'escapes/**/config'])
    test(`${glob} lists nothing outside, and none of git's own files`, async () => {
      await api.session.prompt(`/call list_files ${JSON.stringify({ glob })}`);
      const result = api.session.messages().findLast(message => message.role === 'tool');
      const content = result?.content ?? assert.fail('no result');
      assert.equal(content.includes('escapes/fine.txt'), glob === 'escapes/**', content);
      const names = content.split('\n').filter(line => /^escapes\/(?:out|hidden|\.git)\//.test(line));
      assert.deepEqual(names, []);
    });

  const push = (file: string): string =>
    api.previews.push({
      label: `Change ${file}`,
      sourceToolName: 'test',
      changes: [{ path: file, before: null, after: 'x' }],
    }).id;

  for (const file of ['../secret.txt', '/etc/new', 'escapes/.git/new', '']) {
    test(`an extension cannot propose ${JSON.stringify(file)} either`, async () => {
      assert.throws(() => push(file), { name: 'PathError' });
      assert.equal(api.previews.hasPending, false);
    });
  }

  const notLanded: readonly [file: string, why: RegExp][] = [
    ['escapes/out/new.txt', /link/],
    ['escapes/hidden/new', /git's own/],
    ['escapes/nowhere', /changed after the preview was made/],
  ];
  for (const [file, why] of notLanded) {
    test(`nor land ${file}`, async () => {
      const id = push(file);
      await assert.rejects(api.previews.resolve({ id, action: 'apply', reason: 'test' }), why);
      await untouched();
    });
  }

  test('more than 5 MB are not written', async () => {
    assert.match(
      await resultOf('write_file', { path: 'escapes/new.txt', content: 'x'.repeat(6 * MB) }),
      /5 MB/,
    );
  });
});
