import assert from 'node:assert/strict';
import { chmodSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Git } from '../../../../src/agent/hold/external/git.ts';
import { GitProgram } from '../../../../src/agent/hold/external/gitProgram.ts';
import { AppliedWorld } from './appliedWorld.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** Lines far enough apart that changes of them do not touch. */
const lines = (...changed: readonly [number, string][]): string => {
  const all = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  for (const [n, text] of changed) all[n] = text;
  return `${all.join('\n')}\n`;
};

const write = (world: AppliedWorld, name: string, text: string | Uint8Array): void =>
  writeFileSync(path.join(world.folder, name), text, 'latin1');

const commit = ({ repository }: AppliedWorld): string => repository.run(['commit', '-qm', 'x']);

test('exactly what was applied is staged, and other changes stay as they were', async t => {
  const world = await AppliedWorld.create(t, {
    'a.ts': lines(),
    'gone.ts': 'gone\n',
    'other.ts': 'other\n',
    'staged.ts': 'staged\n',
    'announced.ts': 'x\n',
  });
  write(world, 'other.ts', 'OTHER\n');
  write(world, 'staged.ts', 'STAGED\n');
  world.repository.run(['add', 'staged.ts']);
  write(world, 'fresh.ts', 'mine\n');
  await world.edit({
    'a.ts': lines([3, 'applied']),
    'gone.ts': null,
    'sub/new.ts': 'new\n',
    'later.ts': 'l\n',
  });
  world.repository.run(['add', '--intent-to-add', 'later.ts']);

  assert.deepEqual(await world.stage(), []);
  assert.equal(world.staged('a.ts'), lines([3, 'applied']));
  assert.deepEqual(world.status(), [
    'M  a.ts',
    'D  gone.ts',
    'A  later.ts',
    ' M other.ts',
    'M  staged.ts',
    'A  sub/new.ts',
    '?? fresh.ts',
  ]);
  const { paths, previewIds } = await world.stageIn(world.repository.git);
  assert.deepEqual([paths, previewIds], [[], []]);
});

/** Acts before git is first called like this. */
function beforeGit(t: TestContext, command: string, act: () => void): void {
  const { run } = GitProgram.prototype;
  const { mock } = t.mock.method(
    GitProgram.prototype,
    'run',
    function (this: GitProgram, ...args: Parameters<typeof run>) {
      if (args[0][0] === command) {
        mock.restore();
        act();
      }
      return run.apply(this, args);
    },
  );
}

test('what the person stages while the changes are compared stays staged', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  await world.edit({ 'a.ts': lines([3, 'applied']) });
  beforeGit(t, 'hash-object', () => {
    write(world, 'a.ts', lines([9, 'mine']));
    world.repository.run(['add', 'a.ts']);
    write(world, 'a.ts', lines([3, 'applied']));
  });
  assert.deepEqual(await world.stage(), ['a.ts: staged']);
  assert.equal(world.staged('a.ts'), lines([9, 'mine']));
});

test('a file that goes while the changes are compared is not staged as deleted', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  await world.edit({ 'a.ts': lines([3, 'applied']) });
  beforeGit(t, 'cat-file', () => rmSync(path.join(world.folder, 'a.ts')));
  assert.deepEqual(await world.stage(), ['a.ts: changed']);
  assert.deepEqual(world.status(), [' D a.ts']);
});

test('of a file with other changes only the applied ones are staged, beside what is staged already', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  write(world, 'a.ts', lines([18, 'staged']));
  world.repository.run(['add', 'a.ts']);
  write(world, 'a.ts', lines([1, 'before'], [18, 'staged']));
  await world.edit({ 'a.ts': lines([1, 'before'], [8, 'applied'], [18, 'staged']) });
  write(world, 'a.ts', lines([1, 'before'], [8, 'applied'], [14, 'after'], [18, 'staged']));
  assert.deepEqual(await world.stage(), []);
  assert.equal(world.staged('a.ts'), lines([8, 'applied'], [18, 'staged']));
  assert.equal(world.disk('a.ts'), lines([1, 'before'], [8, 'applied'], [14, 'after'], [18, 'staged']));
});

test('a change beside an unstaged one of the person is left out, and so is a line that was changed since', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines(), 'b.ts': lines(), 'new.ts': 'n\n' });
  write(world, 'a.ts', lines([7, 'mine']));
  await world.edit({ 'a.ts': lines([7, 'mine'], [8, 'applied']), 'b.ts': lines([3, 'applied']) });
  await world.edit({ 'fresh.ts': lines() });
  write(world, 'b.ts', lines([3, 'mine']));
  write(world, 'fresh.ts', lines([3, 'mine']));
  assert.deepEqual(await world.stage(), ['a.ts: overlaps', 'b.ts: changed', 'fresh.ts: changed']);
  assert.deepEqual(world.repository.run(['diff', '--cached', '--name-only']), '');
  // A preview that was changed since does not keep others from being staged.
  const second = await world.edit({ 'b.ts': lines([3, 'mine'], [12, 'second']) });
  assert.deepEqual(await world.stage(), ['a.ts: overlaps', 'fresh.ts: changed']);
  assert.equal(world.staged('b.ts'), lines([12, 'second']));
  assert.equal(second.state.kind, 'applied');
});

