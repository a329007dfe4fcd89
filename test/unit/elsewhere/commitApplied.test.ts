import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { polled } from '../../../scripts/lib/limits.mjs';
import { commitApplied, MovedOnError } from '../../../src/agent/elsewhere/applied/commitApplied.ts';
import { Git } from '../../../src/agent/elsewhere/git.ts';
import { sideOfText, type FileChange } from '../../../src/agent/preview/fileChange.ts';
import { AppliedWorld, reasonsOf } from '../../support/appliedWorld.ts';
import { TempFolder } from '../../support/tempFolder.ts';

/** Lines far enough apart that changes of them do not touch. */
const lines = (...changed: readonly [number, string][]): string => {
  const all = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  for (const [n, text] of changed) all[n] = text;
  return `${all.join('\n')}\n`;
};

const write = (world: AppliedWorld, name: string, text: string): void =>
  writeFileSync(path.join(world.folder, name), text, 'latin1');

const commits = ({ repository }: AppliedWorld): number =>
  Number(repository.run(['rev-list', '--count', 'HEAD']));

test('exactly what was applied is committed, and what else is changed or staged stays as it was', async t => {
  const world = await AppliedWorld.create(t, {
    'a.ts': lines(),
    'gone.ts': 'gone\n',
    'other.ts': 'other\n',
    'staged.ts': 'staged\n',
  });
  write(world, 'other.ts', 'OTHER\n');
  write(world, 'staged.ts', 'STAGED\n');
  world.repository.run(['add', 'staged.ts']);
  write(world, 'fresh.ts', 'mine\n');
  await world.edit({ 'a.ts': lines([3, 'applied']), 'gone.ts': null, 'sub/new.ts': 'new\n' });

  assert.deepEqual(await world.commit(), []);
  assert.equal(commits(world), 2);
  assert.equal(world.head('a.ts'), lines([3, 'applied']));
  assert.equal(world.head('sub/new.ts'), 'new\n');
  assert.deepEqual(world.repository.run(['show', '--name-status', '--format=', 'HEAD']).trim().split('\n'), [
    'M\ta.ts',
    'D\tgone.ts',
    'A\tsub/new.ts',
  ]);
  assert.deepEqual(world.status(), [' M other.ts', 'M  staged.ts', '?? fresh.ts']);
});

test('of a file with other changes only what was applied is committed, whether they came before or after', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  write(world, 'a.ts', lines([1, 'mine before']));
  await world.edit({ 'a.ts': lines([1, 'mine before'], [8, 'applied']) });
  write(world, 'a.ts', lines([1, 'mine before'], [8, 'applied'], [15, 'mine after']));

  const [planned] = (await world.plan()).paths;
  assert.equal(planned?.isPart, true);
  assert.deepEqual(await world.commit(), []);
  assert.equal(world.head('a.ts'), lines([8, 'applied']));
  assert.equal(world.staged('a.ts'), lines([8, 'applied']));
  assert.equal(world.disk('a.ts'), lines([1, 'mine before'], [8, 'applied'], [15, 'mine after']));
  assert.deepEqual(world.status(), [' M a.ts']);
});

test('what is staged of the same file stays staged, and is not committed', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  write(world, 'a.ts', lines([1, 'staged']));
  world.repository.run(['add', 'a.ts']);
  await world.edit({ 'a.ts': lines([1, 'staged'], [8, 'applied']) });

  assert.deepEqual(await world.commit(), []);
  assert.equal(world.head('a.ts'), lines([8, 'applied']));
  assert.equal(world.staged('a.ts'), lines([1, 'staged'], [8, 'applied']));
  assert.deepEqual(world.status(), ['M  a.ts']);
});

