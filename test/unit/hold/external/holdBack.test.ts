import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { english } from '../../../../src/agent/base/localiser.ts';
import { holdBack } from '../../../../src/agent/hold/external/holdBack.ts';
import { stageGathered } from '../../../../src/agent/hold/external/stageGathered.ts';
import { sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import { create, modify, remove } from '../../../support/changes.ts';
import { holdBackIn, world } from './heldBack.ts';
import { GitRepository } from '../../../support/gitRepository.ts';
import { type MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const side = (text: string) => sideOfText(text);

const edited = { path: 'a.ts', head: side('a\n'), now: side('A\n') };
const fresh = { path: 'new.sh', head: null, now: side('new\n'), mode: 0o755 };
const deleted = { path: 'gone.ts', head: side('gone\n'), now: null };
const moved = { path: 'to.ts', from: 'from.ts', head: side('m\n'), now: side('M\n') };
const all = [edited, fresh, deleted, moved];
const before = { 'a.ts': 'A\n', 'new.sh': 'new\n', 'to.ts': 'M\n' };
const committed = { 'a.ts': 'a\n', 'gone.ts': 'gone\n', 'from.ts': 'm\n' };
const filesOf = (workspace: MemoryWorkspace, paths: readonly string[]) =>
  Object.fromEntries(
    paths.flatMap(path => (workspace.text(path) === undefined ? [] : [[path, workspace.text(path)]])),
  );
const paths = [...new Set([...Object.keys(before), ...Object.keys(committed)])];

test('the files get back what the last commit has, the content is in a preview, and applying or undoing brings it back', async () => {
  for (const way of ['apply', 'undo'] as const) {
    const { workspace, store, invoker, rebaser, stage } = world(before);
    const held = await holdBack(all, { l10n: english, store, invoker, stage });
    assert.ok(held);
    await rebaser.refresh([]);
    assert.deepEqual(filesOf(workspace, paths), committed);
    const { id, revision, state, origin } = store.get(held.held.id) ?? assert.fail();
    assert.deepEqual(state, { kind: 'pending', stale: [] });
    assert.equal(origin?.agent?.name, 'your uncommitted changes');
    const created = held.held.changes?.find(change => change.kind === 'create');
    assert.equal(created?.mode, 0o755);
    assert.equal(store.get(held.reverted.id)?.state.kind, 'applied');
    const [entry] = store.ledger();
    assert.deepEqual(
      [entry?.previewId, entry?.actor, entry?.outcome],
      [held.reverted.id, 'human', 'applied'],
    );
    const vote = { action: 'apply', reason: '', actor: 'human' } as const;
    if (way === 'apply') await invoker.resolve({ id, revision, ...vote });
    else {
      const undo = undoAction(store.get(held.reverted.id) ?? assert.fail());
      await invoker.resolve({ id: stage(undo ?? assert.fail()).preview.id, ...vote });
    }
    assert.deepEqual(filesOf(workspace, paths), before, way);
  }
});

test('both are in the log before the first file changes', async () => {
  const { workspace, store, invoker, stage, log } = world(before);
  const at: string[][] = [];
  workspace.beforeWrite = () => void at.push(log.map(({ type }) => type));
  await holdBack([edited], { l10n: english, store, invoker, stage });
  assert.deepEqual(at, [['staged', 'staged', 'commit']]);
});

test('if the files cannot be given back, both previews are withdrawn and the files are as they were', async () => {
  const { workspace, store, invoker, stage } = world(before);
  workspace.makeReadOnly('a.ts');
  await assert.rejects(holdBack([edited, deleted], { l10n: english, store, invoker, stage }), /read-only/);
  assert.deepEqual(filesOf(workspace, paths), before);
  assert.equal(store.open.size, 0);
  assert.deepEqual(
    store.all().map(({ state }) => state.kind),
    ['discarded', 'discarded'],
  );
});

test('a file that changed since it was read is not touched', async () => {
  const { workspace, store, invoker, stage } = world(before);
  workspace.put('a.ts', 'newer\n');
  await assert.rejects(holdBack(all, { l10n: english, store, invoker, stage }), /changed/);
  assert.deepEqual(filesOf(workspace, paths), { ...before, 'a.ts': 'newer\n' });
  assert.equal(store.open.size, 0);
});

test('files as in the last commit are nothing to hold back', async () => {
  const { store, invoker, stage } = world({ 'a.ts': 'a\n' });
  assert.equal(
    await holdBack([{ ...edited, now: edited.head }], { l10n: english, store, invoker, stage }),
    undefined,
  );
  assert.equal(store.all().length, 0);
});

test('a staged copy is a new file, whatever git is set to find', async t => {
  const repository = await GitRepository.create(t);
  const text = 'a line\n'.repeat(20);
  repository.checkedOut({ 'a.ts': text });
  repository.config('status.renames', 'copies');
  const { folder } = repository;
  await folder.file('copy.ts', text);
  await folder.file('a.ts', `${text}more\n`);
  repository.run(['add', '-A']);
  const { files, apply } = await holdBackIn(repository, { only: ['copy.ts'] });
  assert.deepEqual(
    files.map(({ path, from, head }) => [path, from, head]),
    [['copy.ts', undefined, null]],
  );
  assert.equal(existsSync(folder.at('copy.ts')), false);
  assert.equal(repository.run(['status', '--porcelain']), 'M  a.ts\n');
  await apply();
  assert.equal(readFileSync(folder.at('copy.ts'), 'utf8'), text);
});

test('a link that takes the place of a folder while its files are held back is not followed', async t => {
  const repository = await GitRepository.create(t);
  repository.checkedOut({ 'folder/it': 'a' });
  const { folder } = repository;
  await folder.file('folder/it', 'now');
  const outside = await TempFolder.create();
  t.after(() => outside.remove());
  await outside.file('it', 'SECRET');
  const onRead = (): void => {
    rmSync(folder.at('folder'), { recursive: true });
    symlinkSync(outside.root, folder.at('folder'));
  };
  const { files, reasons } = await holdBackIn(repository, { onRead });
  assert.deepEqual([files, reasons], [[], ['folder/it: outside']]);
  assert.equal(readFileSync(outside.at('it'), 'utf8'), 'SECRET');
});

test('what cannot be held back is named', async t => {
  const repository = await GitRepository.create(t);
  repository.checkedOut({
    'typed.ts': 'a',
    'link.ts': 'a',
    module: { mode: '160000' },
    'fine.ts': 'b',
    'i.png': 'b',
  });
  const { folder } = repository;
  for (const name of ['typed.ts', 'fine.ts']) await folder.file(name, 'now');
  await folder.file('i.png', 'a\0b');
  rmSync(folder.at('link.ts'));
  await folder.link('link.ts', 'fine.ts');
  rmSync(folder.at('module'), { recursive: true, force: true });
  const { files, reasons } = await holdBackIn(repository, { unsaved: ['typed.ts'] });
  assert.deepEqual(reasons, ['i.png: binary', 'link.ts: link', 'module: submodule', 'typed.ts: unsaved']);
  assert.deepEqual(
    files.map(({ path, head, now }) => [path, head?.text, now?.text]),
    [['fine.ts', 'b', 'now']],
  );
});

test('while two sides of a merge are in conflict, a file is not held back, and git says that a merge is under way', async t => {
  const repository = await GitRepository.create(t);
  const { folder, git } = repository;
  const base = repository.commit({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
  const theirs = repository.commit({ 'a.ts': 'theirs\n', 'b.ts': 'theirs\n' }, base);
  repository.run(['reset', '-q', '--hard', base]);
  await folder.file('a.ts', 'mine\n');
  repository.run(['commit', '-qam', 'mine']);
  assert.equal(await git.operation(), undefined);
  assert.throws(() => repository.run(['merge', '-q', theirs]));
  assert.equal(await git.operation(), 'merge');
  const { reasons } = await holdBackIn(repository, { only: ['a.ts'] });
  assert.deepEqual(reasons, ['a.ts: merging']);
  repository.run(['merge', '--abort']);
  const under = async (...args: string[]): Promise<string | undefined> => {
    assert.throws(() => repository.run(args));
    return git.operation();
  };
  assert.equal(await under('rebase', '-q', theirs), 'rebase');
  repository.run(['rebase', '--abort']);
  assert.equal(await under('cherry-pick', theirs), 'cherry-pick');
  repository.run(['cherry-pick', '--abort']);
  assert.equal(await under('revert', '--no-edit', theirs), 'revert');
  repository.run(['revert', '--abort']);
  repository.run(['bisect', 'start']);
  assert.equal(await git.operation(), 'bisect');
  repository.run(['bisect', 'reset']);
  assert.equal(await git.operation(), undefined);
});

/** Attributes by which git writes another form than it stores. */
const ATTRIBUTES = [
  'text eol=crlf',
  'text working-tree-encoding=UTF-16LE-BOM',
  'ident',
  'filter=upper',
  '-text',
];

for (const attribute of ATTRIBUTES) {
  test(`files get back what git checkout would write, and the changes come back: ${attribute}`, async t => {
    const repository = await GitRepository.create(t);
    repository.config('filter.upper.smudge', 'tr a-z A-Z');
    repository.config('filter.upper.clean', 'tr A-Z a-z');
    const stored = attribute === 'ident' ? '$Id$\nstored\n' : 'stored\ntwice\n';
    repository.checkedOut({
      '.gitattributes': `*.txt ${attribute}\n`,
      'edited.txt': stored,
      'gone.txt': stored,
    });
    const { folder } = repository;
    const all = ['edited.txt', 'gone.txt', 'new.txt'];
    const bytes = (): unknown =>
      all.map(name => existsSync(folder.at(name)) && readFileSync(folder.at(name), 'hex'));
    const clean = bytes();
    const edited = Buffer.concat([
      readFileSync(folder.at('edited.txt')),
      readFileSync(folder.at('edited.txt')).subarray(-4),
    ]);
    await folder.file('edited.txt', edited);
    await folder.file('new.txt', readFileSync(folder.at('gone.txt')));
    rmSync(folder.at('gone.txt'));
    repository.run(['add', '-A']);
    const before = bytes();
    const { reasons, apply } = await holdBackIn(repository);
    assert.deepEqual(reasons, []);
    assert.deepEqual(bytes(), clean);
    assert.equal(repository.run(['status', '--porcelain']), '');
    await apply();
    assert.deepEqual(bytes(), before);
  });
}

test('a file with a byte that is not UTF-8, far from what was changed, is told and left as it is', async t => {
  const repository = await GitRepository.create(t);
  const text = (first: string): Buffer => Buffer.from(`${first}\nbeta \xff gamma\ndelta\n`, 'latin1');
  const { folder } = repository;
  await folder.file('odd.txt', text('alpha'));
  repository.run(['add', '-A']);
  repository.run(['commit', '-qm', 'odd']);
  await folder.file('odd.txt', text('ALPHA'));
  const { reasons } = await holdBackIn(repository);
  assert.deepEqual(reasons, ['odd.txt: binary']);
  assert.deepEqual(readFileSync(folder.at('odd.txt')), text('ALPHA'));
});

test('a deleted file comes back with the permission bits that the last commit has', async t => {
  const repository = await GitRepository.create(t);
  repository.checkedOut({ 'run.sh': { mode: '100755', content: 'echo\n' }, 'plain.sh': 'echo\n' });
  for (const name of ['run.sh', 'plain.sh']) rmSync(repository.folder.at(name));
  const { reasons } = await holdBackIn(repository);
  assert.deepEqual(reasons, []);
  assert.equal(repository.run(['status', '--porcelain']), '');
});

test('names are names: one with a pattern or a backslash is held back and unstaged alone', async t => {
  const repository = await GitRepository.create(t);
  const names = ['[id].txt', 'i.txt', 'back\\slash.txt', 'backslash.txt', ':(top)x', '*.txt'];
  repository.checkedOut(Object.fromEntries(names.map(name => [name, 'old\n'])));
  for (const name of names) await repository.folder.file(name, 'new\n');
  repository.run(['add', '-A']);
  const { reasons, apply } = await holdBackIn(repository, {
    only: ['[id].txt', 'back\\slash.txt', ':(top)x', '*.txt'],
  });
  assert.deepEqual(reasons, []);
  assert.equal(repository.run(['status', '--porcelain', '-z']), 'M  backslash.txt\0M  i.txt\0');
  await apply();
  assert.equal(repository.run(['diff', '--name-only', '-z']).split('\0').length, 5);
});

test('what is staged is lost when it is unstaged, so it must be what the file holds', async t => {
  const repository = await GitRepository.create(t);
  repository.config('core.autocrlf', 'true');
  repository.checkedOut({ 'a.ts': 'x\n', 'b.ts': 'x\n' });
  for (const name of ['a.ts', 'b.ts', 'c.ts']) await repository.folder.file(name, 'staged\r\n');
  repository.run(['add', '-A']);
  await repository.folder.file('b.ts', 'other\n');
  rmSync(repository.folder.at('c.ts'));
  const { reasons, files } = await holdBackIn(repository);
  assert.deepEqual(reasons, ['b.ts: staged', 'c.ts: staged']);
  assert.deepEqual(
    files.map(({ path, head, now }) => [path, head?.text, now?.text]),
    [['a.ts', 'x\r\n', 'staged\r\n']],
  );
});

test('what somebody stages while the files are held back stays staged', async t => {
  const repository = await GitRepository.create(t);
  repository.checkedOut({ 'a.ts': 'x\n', 'b.ts': 'x\n' });
  for (const name of ['a.ts', 'b.ts']) await repository.folder.file(name, 'staged\n');
  repository.run(['add', '-A']);
  const other = repository.run(['hash-object', '-w', '--stdin'], 'other\n').trim();
  const onRead = (): void => void repository.run(['update-index', '--cacheinfo', `100644,${other},a.ts`]);
  const { reasons, stillStaged } = await holdBackIn(repository, { onRead });
  assert.deepEqual([reasons, stillStaged], [[], ['a.ts']]);
  assert.deepEqual(
    [repository.run(['show', ':a.ts']), repository.run(['show', ':b.ts'])],
    ['other\n', 'x\n'],
  );
});

test('a file that is staged to be removed and still there is left as it is, with what is staged', async t => {
  const repository = await GitRepository.create(t);
  const names = ['same.txt', 'edited.txt', 'ignored.txt', 'from.txt'];
  repository.checkedOut(Object.fromEntries(names.map(name => [name, `${name}\none\ntwo\n`])));
  const { folder } = repository;
  await folder.file('edited.txt', 'edited\n');
  await folder.file('fine.txt', 'fine\n');
  await folder.file('.git/info/exclude', 'ignored.txt\n');
  repository.run(['rm', '-q', '--cached', '-f', 'same.txt', 'edited.txt', 'ignored.txt']);
  repository.run(['mv', 'from.txt', 'to.txt']);
  await folder.file('from.txt', 'another\n');
  const { reasons, apply } = await holdBackIn(repository);
  assert.deepEqual(
    reasons,
    ['edited.txt', 'from.txt', 'ignored.txt', 'same.txt'].map(name => `${name}: staged`),
  );
  const read = (name: string): string => readFileSync(folder.at(name), 'utf8');
  assert.deepEqual(
    [read('same.txt'), read('edited.txt'), read('from.txt')],
    ['same.txt\none\ntwo\n', 'edited\n', 'another\n'],
  );
  assert.deepEqual([existsSync(folder.at('fine.txt')), existsSync(folder.at('to.txt'))], [false, false]);
  const removed = repository.run(['diff', '--cached', '--name-status', '--no-renames']).trim().split('\n');
  assert.deepEqual(removed.sort(), ['D\tedited.txt', 'D\tfrom.txt', 'D\tignored.txt', 'D\tsame.txt']);
  await apply();
  assert.deepEqual([read('fine.txt'), read('to.txt')], ['fine\n', 'from.txt\none\ntwo\n']);
});

test('without a commit, every file is new; a staged rename is one', async t => {
  const fresh = await GitRepository.create(t);
  await fresh.folder.file('a.ts', 'a\n');
  fresh.run(['add', '-A']);
  assert.deepEqual((await holdBackIn(fresh)).reasons, []);
  assert.equal(fresh.run(['status', '--porcelain']), '');
  const repository = await GitRepository.create(t);
  repository.checkedOut({ 'from.ts': 'one\ntwo\nthree\n' });
  repository.run(['mv', 'from.ts', 'to.ts']);
  const { files } = await holdBackIn(repository);
  assert.deepEqual(
    files.map(({ path, from }) => [path, from]),
    [['to.ts', 'from.ts']],
  );
  assert.equal(repository.run(['status', '--porcelain']), '');
});

test('gathered changes are staged as one preview, and the conflicts as another one', async () => {
  const { store, stage } = world({ 'a.ts': 'a', 'gone.ts': 'x' });
  const gathered = {
    changes: [modify('a.ts', 'a', 'b'), create('new.ts', 'x')],
    conflicts: [remove('gone.ts', 'x')],
  };
  const staged = await stageGathered(
    gathered,
    { name: () => 'branch x', l10n: english, command: 'review_branch' },
    stage,
  );
  assert.deepEqual(
    staged.map(({ label, dependsOn }) => [label, dependsOn]),
    [
      ['Branch x', []],
      ['Conflicts with branch x', []],
    ],
  );
  assert.deepEqual(new Set(store.all().map(({ origin }) => origin?.agent?.name)), new Set(['branch x']));
});

test('a branch that changes very many files is a preview for each top-level folder, named by it', async () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, n) => create(`${folder}${n}.ts`, 'x'));
  const staged = async (changes: readonly FileChange[]) => {
    const { stage } = world({});
    const elsewhere = { name: () => 'branch x', l10n: english, command: 'review_branch' } as const;
    const previews = await stageGathered({ changes, conflicts: [] }, elsewhere, stage);
    return previews.map(({ label, changes: shown }) => [label, shown?.length]);
  };
  const [deep, top, tests] = [files('src/deep/', 150), files('', 2), files('test/', 60)];
  assert.deepEqual(await staged([...deep, ...top, ...tests]), [
    ['Branch x, src/', 150],
    ['Branch x, top level', 2],
    ['Branch x, test/', 60],
  ]);
  assert.deepEqual(await staged([...top, ...tests]), [['Branch x', 62]]);
});