test('what was undone, reverted or committed is not staged; what undoes a committed preview is', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines(), 'b.ts': lines() });
  const first = await world.edit({ 'a.ts': lines([2, 'one']) });
  await world.undo(first);
  await world.edit({ 'b.ts': lines([2, 'two']) });
  assert.deepEqual(await world.stage(), []);
  assert.deepEqual(world.status(), ['M  b.ts']);
  commit(world);
  write(world, 'b.ts', lines([15, 'mine']));
  assert.deepEqual(await world.stage(), ['b.ts: changed']);
  assert.equal(world.staged('b.ts'), lines([2, 'two']));
  world.repository.run(['checkout', '-q', 'b.ts']);

  const third = await world.edit({ 'a.ts': lines([4, 'three']) });
  await world.stage();
  commit(world);
  await world.undo(third);
  assert.deepEqual(await world.stage(), []);
  assert.equal(world.staged('a.ts'), lines());
});

test('previews of the same lines one after the other are staged, also where git has the first of them', async t => {
  for (const commitsFirst of [false, true]) {
    const world = await AppliedWorld.create(t, { 'a.ts': lines() });
    await world.edit({ 'a.ts': lines([2, 'one']), 'new.ts': lines() });
    if (commitsFirst) {
      await world.stage();
      commit(world);
    }
    await world.edit({ 'a.ts': lines([2, 'two']), 'new.ts': lines([5, 'more']) });
    write(world, 'a.ts', lines([2, 'two'], [15, 'mine']));
    assert.deepEqual(await world.stage(), []);
    assert.deepEqual([world.staged('a.ts'), world.staged('new.ts')], [lines([2, 'two']), lines([5, 'more'])]);
  }
});

test('a renamed file is staged with what was applied and without the changes of the person, or not at all', async t => {
  const world = await AppliedWorld.create(t, { 'old.ts': lines(), 'plain.ts': 'p\n', 'again.ts': 'g\n' });
  write(world, 'old.ts', lines([1, 'mine']));
  await world.rename('old.ts', 'to/new.ts', lines([1, 'mine'], [9, 'applied']));
  await world.rename('plain.ts', 'moved.ts');
  await world.rename('again.ts', 'other.ts');
  write(world, 'again.ts', 'the person has made it again\n');
  assert.deepEqual(await world.stage(), ['again.ts: changed']);
  assert.equal(world.staged('to/new.ts'), lines([9, 'applied']));
  assert.deepEqual(world.repository.run(['diff', '--cached', '--name-status', '-M']).trim().split('\n'), [
    'R100\tplain.ts\tmoved.ts',
    'R094\told.ts\tto/new.ts',
  ]);
});

test('paths are those of the repository: odd names, in a folder of it, and through links; others are left alone', async t => {
  const name = 'dir [x]/:(top)*?ä.ts';
  const world = await AppliedWorld.create(t, { [`inner/${name}`]: 'a\n', 'src/a.ts': 'a\n' });
  const inner = world.inFolder(path.join(world.folder, 'inner'));
  await inner.edit({ [name]: 'A\n' });
  assert.deepEqual(await inner.stage(), []);
  symlinkSync('src', path.join(world.folder, 'linked'));
  await world.edit({ 'linked/a.ts': 'A\n' });
  const outside = await TempFolder.create();
  t.after(() => rmSync(outside.root, { recursive: true, force: true }));
  assert.deepEqual(await world.stage(), []);
  assert.deepEqual([world.staged(`inner/${name}`), world.staged('src/a.ts')], ['A\n', 'A\n']);
  const elsewhere = world.inFolder(outside.root);
  await elsewhere.edit({ 'x.ts': 'x\n' });
  assert.deepEqual((await elsewhere.stageIn(world.repository.git)).paths, []);
});

test('a file of a submodule, or of another repository, is staged in its own', async t => {
  const inner = await AppliedWorld.create(t, { 'in.ts': 'in\n', 'moves.ts': 'm\n' });
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  const url = inner.repository.folder.root;
  world.repository.run(['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', url, 'mod']);
  commit(world);
  await world.edit({ 'mod/in.ts': 'IN\n', 'a.ts': 'A\n' });
  await world.rename('mod/moves.ts', 'moved.ts');
  assert.deepEqual(await world.stage(), []);
  assert.deepEqual(world.status(), ['M  a.ts', ' M mod', 'A  moved.ts']);
  const { paths } = await world.stageIn(new Git(path.join(world.folder, 'mod')));
  assert.deepEqual([...paths].sort(), ['in.ts', 'moves.ts']);
});