test('a file whose staged content does not go with what was applied is refused', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines(), 'b.ts': lines(), 'c.ts': 'c\n' });
  write(world, 'a.ts', lines([8, 'staged']));
  world.repository.run(['add', 'a.ts']);
  write(world, 'a.ts', lines());
  await world.edit({ 'a.ts': lines([8, 'applied']), 'b.ts': lines([2, 'b']) });
  world.repository.run(['rm', '--cached', '-q', 'b.ts']);
  await world.edit({ 'c.ts': 'C\n' });

  assert.deepEqual(await world.commit(), ['a.ts: staged', 'b.ts: staged']);
  assert.deepEqual(world.repository.run(['show', '--name-only', '--format=', 'HEAD']).trim(), 'c.ts');
  assert.equal(world.staged('a.ts'), lines([8, 'staged']));
});

test('a change beside one of the person that is not committed is refused', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  write(world, 'a.ts', lines([7, 'mine']));
  await world.edit({ 'a.ts': lines([7, 'mine'], [8, 'applied']) });
  const plan = await world.plan();
  assert.deepEqual([plan.paths, reasonsOf(plan)], [[], ['a.ts: overlaps']]);
});

test('what the file has lost since, or what was changed since, is refused; the rest of the file is committed', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines(), 'b.ts': lines() });
  const first = await world.edit({ 'a.ts': lines([2, 'first']), 'b.ts': lines([2, 'b']) });
  const second = await world.edit({ 'a.ts': lines([2, 'first'], [12, 'second']) });
  write(world, 'a.ts', lines([2, 'mine'], [12, 'second']));
  write(world, 'b.ts', lines());

  const plan = await world.plan();
  assert.deepEqual(plan.previewIds, [second.id]);
  assert.deepEqual(await world.commit(), ['a.ts: changed']);
  assert.equal(world.head('a.ts'), lines([12, 'second']));
  assert.equal(world.head('b.ts'), lines());
  assert.deepEqual(reasonsOf(await world.plan([first.id])), ['a.ts: changed']);
});

test('a new file that was extended since is committed as it was applied; one whose lines were changed is refused', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  await world.edit({ 'new.ts': lines(), 'bad.ts': lines() });
  write(world, 'new.ts', `${lines()}mine\n`);
  write(world, 'bad.ts', lines([3, 'mine']));
  assert.deepEqual(await world.commit(), ['bad.ts: changed']);
  assert.equal(world.head('new.ts'), lines());
  assert.deepEqual(world.status(), [' M new.ts', '?? bad.ts']);
});

test('previews that were undone are not committed, and what undoes a committed one is', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  const undone = await world.edit({ 'a.ts': lines([2, 'no']), 'no.ts': 'no\n' });
  await world.undo(undone);
  assert.deepEqual((await world.plan()).paths, []);
  const kept = await world.edit({ 'a.ts': lines([12, 'yes']) });

  assert.deepEqual((await world.plan()).previewIds, [kept.id]);
  await world.commit();
  assert.equal(world.head('a.ts'), lines([12, 'yes']));

  const undo = await world.undo(kept);
  assert.deepEqual((await world.plan()).previewIds, [undo.id]);
  await world.commit();
  assert.equal(world.head('a.ts'), lines());
  // What undoes the undoing leaves what was applied in the first place.
  await world.undo(undo);
  assert.deepEqual((await world.plan()).previewIds, [kept.id]);
});

test('what is committed is not committed again, whoever committed it', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  await world.edit({ 'a.ts': lines([2, 'one']) });
  await world.commit();
  assert.deepEqual((await world.plan()).paths, []);

  await world.edit({ 'a.ts': lines([2, 'one'], [12, 'two']) });
  write(world, 'a.ts', lines([2, 'one'], [12, 'two'], [18, 'mine']));
  world.repository.run(['commit', '-aqm', 'by hand']);
  assert.deepEqual((await world.plan()).paths, []);

  // Whoever reverts the commit does not want it again.
  write(world, 'a.ts', lines([2, 'other words'], [18, 'mine']));
  world.repository.run(['commit', '-aqm', 'changed by hand']);
  const last = await world.edit({ 'a.ts': lines([2, 'other words'], [18, 'last']) });
  assert.deepEqual((await world.plan()).previewIds, [last.id]);
  await world.commit();
  assert.equal(world.head('a.ts'), lines([2, 'other words'], [18, 'last']));
});

