import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, until } from '../support/redline.ts';

interface GitApi {
  openRepository(root: vscode.Uri): Promise<unknown>;
}

const FOLDER = 'elsewhere';
const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 30 }, (_, n) => `${changed[n] ?? `line ${n}`}\n`).join('');

suite('changes made elsewhere', () => {
  let api: RedlineApi;
  let root = '';

  const git = (...args: string[]): string =>
    execFileSync(
      'git',
      ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'core.autocrlf=false', ...args],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
  const write = (name: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  };
  const read = (name: string): string | undefined => {
    const file = path.join(root, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const commit = (message: string): void => {
    git('add', '-A');
    git('commit', '-qm', message);
  };
  const run = (command: string, ...args: unknown[]) =>
    vscode.commands.executeCommand<string[] | undefined>(command, ...args);
  const at = (name: string): string => `${FOLDER}/${name}`;
  const files = (id: string | undefined): string[] =>
    (api.previews.get(id ?? '')?.files ?? []).map(({ kind, path: file }) => `${kind} ${file}`);

  suiteSetup(async () => {
    api = await activateRedline();
  });

  let number = 0;
  setup(async () => {
    // Each test has a repository of its own, since the git extension keeps what it knows of one.
    root = path.join(fileInWorkspace(FOLDER), String(++number));
    mkdirSync(root, { recursive: true });
    git('init', '-q', '-b', 'main');
    write('a.ts', lines());
    write('gone.ts', 'gone\n');
    write('old.ts', lines());
    write('crlf.txt', 'one\r\ntwo\r\n');
    write('run.sh', '#!/bin/sh\n');
    commit('first');
    const extension = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git');
    assert.ok(extension, 'the git extension is there');
    const opened = await (await extension.activate()).getAPI(1).openRepository(vscode.Uri.file(root));
    assert.ok(opened);
    await vscode.window.showTextDocument(vscode.Uri.file(path.join(root, 'a.ts')));
  });

  teardown(async () => {
    await cleanUp(api);
    await vscode.commands.executeCommand('git.close', vscode.Uri.file(root));
  });

  suiteTeardown(() => rmSync(fileInWorkspace(FOLDER), { recursive: true, force: true }));

  const name = (file: string): string => at(`${number}/${file}`);
  /** Everything on disk that git tracks or could, with its content. */
  const disk = (): string => git('status', '--porcelain', '-uall') + git('diff', 'HEAD', '--binary');

  test('a branch switch while a preview is pending: it is out of date there, and as before after switching back', async () => {
    git('checkout', '-qb', 'other');
    write('a.ts', lines({ 3: 'other 3' }));
    commit('other');
    git('checkout', '-q', 'main');
    const change = {
      path: name('a.ts'),
      before: lines(),
      after: lines({ 3: 'proposed 3', 25: 'proposed 25' }),
    };
    const { id } = api.previews.push({ label: 'pending', sourceToolName: 'test', changes: [change] });
    await run('redline.preview.open', id);
    git('checkout', '-q', 'other');
    await run('redline.preview.apply', id);
    assert.equal(api.previews.get(id)?.stale, true);
    assert.equal(read('a.ts'), lines({ 3: 'other 3' }), 'nothing is written to the other branch');
    git('checkout', '-q', 'main');
    await run('redline.preview.apply', id);
    assert.equal(read('a.ts'), change.after);
  });

  test('a branch comes onto files that moved on: untouched until Apply, hunk by hunk, exact bytes', async () => {
    git('checkout', '-qb', 'feature/x');
    write('a.ts', lines({ 3: 'theirs 3', 25: 'theirs 25' }));
    write('new.ts', 'new');
    write('crlf.txt', 'one\r\nTWO\r\n');
    rmSync(path.join(root, 'gone.ts'));
    git('mv', 'old.ts', 'moved.ts');
    write('moved.ts', lines({ 9: 'moved' }));
    write('logo.png', Buffer.from([0, 1, 2, 0]));
    symlinkSync('a.ts', path.join(root, 'link'));
    chmodSync(path.join(root, 'run.sh'), 0o755);
    commit('theirs');
    git('checkout', '-q', 'main');
    write('a.ts', lines({ 12: 'mine 12' }));
    commit('mine');
    const before = disk();
    const ids = await run('redline.elsewhere.reviewBranch', 'feature/x');
    assert.equal(ids?.length, 1);
    const [id = ''] = ids;
    const preview = api.previews.get(id);
    assert.equal(preview?.agent?.name, 'branch feature/x');
    assert.equal(preview?.label, 'Branch feature/x');
    assert.deepEqual(files(id).sort(), [
      `create ${name('link')}`,
      `create ${name('logo.png')}`,
      `create ${name('new.ts')}`,
      `delete ${name('gone.ts')}`,
      `modify ${name('a.ts')}`,
      `modify ${name('crlf.txt')}`,
      `rename ${name('moved.ts')}`,
    ]);
    assert.equal(disk(), before, 'nothing on disk changed');
    await run('redline.preview.applyHunk', id, name('a.ts'), 1, preview?.revision);
    assert.equal(read('a.ts'), lines({ 12: 'mine 12', 25: 'theirs 25' }), 'the second hunk alone');
    assert.equal(read('new.ts'), undefined);
    await run('redline.preview.apply', id);
    assert.equal(read('a.ts'), lines({ 3: 'theirs 3', 12: 'mine 12', 25: 'theirs 25' }));
    assert.equal(read('new.ts'), 'new');
    assert.equal(read('crlf.txt'), 'one\r\nTWO\r\n');
    assert.equal(read('gone.ts'), undefined);
    assert.equal(read('old.ts'), undefined);
    assert.equal(read('moved.ts'), lines({ 9: 'moved' }));
    assert.deepEqual(readFileSync(path.join(root, 'logo.png')), Buffer.from([0, 1, 2, 0]));
    assert.equal(readlinkSync(path.join(root, 'link')), 'a.ts');
    const [entry] = api.previews.ledger().filter(({ previewId }) => previewId === id);
    assert.equal(entry?.agent?.name, 'branch feature/x');
  });

  test('an image is shown as VS Code shows it, a link and any other binary file as a sentence, and each is written whole', async () => {
    // Two images of one pixel, which differ in what follows the end.
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const [black, white] = ['0', '1'].map(end =>
      Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.from(end)]),
    );
    assert.ok(black && white);
    write('i.png', black);
    write('data.bin', Buffer.from([0, 1]));
    symlinkSync('a.ts', path.join(root, 'link'));
    commit('mine');
    git('checkout', '-qb', 'whole');
    write('i.png', white);
    write('data.bin', Buffer.from([0, 1, 2]));
    rmSync(path.join(root, 'link'));
    symlinkSync('old.ts', path.join(root, 'link'));
    commit('theirs');
    git('checkout', '-q', 'main');
    const [id = ''] = (await run('redline.elsewhere.reviewBranch', 'whole')) ?? [];
    const document = async (file: string, query: string): Promise<Buffer> =>
      Buffer.from(
        await vscode.workspace.fs.readFile(
          vscode.Uri.from({ scheme: 'redline-preview', authority: id, path: path.join(root, file), query }),
        ),
      );
    const text = async (...of: Parameters<typeof document>): Promise<string> =>
      new TextDecoder().decode(await document(...of));
    assert.equal(await text('link', 'base'), 'Symbolic link to a.ts');
    assert.equal(await text('link', ''), 'Symbolic link to old.ts');
    assert.match(await text('data.bin', ''), /^Binary file, 3 bytes, SHA-256 [0-9a-f]{64}$/);
    assert.match(await text('i.png', ''), /^Binary file, \d+ bytes/);
    assert.deepEqual(await document('i.png', 'base&image'), black);
    assert.deepEqual(await document('i.png (Redline).png', '&image'), white);

    await run('redline.preview.open', id, name('i.png'));
    const labels = (): readonly string[] =>
      vscode.window.tabGroups.all.flatMap(group => group.tabs.map(({ label }) => label));
    const images = (mark: string): string => `i.png ↔ i.png (${mark}).png`;
    const closed = (mark: string): Promise<true> => {
      const isClosed = (): true | undefined => !labels().includes(images(mark)) || undefined;
      return until(vscode.window.tabGroups.onDidChangeTabs, isClosed, 'the diff of the images to be closed');
    };
    assert.deepEqual(labels(), [images('Redline')]);
    await run('redline.preview.applyFile', id, name('i.png'), api.previews.get(id)?.revision);
    await closed('Redline');
    assert.deepEqual(readFileSync(path.join(root, 'i.png')), white);
    assert.equal(readlinkSync(path.join(root, 'link')), 'a.ts');
    await run('redline.preview.apply', id);
    assert.equal(readlinkSync(path.join(root, 'link')), 'old.ts');
    assert.deepEqual(readFileSync(path.join(root, 'data.bin')), Buffer.from([0, 1, 2]));
    assert.equal(read('a.ts'), lines(), 'nothing was written through the link');

    write('i.png', black);
    const [alone = ''] = (await run('redline.elsewhere.reviewBranch', 'whole')) ?? [];
    await run('redline.preview.open', alone);
    assert.deepEqual(labels(), [images('Redline 2')]);
    await run('redline.preview.discard', alone);
    await closed('Redline 2');
    assert.deepEqual(readFileSync(path.join(root, 'i.png')), black);
  });

  test('what both sides changed is a preview of its own with markers, which cannot be applied yet', async () => {
    git('checkout', '-qb', 'other');
    write('a.ts', lines({ 3: 'theirs' }));
    write('crlf.txt', 'ONE\r\ntwo\r\n');
    commit('theirs');
    git('checkout', '-q', 'main');
    write('a.ts', lines({ 3: 'mine' }));
    const [clean = '', conflicted = ''] = (await run('redline.elsewhere.reviewBranch', 'other')) ?? [];
    assert.deepEqual(files(clean), [`modify ${name('crlf.txt')}`]);
    assert.deepEqual(files(conflicted), [`modify ${name('a.ts')}`]);
    assert.equal(api.previews.get(conflicted)?.stale, true);
    assert.equal(api.previews.get(clean)?.stale, false);
    await run('redline.preview.apply', conflicted);
    assert.equal(api.previews.get(conflicted)?.state, 'pending');
    assert.equal(read('a.ts'), lines({ 3: 'mine' }));
  });

  test('a worktree comes with what is not committed and not tracked there', async () => {
    const there = path.join(fileInWorkspace(FOLDER), 'wt');
    git('worktree', 'add', '-q', '-b', 'agent', there);
    writeFileSync(path.join(there, 'a.ts'), lines({ 3: 'committed' }));
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qam', 'there'], {
      cwd: there,
    });
    writeFileSync(path.join(there, 'a.ts'), lines({ 3: 'committed', 20: 'not committed' }));
    writeFileSync(path.join(there, 'fresh.ts'), 'fresh\n');
    rmSync(path.join(there, 'gone.ts'));
    const before = disk();
    const [id = ''] = (await run('redline.elsewhere.reviewBranch', there)) ?? [];
    assert.equal(api.previews.get(id)?.agent?.name, 'worktree ../wt');
    assert.deepEqual(files(id).sort(), [
      `create ${name('fresh.ts')}`,
      `delete ${name('gone.ts')}`,
      `modify ${name('a.ts')}`,
    ]);
    assert.equal(disk(), before);
    await run('redline.preview.apply', id);
    assert.equal(read('a.ts'), lines({ 3: 'committed', 20: 'not committed' }));
    assert.equal(read('fresh.ts'), 'fresh\n');
    assert.equal(read('gone.ts'), undefined);
    await vscode.commands.executeCommand('git.close', vscode.Uri.file(there));
  });

  test('a file of a worktree that was changed by a commit and then moved is one change', async () => {
    const there = path.join(fileInWorkspace(FOLDER), 'moving');
    const inside = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: there });
    git('worktree', 'add', '-q', '-b', 'moving', there);
    writeFileSync(path.join(there, 'a.ts'), lines({ 3: 'committed' }));
    inside('mv', 'crlf.txt', 'between.txt');
    inside('commit', '-qam', 'there');
    inside('mv', 'a.ts', 'moved.ts');
    inside('mv', 'between.txt', 'end.txt');
    const [id = ''] = (await run('redline.elsewhere.reviewBranch', there)) ?? [];
    assert.deepEqual(files(id).sort(), [`rename ${name('end.txt')}`, `rename ${name('moved.ts')}`]);
    assert.equal(api.previews.get(id)?.stale, false);
    await run('redline.preview.apply', id);
    assert.deepEqual([read('a.ts'), read('moved.ts')], [undefined, lines({ 3: 'committed' })]);
    assert.deepEqual([read('crlf.txt'), read('between.txt')], [undefined, undefined]);
    assert.ok(read('end.txt'));
    await vscode.commands.executeCommand('git.close', vscode.Uri.file(there));
  });

  test('a patch of git, from a file and from the clipboard, is applied exactly once it is', async () => {
    write('a.ts', lines({ 3: 'patched', 20: 'too' }));
    write('crlf.txt', 'one\r\nTWO\r\n');
    write('new file.ts', 'new');
    git('add', '-A');
    const patch = git('diff', '--cached');
    git('reset', '-q', '--hard');
    write('a.ts', `first\n${lines()}`);
    const file = path.join(root, 'fix.patch');
    writeFileSync(file, patch);
    for (const source of ['file', 'clipboard']) {
      await vscode.env.clipboard.writeText(source === 'file' ? '' : patch);
      const given = source === 'file' ? vscode.Uri.file(file) : 'clipboard';
      const [id = ''] = (await run('redline.elsewhere.reviewPatch', given)) ?? [];
      const expected = source === 'file' ? 'patch fix.patch' : 'patch on the clipboard';
      assert.equal(api.previews.get(id)?.agent?.name, expected);
      assert.equal(read('a.ts'), `first\n${lines()}`);
      if (source === 'file') {
        await run('redline.preview.discard', id);
        continue;
      }
      await run('redline.preview.applyHunk', id, name('a.ts'), 0, api.previews.get(id)?.revision);
      assert.equal(read('a.ts'), `first\n${lines({ 3: 'patched' })}`);
      await run('redline.preview.apply', id);
    }
    assert.equal(read('a.ts'), `first\n${lines({ 3: 'patched', 20: 'too' })}`);
    assert.equal(read('crlf.txt'), 'one\r\nTWO\r\n');
    assert.equal(read('new file.ts'), 'new');
    rmSync(file);
  });

  test('uncommitted changes are held back: the last commit is on disk, the preview has them, hunk by hunk', async () => {
    write('a.ts', lines({ 3: 'agent 3', 20: 'agent 20' }));
    write('tool.sh', '#!/bin/sh\necho\n');
    chmodSync(path.join(root, 'tool.sh'), 0o750);
    rmSync(path.join(root, 'gone.ts'));
    git('add', 'a.ts');
    write('crlf.txt', 'kept\r\n');
    const id = (await run(
      'redline.elsewhere.holdBack',
      ...['a.ts', 'tool.sh', 'gone.ts'].map(each => ({
        resourceUri: vscode.Uri.file(path.join(root, each)),
      })),
    )) as unknown as string;
    assert.equal(
      git('status', '--porcelain'),
      ' M crlf.txt\n',
      'the last commit, nothing staged, other files as they are',
    );
    assert.equal(read('a.ts'), lines());
    assert.equal(read('gone.ts'), 'gone\n');
    const preview = api.previews.get(id);
    assert.equal(preview?.agent?.name, 'your uncommitted changes');
    assert.equal(preview?.stale, false);
    assert.deepEqual(files(id).sort(), [
      `create ${name('tool.sh')}`,
      `delete ${name('gone.ts')}`,
      `modify ${name('a.ts')}`,
    ]);
    await run('redline.preview.applyHunk', id, name('a.ts'), 0, preview?.revision);
    assert.equal(read('a.ts'), lines({ 3: 'agent 3' }));
    await run('redline.preview.apply', id);
    assert.equal(read('a.ts'), lines({ 3: 'agent 3', 20: 'agent 20' }));
    assert.equal(read('tool.sh'), '#!/bin/sh\necho\n');
    assert.equal(statSync(path.join(root, 'tool.sh')).mode & 0o777, 0o750);
    assert.equal(read('gone.ts'), undefined);
  });

  test('what is committed, staged or typed while the files are chosen is as it is then', async () => {
    write('a.ts', lines({ 3: 'staged first' }));
    git('add', 'a.ts');
    write('crlf.txt', 'first\r\n');
    write('fresh.ts', 'fresh\n');
    const { showQuickPick } = vscode.window;
    const pickAll = <T>(items: readonly T[]): Promise<readonly T[]> => {
      git('add', 'fresh.ts');
      git('commit', '-qm', 'fresh', '--', 'fresh.ts');
      write('a.ts', lines({ 3: 'staged' }));
      git('add', 'a.ts');
      write('a.ts', lines({ 3: 'typed' }));
      write('crlf.txt', 'then\r\n');
      write('later.ts', 'not chosen\n');
      return Promise.resolve(items);
    };
    Object.assign(vscode.window, { showQuickPick: pickAll });
    try {
      const id = (await run('redline.elsewhere.holdBack')) as unknown as string;
      assert.deepEqual(files(id), [`modify ${name('crlf.txt')}`]);
    } finally {
      Object.assign(vscode.window, { showQuickPick });
    }
    assert.equal(git('status', '--porcelain'), 'MM a.ts\n?? later.ts\n');
    assert.equal(git('show', ':a.ts'), lines({ 3: 'staged' }));
    assert.equal(read('a.ts'), lines({ 3: 'typed' }));
    assert.equal(read('fresh.ts'), 'fresh\n');
    assert.equal(read('crlf.txt'), 'one\r\ntwo\r\n');
  });

  test('undoing the hold back gives the files back exactly, with a line in the ledger for each step', async () => {
    const bytes = 'one\r\ntwo\nthree';
    write('crlf.txt', bytes);
    write('tool.sh', 'x');
    chmodSync(path.join(root, 'tool.sh'), 0o755);
    const uris = ['crlf.txt', 'tool.sh'].map(each => vscode.Uri.file(path.join(root, each)));
    await run('redline.elsewhere.holdBack', ...uris);
    assert.equal(read('tool.sh'), undefined);
    assert.equal(read('crlf.txt'), 'one\r\ntwo\r\n');
    const reverted = api.previews.ledger().at(-1);
    assert.equal(reverted?.outcome, 'applied');
    assert.match(reverted.label, /^Hold back uncommitted changes to 2 files$/);
    const undo = (await run('redline.preview.undo', reverted.previewId)) as unknown as string;
    await run('redline.preview.apply', undo);
    assert.equal(read('crlf.txt'), bytes);
    assert.equal(read('tool.sh'), 'x');
    assert.equal(statSync(path.join(root, 'tool.sh')).mode & 0o777, 0o755);
    assert.equal(api.previews.ledger().at(-1)?.previewId, undo);
  });

  test('where git converts line endings, a file gets back the ones that it has on disk', async () => {
    git('config', 'core.autocrlf', 'true');
    git('config', 'core.safecrlf', 'false');
    const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
    write('a.ts', crlf(lines({ 3: 'agent 3' })));
    const uri = vscode.Uri.file(path.join(root, 'a.ts'));
    const id = (await run('redline.elsewhere.holdBack', uri)) as unknown as string;
    assert.equal(read('a.ts'), crlf(lines()));
    await run('redline.preview.apply', id);
    assert.equal(read('a.ts'), crlf(lines({ 3: 'agent 3' })));
  });

  test('without such a conversion, a file gets back the line endings of the last commit', async () => {
    write('a.ts', lines({ 3: 'agent 3' }).replaceAll('\n', '\r\n'));
    const uri = vscode.Uri.file(path.join(root, 'a.ts'));
    const id = (await run('redline.elsewhere.holdBack', uri)) as unknown as string;
    assert.equal(read('a.ts'), lines());
    assert.equal(git('status', '--porcelain'), '');
    await run('redline.preview.apply', id);
    assert.equal(read('a.ts'), lines({ 3: 'agent 3' }).replaceAll('\n', '\r\n'));
  });

  test('a staged rename is held back as a rename, and nothing of it stays staged', async () => {
    git('mv', 'old.ts', 'renamed.ts');
    write('renamed.ts', lines({ 3: 'agent 3' }));
    git('add', '-A');
    const uri = vscode.Uri.file(path.join(root, 'renamed.ts'));
    const id = (await run('redline.elsewhere.holdBack', uri)) as unknown as string;
    assert.equal(git('status', '--porcelain'), '');
    assert.deepEqual(files(id), [`rename ${name('renamed.ts')}`]);
    await run('redline.preview.apply', id);
    assert.equal(read('old.ts'), undefined);
    assert.equal(read('renamed.ts'), lines({ 3: 'agent 3' }));
  });

  test('if a file cannot be given back, nothing changes and both previews are withdrawn', async () => {
    write('a.ts', lines({ 3: 'agent' }));
    write('crlf.txt', 'agent\r\n');
    chmodSync(path.join(root, 'crlf.txt'), 0o444);
    const before = disk();
    const uris = ['a.ts', 'crlf.txt'].map(each => vscode.Uri.file(path.join(root, each)));
    assert.equal(await run('redline.elsewhere.holdBack', ...uris), undefined);
    assert.equal(disk(), before);
    assert.deepEqual(api.previews.list(), []);
    chmodSync(path.join(root, 'crlf.txt'), 0o644);
  });

  test('in the middle of a merge nothing is held back, so that the commit of the merge has what the other side made', async () => {
    git('switch', '-qc', 'theirs');
    write('theirs.ts', 'theirs\n');
    commit('theirs');
    git('switch', '-q', 'main');
    git('merge', '-q', '--no-commit', '--no-ff', 'theirs');
    write('a.ts', lines({ 3: 'agent' }));
    const before = disk();
    assert.equal(
      await run('redline.elsewhere.holdBack', vscode.Uri.file(path.join(root, 'a.ts'))),
      undefined,
    );
    assert.equal(disk(), before);
    assert.deepEqual(api.previews.list(), []);
    git('commit', '-qam', 'merged');
    assert.equal(git('show', 'HEAD:theirs.ts'), 'theirs\n');
    assert.equal(git('rev-list', '--parents', '-1', 'HEAD').trim().split(' ').length, 3);
  });

  test('a name that is no text is told, and neither it nor the file that looks like it is held back', async () => {
    if (process.platform !== 'linux') return; // elsewhere every name is text
    write('\ufffd.txt', 'twin\n');
    commit('twin');
    write('\ufffd.txt', 'changed twin\n');
    const nameless = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('.txt')]);
    writeFileSync(nameless, 'bytes\n');
    const { showWarningMessage } = vscode.window;
    const told: string[] = [];
    const tell = (text: string): Promise<undefined> => {
      told.push(text);
      return Promise.resolve(undefined);
    };
    Object.assign(vscode.window, { showWarningMessage: tell });
    try {
      // Source Control shows both of them under this name.
      const uri = vscode.Uri.file(path.join(root, '\ufffd.txt'));
      assert.equal(await run('redline.elsewhere.holdBack', uri), undefined);
      assert.deepEqual(api.previews.list(), []);
      assert.equal(read('\ufffd.txt'), 'changed twin\n');
      assert.equal(readFileSync(nameless, 'utf8'), 'bytes\n');
      assert.equal(told.length, 1);
      assert.match(told[0] ?? '', /\\xff\.txt: .*\ufffd\.txt: |\ufffd\.txt: .*\\xff\.txt: /);
      const other = await run('redline.elsewhere.holdBack', vscode.Uri.file(path.join(root, 'a.ts')));
      assert.equal(other, undefined);
      assert.equal(told.length, 1, 'it is told where it is meant');
    } finally {
      Object.assign(vscode.window, { showWarningMessage });
    }
  });

  test('files with unsaved changes, and staged ones that differ, are not held back', async () => {
    write('a.ts', lines({ 3: 'staged' }));
    git('add', 'a.ts');
    write('a.ts', lines({ 3: 'on disk' }));
    write('crlf.txt', 'changed\r\n');
    const document = await vscode.workspace.openTextDocument(path.join(root, 'crlf.txt'));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'typed ');
    await vscode.workspace.applyEdit(edit);
    const before = disk();
    const uris = ['a.ts', 'crlf.txt'].map(each => vscode.Uri.file(path.join(root, each)));
    assert.equal(await run('redline.elsewhere.holdBack', ...uris), undefined);
    assert.equal(disk(), before);
    assert.deepEqual(api.previews.list(), []);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
});