test('line endings are stored as git stores them, also where only a part of the file is staged', async t => {
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  for (const config of [{ 'core.autocrlf': 'true' }, { 'core.autocrlf': 'false' }]) {
    const stored = (text: string): string => (config['core.autocrlf'] === 'true' ? text : crlf(text));
    const files = { 'a.ts': stored(lines()), 'raw.ts': crlf(lines()), 'mixed.ts': `a\r\n${lines()}` };
    const world = await AppliedWorld.create(t, files, { config });
    for (const name of ['a.ts', 'raw.ts']) {
      write(world, name, crlf(lines([1, 'mine'])));
      await world.edit({ [name]: crlf(lines([1, 'mine'], [9, 'applied'])) });
    }
    await world.edit({ 'new.ts': crlf('new\n') });
    write(world, 'mixed.ts', `mine\r\n${lines()}`);
    await world.edit({ 'mixed.ts': `mine\r\n${lines([9, 'applied'])}` });
    assert.deepEqual(await world.stage(), ['mixed.ts: converted']);
    assert.equal(world.staged('a.ts'), stored(lines([9, 'applied'])));
    assert.equal(world.staged('raw.ts'), crlf(lines([9, 'applied'])));
    assert.equal(world.staged('new.ts'), stored('new\n'));
  }
});

test('filters convert a whole file; a part of one that is stored in another form is left out', async t => {
  const attributes = '*.up filter=up\n*.bad filter=bad\n';
  const config = {
    'filter.up.clean': 'tr a-z A-Z',
    'filter.up.smudge': 'tr A-Z a-z',
    'filter.bad.clean': 'false',
    'filter.bad.required': 'true',
  };
  const world = await AppliedWorld.create(t, { '.gitattributes': attributes }, { config });
  for (const name of ['whole.up', 'part.up']) write(world, name, lines());
  world.repository.run(['add', '*.up']);
  commit(world);
  await world.edit({ 'whole.up': lines([9, 'applied']), 'x.bad': 'bad\n' });
  write(world, 'part.up', lines([1, 'mine']));
  await world.edit({ 'part.up': lines([1, 'mine'], [9, 'applied']) });
  assert.deepEqual(await world.stage(), ['part.up: overlaps', 'x.bad: converted']);
  assert.equal(world.staged('whole.up'), lines([9, 'applied']).toUpperCase());
});

test('files that are ignored, unsaved, in conflict or replaced by a link are left out', async t => {
  const world = await AppliedWorld.create(t, {
    '.gitignore': 'out/\n',
    'a.ts': 'a\n',
    'l.ts': 'l\n',
    'ok.ts': 'ok\n',
    'merged.ts': 'm\n',
  });
  await world.edit({ 'out/x.js': 'x\n', 'a.ts': 'A\n', 'l.ts': 'L\n', 'ok.ts': 'OK\n', 'merged.ts': 'M\n' });
  world.unsaved.add(path.join(world.folder, 'a.ts'));
  rmSync(path.join(world.folder, 'l.ts'));
  symlinkSync('a.ts', path.join(world.folder, 'l.ts'));
  const object = world.repository.run(['rev-parse', ':merged.ts']).trim();
  const stages = [1, 2, 3].map(stage => `100644 ${object} ${stage}\tmerged.ts\0`).join('');
  world.repository.run(['update-index', '--force-remove', 'merged.ts']);
  world.repository.run(['update-index', '-z', '--index-info'], stages);
  assert.deepEqual(await world.stage(), ['a.ts: unsaved', 'l.ts: changed', 'merged.ts: merging']);
  assert.equal(world.staged('ok.ts'), 'OK\n');
});

test('binary files, links and permission bits are staged as they were applied', async t => {
  const world = await AppliedWorld.create(t, { 'run.sh': 'x\n', 'to.ts': 't\n' });
  await world.edit({ 'run.sh': 'y\n' });
  chmodSync(path.join(world.folder, 'run.sh'), 0o755);
  assert.deepEqual(await world.stage(), []);
  assert.match(world.repository.run(['ls-files', '-s', 'run.sh']), /^100755 /);
});

test('an index that is locked is told, and nothing is staged', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  await world.edit({ 'a.ts': 'A\n' });
  write(world, '.git/index.lock', '');
  await assert.rejects(world.stage(), /index\.lock/);
  rmSync(path.join(world.folder, '.git/index.lock'));
  assert.deepEqual(world.status(), [' M a.ts']);
});

test('a file that was written in the same second as the index, with the same length, is seen', async t => {
  const config = { 'core.trustctime': 'false' };
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' }, { config });
  const [file, index] = ['a.ts', '.git/index'].map(each => path.join(world.folder, each)) as [string, string];
  const then = new Date('2026-01-01T00:00:00Z');
  utimesSync(file, then, then);
  world.repository.run(['update-index', '--refresh']);
  utimesSync(index, then, then);
  await world.edit({ 'a.ts': 'A\n' });
  utimesSync(file, then, then);
  assert.deepEqual(await world.stage(), []);
  assert.equal(world.staged('a.ts'), 'A\n');
});