test('only the previews that were chosen are committed', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines(), 'b.ts': 'b\n' });
  await world.edit({ 'a.ts': lines([2, 'one']) });
  const second = await world.edit({ 'a.ts': lines([2, 'one'], [12, 'two']), 'b.ts': 'B\n' });
  await world.commit([second.id]);
  assert.equal(world.head('a.ts'), lines([12, 'two']));
  assert.equal(world.head('b.ts'), 'B\n');
  assert.deepEqual(world.status(), [' M a.ts']);
  await world.commit();
  assert.equal(world.head('a.ts'), lines([2, 'one'], [12, 'two']));
  assert.deepEqual(world.status(), []);
});

test('a preview that builds on one that is not chosen is refused where they overlap', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines() });
  await world.edit({ 'a.ts': lines([2, 'one']) });
  const second = await world.edit({ 'a.ts': lines([2, 'two']) });
  assert.deepEqual(reasonsOf(await world.plan([second.id])), ['a.ts: overlaps']);
  await world.commit();
  assert.equal(world.head('a.ts'), lines([2, 'two']));
});

test('a renamed file is one with its history, with what was applied and without what the person changed', async t => {
  const world = await AppliedWorld.create(t, { 'old.ts': lines(), 'plain.ts': 'p\n' });
  write(world, 'old.ts', lines([1, 'mine']));
  await world.rename('old.ts', 'to/new.ts', lines([1, 'mine'], [9, 'applied']));
  await world.rename('plain.ts', 'moved.ts');
  await world.edit({ 'to/new.ts': lines([1, 'mine'], [9, 'applied'], [17, 'later']) });

  assert.deepEqual(await world.commit(), []);
  assert.equal(world.head('to/new.ts'), lines([9, 'applied'], [17, 'later']));
  assert.match(
    world.repository.run(['show', '--name-status', '-M', '--format=', 'HEAD']),
    /R100\tplain.ts\tmoved.ts\nR\d+\told.ts\tto\/new.ts/,
  );
  assert.deepEqual(world.status(), [' M to/new.ts']);
});

test('a renamed file whose one path is refused is committed at neither', async t => {
  const world = await AppliedWorld.create(t, { 'old.ts': lines(), 'b.ts': 'b\n' });
  await world.rename('old.ts', 'new.ts');
  await world.edit({ 'b.ts': 'B\n' });
  write(world, 'old.ts', 'the person has made it again\n');
  const reasons = await world.commit();
  assert.ok(reasons.includes('new.ts: changed'), reasons.join());
  assert.equal(world.repository.run(['show', '--name-only', '--format=', 'HEAD']).trim(), 'b.ts');
});

test('in a folder of the repository, and with odd names, paths are those of the repository', async t => {
  const name = 'dir [x]/:(top)*?ä.ts';
  const world = await AppliedWorld.create(
    t,
    { [`inner/${name}`]: 'a\n', 'inner/dir [x]/b.ts': 'b\n' },
    { folder: 'inner' },
  );
  await world.edit({ [name]: 'A\n' });
  write(world, 'dir [x]/b.ts', 'mine\n');
  await world.commit();
  assert.equal(world.head(`inner/${name}`), 'A\n');
  assert.deepEqual(world.status(), [' M "inner/dir [x]/b.ts"']);
});

test('through a link to the folder the same files are committed; those of another repository are not', async t => {
  const world = await AppliedWorld.create(t, { 'src/a.ts': 'a\n', 'b.ts': 'b\n' });
  const outside = await TempFolder.create();
  t.after(() => rmSync(outside.root, { recursive: true, force: true }));
  const link = path.join(outside.root, 'link');
  symlinkSync(world.folder, link);
  symlinkSync('src', path.join(world.folder, 'linked'));
  const linked = world.inFolder(link);
  await linked.edit({ 'linked/a.ts': 'A\n', 'b.ts': 'B\n' });
  assert.deepEqual(await linked.commit(), []);
  assert.equal(world.head('src/a.ts'), 'A\n');
  assert.equal(world.head('b.ts'), 'B\n');

  const elsewhere = world.inFolder(outside.root);
  await elsewhere.edit({ 'x.ts': 'x\n' });
  const plan = await elsewhere.plan();
  assert.deepEqual([plan.paths, plan.uncommittable], [[], []]);
});

