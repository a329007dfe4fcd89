import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { gitTool } from '../../../../../src/agent/session/tools/git/gitTool.ts';
import { gitPlaceOf } from '../../../../../src/views/workspace/gitPlace.ts';
import { GitRepository } from '../../../../support/gitRepository.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

/** Calls `git` for one folder. */
function asking(folder: string, program = 'git') {
  const folders = [{ name: 'project', fsPath: folder }];
  const tool = gitTool({
    isAvailable: () => true,
    program: () => program,
    locate: input => Promise.resolve().then(() => gitPlaceOf(input, folders)),
  });
  const harness = new ToolHarness({}, [tool]);
  return async (args: object): Promise<string> => {
    const { isError, content } = await harness.run('git', args);
    return `${isError ? 'ERROR ' : ''}${content}`;
  };
}

/** A repository with two commits, `a.txt` changed on disk, and a branch at the first commit. */
async function setUp(t: TestContext) {
  const repository = await GitRepository.create(t);
  const { root } = repository.folder;
  await mkdir(path.join(root, 'sub'));
  await writeFile(path.join(root, 'a.txt'), 'one\ntwo\n');
  await writeFile(path.join(root, 'sub', 'b.txt'), 'b\n');
  repository.run(['add', '.']);
  repository.run(['commit', '-q', '-m', 'First commit']);
  repository.run(['branch', 'old']);
  await writeFile(path.join(root, 'a.txt'), 'one\nTWO\n');
  repository.run(['commit', '-q', '-a', '-m', 'Second `````` commit\n\nIts body.']);
  await writeFile(path.join(root, 'a.txt'), 'one\nTWO\nthree\n');
  return { repository, root, ask: asking(root) };
}

test('log, show, diff and blame are read, and stand in a fence that they cannot end', async t => {
  const { ask } = await setUp(t);
  const log = await ask({ action: 'log' });
  assert.match(
    log,
    /^Commits of HEAD in "project", the newest first\.\n`{7}\n[0-9a-f]+ [\d-]{10} T: \(HEAD -> main\) Second /,
  );
  assert.match(log, /T: \(old\) First commit\n`{7}$/);
  assert.match(await ask({ action: 'log', path: 'sub' }), /^Commits of HEAD in sub[^]*First commit\n```$/);
  assert.match(await ask({ action: 'log', ref: 'old..main' }), /Second/);
  assert.equal(await ask({ action: 'log', ref: 'main..old' }), 'No commit in main..old in "project".');
  const show = await ask({ action: 'show', ref: 'main' });
  for (const part of ['Author: T', 'Its body.', '-two', '+TWO']) assert.ok(show.includes(part), part);
  const diff = await ask({ action: 'diff' });
  assert.match(
    diff,
    /^What differs on disk from HEAD in "project"\. It is about the files on disk, without unsaved editors\./,
  );
  assert.match(diff, /\+three\n```$/);
  assert.match(await ask({ action: 'diff', ref: 'old' }), /\+TWO\n\+three/);
  assert.match(
    await ask({ action: 'diff', ref: 'old..main' }),
    /^What differs in old\.\.main [^]*-two\n\+TWO\n```$/,
  );
  assert.match(
    await ask({ action: 'diff', path: 'sub/b.txt' }),
    /^Nothing differs on disk from HEAD in sub\/b\.txt\./,
  );
  const blame = await ask({ action: 'blame', path: 'a.txt' });
  assert.match(blame, /\(T +[\d-]{10} 1\) one\n/);
  assert.match(blame, /0{7,} \(Not Committed Yet [^\n]* 3\) three/);
  const part = await ask({ action: 'blame', path: 'a.txt', ref: 'old', startLine: 2, endLine: 2 });
  assert.match(part, / 2\) two\n```$/);
  assert.doesNotMatch(part, /one|on disk/);
});