test('a file of a submodule belongs to the submodule, which is not committed here', async t => {
  const inner = await AppliedWorld.create(t, { 'in.ts': 'in\n' });
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  const url = inner.repository.folder.root;
  world.repository.run(['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', url, 'mod']);
  world.repository.run(['commit', '-qm', 'module']);
  await world.edit({ 'mod/in.ts': 'IN\n', 'a.ts': 'A\n' });
  assert.deepEqual(await world.commit(), []);
  assert.equal(world.repository.run(['show', '--name-only', '--format=', 'HEAD']).trim(), 'a.ts');
  assert.deepEqual(world.status(), [' M mod']);
});

test('what one preview changed in two repositories is committed in each for itself', async t => {
  const one = await AppliedWorld.create(t, { 'a.ts': lines(), 'moves.ts': 'moves\n' });
  const other = await AppliedWorld.create(t, { 'b.ts': 'b\n' });
  const above = path.dirname(one.folder);
  assert.equal(path.dirname(other.folder), above);
  const at = ({ folder }: AppliedWorld, name: string): string => `${path.basename(folder)}/${name}`;
  const window = one.inFolder(above);
  await window.edit({ [at(one, 'a.ts')]: lines([3, 'A']), [at(other, 'b.ts')]: 'B\n' });
  await window.rename(at(one, 'moves.ts'), at(other, 'moved.ts'));
  for (const [world, files] of [
    [one, ['a.ts', 'moves.ts']],
    [other, ['b.ts', 'moved.ts']],
  ] as const) {
    const plan = await window.planIn(world.repository.git);
    assert.deepEqual(plan.paths.map(each => each.path).sort(), files);
    await commitApplied(world.repository.git, plan, 'x\n');
    assert.deepEqual(world.status(), []);
  }
});

test('line endings are stored as git stores them, also where only a part of the file is committed', async t => {
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  for (const config of [{ 'core.autocrlf': 'true' }, { 'core.autocrlf': 'false' }]) {
    const isConverted = config['core.autocrlf'] === 'true';
    const stored = (text: string): string => (isConverted ? text : crlf(text));
    const world = await AppliedWorld.create(
      t,
      { 'a.ts': stored(lines()), 'raw.ts': crlf(lines()) },
      { config },
    );
    for (const name of ['a.ts', 'raw.ts']) {
      assert.equal(world.disk(name), crlf(lines()));
      write(world, name, crlf(lines([1, 'mine'])));
      await world.edit({ [name]: crlf(lines([1, 'mine'], [9, 'applied'])) });
    }
    await world.edit({ 'new.ts': crlf('new\n') });
    assert.deepEqual(await world.commit(), []);
    assert.equal(world.head('a.ts'), stored(lines([9, 'applied'])));
    // Git leaves a file as it is that was committed with such line endings.
    assert.equal(world.head('raw.ts'), crlf(lines([9, 'applied'])));
    assert.equal(world.head('new.ts'), stored('new\n'));
    assert.deepEqual(world.status(), [' M a.ts', ' M raw.ts']);
  }
});

test('filters convert what is committed, and a file that a required filter refuses is left out', async t => {
  const world = await AppliedWorld.create(
    t,
    { '.gitattributes': '*.up filter=up\n*.bad filter=bad\n*.big filter=sum\n' },
    {
      config: {
        'filter.up.clean': 'tr a-z A-Z',
        'filter.up.smudge': 'tr A-Z a-z',
        'filter.bad.clean': 'false',
        'filter.sum.clean': 'git hash-object --stdin',
        'filter.bad.required': 'true',
      },
    },
  );
  write(world, 'a.up', lines());
  world.repository.run(['add', 'a.up']);
  world.repository.run(['commit', '-qm', 'filtered']);
  assert.equal(world.head('a.up'), lines().toUpperCase());
  write(world, 'a.up', lines([1, 'mine']));
  await world.edit({ 'a.up': lines([1, 'mine'], [9, 'applied']) });
  await world.edit({ 'x.bad': 'bad\n' });
  // Of a file that is stored elsewhere, as Git LFS does, there is no part that could be committed.
  for (const name of ['whole.big', 'part.big']) write(world, name, lines());
  world.repository.run(['add', '*.big']);
  world.repository.run(['commit', '-qm', 'big']);
  await world.edit({ 'whole.big': lines([9, 'applied']) });
  write(world, 'part.big', lines([1, 'mine']));
  await world.edit({ 'part.big': lines([1, 'mine'], [9, 'applied']) });
  assert.deepEqual([...(await world.commit())].sort(), ['part.big: overlaps', 'x.bad: converted']);
  assert.match(world.head('whole.big'), /^[0-9a-f]{40}\n$/);
  assert.equal(world.head('a.up'), lines([9, 'applied']).toUpperCase());
  assert.deepEqual(world.status(), [' M a.up', ' M part.big', '?? x.bad']);
});

test('links, ignored files and files with unsaved changes are left out', async t => {
  const world = await AppliedWorld.create(t, {
    '.gitignore': 'out/\n',
    'a.ts': 'a\n',
    'l.ts': 'l\n',
    'ok.ts': 'ok\n',
  });
  await world.edit({ 'out/x.js': 'x\n', 'a.ts': 'A\n', 'l.ts': 'L\n', 'ok.ts': 'OK\n' });
  world.unsaved.add(path.join(world.folder, 'a.ts'));
  rmSync(path.join(world.folder, 'l.ts'));
  symlinkSync('a.ts', path.join(world.folder, 'l.ts'));
  const reasons = [...(await world.commit())].sort();
  assert.deepEqual(reasons, ['a.ts: unsaved', 'l.ts: notAFile', 'out/x.js: ignored']);
  assert.equal(world.repository.run(['show', '--name-only', '--format=', 'HEAD']).trim(), 'ok.ts');
});

test(
  'permission bits are those of the last commit; a new file has those on disk',
  { skip: process.platform === 'win32' },
  async t => {
    const world = await AppliedWorld.create(t, {
      'run.sh': { mode: '100755', content: 'a\n' },
      'b.ts': 'b\n',
    });
    await world.edit({ 'run.sh': 'A\n', 'b.ts': 'B\n', 'new.sh': 'n\n' });
    chmodSync(path.join(world.folder, 'b.ts'), 0o755);
    chmodSync(path.join(world.folder, 'new.sh'), 0o755);
    await world.commit();
    const modes = world.repository
      .run(['ls-tree', 'HEAD'])
      .trim()
      .split('\n')
      .map(line => line.slice(0, 6));
    assert.deepEqual(modes, ['100644', '100755', '100755']);
    assert.deepEqual(world.status(), [' M b.ts']);
  },
);