test('the status names the branch, and what is changed, staged or new, and writes nothing', async t => {
  const { repository, root, ask } = await setUp(t);
  await writeFile(path.join(root, 'sub', 'new.txt'), 'n\n');
  await writeFile(path.join(root, 'sub', 'b.txt'), 'B\n');
  repository.run(['add', 'sub/b.txt']);
  const index = await readFile(path.join(root, '.git', 'index'));
  assert.equal(
    await ask({ action: 'status' }),
    'What differs from the last commit in "project". It is about the files on disk, without unsaved editors.\n' +
      '```\n## main\n M a.txt\nM  sub/b.txt\n?? sub/new.txt\n```',
  );
  assert.match(await ask({ action: 'status', path: 'sub/new.txt' }), /main\n\?\? sub\/new\.txt\n```$/);
  assert.deepEqual(await readFile(path.join(root, '.git', 'index')), index);
  repository.run(['stash', '-q', '--include-untracked']);
  assert.match(await ask({ action: 'status' }), /^Nothing differs from the last commit in "project"\./);
});

test('what is asked wrongly is said', async t => {
  const { ask } = await setUp(t);
  for (const ref of ['--output=/tmp/x', '-p', '--upload-pack=x..HEAD', 'HEAD..-x', 'a\nb'])
    assert.match(
      await ask({ action: 'log', ref }),
      /^ERROR .* is not the name of a commit\. Use log to find one\.$/,
      ref,
    );
  for (const action of ['log', 'show', 'diff'])
    assert.match(await ask({ action, ref: 'nowhere' }), /^ERROR There is no commit "nowhere"\./);
  assert.match(await ask({ action: 'blame' }), /^ERROR Give the path/);
  assert.match(await ask({ action: 'blame', path: 'a.txt', startLine: 9 }), /^ERROR .*has only 3 lines/);
  assert.match(
    await ask({ action: 'blame', path: 'a.txt', startLine: 3, endLine: 1 }),
    /^ERROR endLine 1 is before/,
  );
  for (const outside of ['../x', '/etc/passwd', '.git/config', ':(top)x/../../y'])
    assert.match(await ask({ action: 'log', path: outside }), /^ERROR /, outside);
});

test('where there is no git or no repository, that is said', async t => {
  const folder = await TempFolder.create();
  t.after(() => rm(folder.root, { recursive: true, force: true }));
  assert.match(
    await asking(folder.root)({ action: 'log' }),
    /^ERROR The folder "project" is in no git repository/,
  );
  assert.match(
    await asking(folder.root, 'no-such-git')({ action: 'log' }),
    /^ERROR git is not installed here/,
  );
  const empty = await GitRepository.create(t);
  assert.equal(await asking(empty.folder.root)({ action: 'log' }), 'ERROR There is no commit yet.');
});

test('a folder of a larger repository tells nothing of the rest', async t => {
  const { repository, root } = await setUp(t);
  await writeFile(path.join(root, 'sub', 'b.txt'), 'B\n');
  const ask = asking(path.join(root, 'sub'));
  for (const action of ['log', 'show', 'diff']) {
    const told = await ask({ action, ref: action === 'show' ? 'old' : 'HEAD' });
    assert.match(told, action === 'log' ? /First commit/ : /b\.txt/, action);
    assert.doesNotMatch(told, /a\.txt|three|Second/, action);
  }
  for (const elsewhere of ['/', path.join(root, '..'), '/tmp/nowhere']) {
    repository.config('core.worktree', elsewhere);
    assert.match(
      await asking(root)({ action: 'diff' }),
      /^ERROR .*(its files are elsewhere|cannot read)/,
      elsewhere,
    );
  }
});

test('long output is cut, and says so', async t => {
  const { ask, root } = await setUp(t);
  await writeFile(path.join(root, 'a.txt'), 'x'.repeat(50) + '\ny'.repeat(200_000));
  const told = await ask({ action: 'diff' });
  assert.ok(told.length < 31_000, String(told.length));
  assert.match(told, /\n```\n\[Cut off\. Name a path, or fewer commits or lines\.\]$/);
});

test('a hostile repository makes it run nothing', async t => {
  const { repository, root, ask } = await setUp(t);
  const marker = path.join(root, '..', `${path.basename(root)}-ran`);
  t.after(() => rm(marker, { force: true }));
  const evil = path.join(root, 'evil.sh');
  await writeFile(evil, `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`);
  await chmod(evil, 0o755);
  await writeFile(path.join(root, '.gitattributes'), '*.txt filter=x diff=y\n*.lfs filter=a=b.c\n');
  await writeFile(path.join(root, 'c.lfs'), 'c\n');
  repository.run(['add', '.gitattributes', 'c.lfs']);
  repository.run(['commit', '-q', '-m', 'Attributes']);
  await writeFile(path.join(root, 'c.lfs'), 'C\n');
  const settings: readonly (readonly [string, string])[] = [
    ...['clean', 'smudge', 'process'].map(key => [`filter.x.${key}`, evil] as const),
    ['filter.x.required', 'true'],
    ...['clean', 'smudge'].map(key => [`filter.a=b.c.${key}`, evil] as const),
    ['diff.y.textconv', evil],
    ['diff.y.command', evil],
    ['diff.external', evil],
    ['core.fsmonitor', evil],
    ['core.pager', evil],
    ['pager.log', evil],
    ['core.editor', evil],
    ['core.sshCommand', evil],
    ['core.hooksPath', root],
    ['gpg.program', evil],
    ['log.showSignature', 'true'],
    ['alias.log', `!${evil}`],
    ['remote.origin.url', `ext::${evil}`],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.uploadpack', evil],
    ['protocol.ext.allow', 'always'],
    ['extensions.partialClone', 'origin'],
    ['core.repositoryFormatVersion', '1'],
    ['credential.helper', evil],
    ['blame.ignoreRevsFile', '/nowhere'],
    ['color.status', 'always'],
    ['status.submoduleSummary', 'true'],
  ];
  for (const [name, value] of settings) repository.config(name, value);
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'reference-transaction'])
    await symlink(evil, path.join(root, '.git', 'hooks', hook));
  const blob = repository.run(['-c', 'core.fsmonitor=false', 'rev-parse', 'old:a.txt']).trim();
  await rm(path.join(root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)), { force: true });
  await rm(marker, { force: true });

  for (const args of [
    { action: 'status' },
    { action: 'log' },
    { action: 'log', path: 'a.txt' },
    { action: 'show' },
    { action: 'show', ref: 'HEAD~1' }, // needs the object that is missing
    { action: 'diff' },
    { action: 'diff', ref: 'old' },
    { action: 'blame', path: 'a.txt' },
    { action: 'blame', path: 'a.txt', ref: 'HEAD' },
  ])
    await ask(args);
  assert.ok(!existsSync(marker), 'nothing has run');
  assert.match(await ask({ action: 'status' }), /\n M a\.txt\n/);
  assert.match(
    await ask({ action: 'diff' }),
    /Filters, such as that of Git LFS, are not run[^]*\+three[^]*\+C/,
  );
  // The trap works: git itself, asked as usual, springs it.
  assert.throws(() => repository.run(['diff', '--exit-code']));
  assert.ok(existsSync(marker), 'the settings would run it');
});