test(
  'permission bits that a preview sets are committed with that preview, and with no other',
  { skip: process.platform === 'win32' },
  async t => {
    const world = await AppliedWorld.create(t, { 'f.sh': lines() });
    const { id: edits } = await world.edit({ 'f.sh': lines([3, 'applied']), 'new.sh': 'n\n' });
    const bitsOf = (name: string): FileChange => {
      const side = sideOfText(world.disk(name));
      return { kind: 'modify', path: name, before: side, after: side, mode: 0o755 };
    };
    const { id: bits } = await world.apply({ changes: [bitsOf('f.sh'), bitsOf('new.sh')] });
    const plan = async (...ids: readonly string[]) => {
      const planned = await world.plan(ids);
      const modes = planned.paths.map(({ path: name, entry }) => `${name} ${entry?.mode ?? ''}`).sort();
      return { modes, previewIds: planned.previewIds, reasons: reasonsOf(planned) };
    };
    assert.deepEqual(await plan(edits), {
      ...{ modes: ['f.sh 100644', 'new.sh 100644'], previewIds: [edits], reasons: [] },
    });
    assert.deepEqual(await plan(edits, bits), {
      ...{ modes: ['f.sh 100755', 'new.sh 100755'], previewIds: [edits, bits], reasons: [] },
    });
    // The file that the other preview made is not in the last commit.
    assert.deepEqual(await plan(bits), {
      ...{ modes: ['f.sh 100755'], previewIds: [bits], reasons: ['new.sh: overlaps'] },
    });
    await world.commit([bits]);
    assert.equal(world.head('f.sh'), lines());
    assert.deepEqual(world.status(), [' M f.sh', '?? new.sh']);
    assert.deepEqual(await plan(edits, bits), {
      ...{ modes: ['f.sh 100755', 'new.sh 100755'], previewIds: [edits, bits], reasons: [] },
    });
  },
);

test(
  'permission bits that were taken back are in no commit',
  { skip: process.platform === 'win32' },
  async t => {
    const world = await AppliedWorld.create(t, { 'f.sh': lines() });
    const { id: edits } = await world.edit({ 'f.sh': lines([3, 'applied']) });
    const side = sideOfText(world.disk('f.sh'));
    for (const mode of [0o755, 0o644])
      await world.apply({ changes: [{ kind: 'modify', path: 'f.sh', before: side, after: side, mode }] });
    const { paths, previewIds } = await world.plan();
    assert.deepEqual([paths.map(({ entry }) => entry?.mode), previewIds], [['100644'], [edits]]);
  },
);

test('without a commit the first one is made; a file that the person has not committed is refused', async t => {
  const world = await AppliedWorld.create(t, {});
  world.repository.run(['update-ref', '-d', 'HEAD']);
  write(world, 'mine.ts', lines());
  write(world, 'staged.ts', 'staged\n');
  world.repository.run(['add', 'staged.ts']);
  await world.edit({ 'mine.ts': lines([2, 'applied']), 'new.ts': 'new\n' });
  assert.deepEqual(await world.commit(), ['mine.ts: overlaps']);
  assert.equal(world.repository.run(['ls-tree', '--name-only', 'HEAD']).trim(), 'new.ts');
  assert.deepEqual(world.status(), ['A  staged.ts', '?? mine.ts']);
});

const hook = ({ repository }: AppliedWorld, name: string, script: string): void => {
  const file = path.join(repository.folder.root, '.git', 'hooks', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
};

test('hooks run, and one that refuses leaves everything as it was', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': lines(), 'b.ts': 'b\n' });
  write(world, 'b.ts', 'B\n');
  world.repository.run(['add', 'b.ts']);
  write(world, 'note.ts', 'announced\n');
  world.repository.run(['add', '-N', 'note.ts']);
  rmSync(path.join(world.folder, 'note.ts'));
  await world.edit({ 'a.ts': lines([2, 'one']), 'note.ts': 'note\n' });
  hook(world, 'pre-commit', 'git diff --cached --name-only >seen; echo "tests fail" >&2; exit 1');
  const before = world.status();
  await assert.rejects(world.commit(), /tests fail/);
  assert.equal(commits(world), 1);
  assert.deepEqual(world.status(), [...before, '?? seen']);
  assert.equal(readFileSync(path.join(world.folder, 'seen'), 'utf8'), 'a.ts\nnote.ts\n');
});

test('what a hook changes in the commit is not staged the other way round', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n', version: '1\n' });
  await world.edit({ 'a.ts': 'applied\n' });
  hook(world, 'pre-commit', 'echo formatted >a.ts; echo 2 >version; git add a.ts version');
  hook(world, 'commit-msg', 'echo "Signed-off-by: T" >>"$1"');
  await world.commit();
  assert.equal(world.head('a.ts'), 'formatted\n');
  assert.equal(world.head('version'), '2\n');
  assert.match(world.repository.run(['log', '-1', '--format=%B']), /^Subject\n[^]*Signed-off-by: T/);
  assert.deepEqual(world.status(), []);
});

test('a commit that someone else makes meanwhile is neither lost nor reverted', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n', 'b.ts': 'b\n' });
  await world.edit({ 'a.ts': 'A\n' });
  const plan = await world.plan();
  write(world, 'b.ts', 'B\n');
  world.repository.run(['commit', '-qm', 'other', 'b.ts']);
  await assert.rejects(commitApplied(world.repository.git, plan, 'x\n'), MovedOnError);
  assert.equal(world.head('b.ts'), 'B\n');
  assert.deepEqual(world.status(), [' M a.ts']);

  // One that is made while git makes ours has what is staged.
  hook(world, 'pre-commit', '[ -f once ] && exit 0; touch once; env -u GIT_INDEX_FILE git commit -qm late');
  await assert.rejects(world.commit());
  assert.equal(world.repository.run(['log', '-1', '--format=%s']).trim(), 'late');
  assert.deepEqual([world.head('a.ts'), world.head('b.ts')], ['A\n', 'B\n']);
  assert.deepEqual(world.status(), ['?? once']);
});

test('a commit that another one has come before is taken back', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  await world.edit({ 'a.ts': 'A\n' });
  const program = path.join(world.folder, '.git', 'racing-git');
  const other = 'git update-ref HEAD $(git commit-tree -p HEAD -m other HEAD^{tree})';
  writeFileSync(program, `#!/bin/sh\n[ "$1" = commit ] && ${other}\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  const git = new Git(world.repository.git.root, program);
  await assert.rejects(commitApplied(git, await world.plan(), 'x\n'), MovedOnError);
  assert.equal(world.repository.run(['log', '--format=%s']), 'other\nx\n');
  assert.deepEqual(world.status(), [' M a.ts']);
});

test('an index that is locked is told, and nothing is committed', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  await world.edit({ 'a.ts': 'A\n' });
  writeFileSync(path.join(world.folder, '.git', 'index.lock'), '');
  await assert.rejects(world.commit(), /index\.lock/);
  rmSync(path.join(world.folder, '.git', 'index.lock'));
  assert.equal(commits(world), 1);
  assert.deepEqual(world.status(), [' M a.ts']);
});

test('a commit that is cancelled leaves everything as it was, unless it is made', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  await world.edit({ 'a.ts': 'A\n' });
  hook(world, 'pre-commit', 'touch running; exec sleep 60');
  const stop = new AbortController();
  const plan = await world.plan();
  const running = path.join(world.folder, 'running');
  const committing = commitApplied(world.repository.git, plan, 'x\n', stop.signal);
  const rejected = assert.rejects(committing, { name: 'AbortError' });
  await polled('the hook to run', () => existsSync(running));
  stop.abort();
  await rejected;
  assert.equal(commits(world), 1);
  rmSync(running);
  assert.deepEqual(world.status(), [' M a.ts']);
});

test('in a linked worktree, on its own branch, its own index counts', async t => {
  const world = await AppliedWorld.create(t, { 'a.ts': 'a\n' });
  const at = path.join(world.folder, '..', `${path.basename(world.folder)}-tree`);
  world.repository.run(['worktree', 'add', '-q', '-b', 'side', at]);
  t.after(() => rmSync(at, { recursive: true, force: true }));
  const linked = world.inFolder(at);
  Object.assign(linked.repository, { git: new Git(at) });
  await linked.edit({ 'a.ts': 'A\n' });
  await linked.commit();
  const show = (ref: string): string =>
    execFileSync('git', ['cat-file', 'blob', `${ref}:a.ts`], { cwd: at, encoding: 'utf8' });
  assert.deepEqual([show('side'), show('main')], ['A\n', 'a\n']);
  assert.equal(execFileSync('git', ['status', '--porcelain'], { cwd: at, encoding: 'utf8' }), '');
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
  assert.deepEqual(await world.commit(), []);
  assert.equal(world.head('a.ts'), 'A\n');
});
