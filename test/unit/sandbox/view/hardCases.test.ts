import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import * as path from 'node:path';
import type { SandboxEngine } from '../../../../src/agent/sandbox/commands/sandbox.ts';
import type { SandboxesOptions } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { placeForeign } from '../../../../src/agent/hold/external/foreignChange.ts';
import { linkTo } from '../../../../src/agent/hold/preview/fileChange.ts';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { contentsAfter } from '../../../../src/agent/hold/preview/overlay.ts';
import { create, modify, rename } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { rounds } from '../../../support/rounds.ts';
import { SandboxWorld, bytesIn } from '../../../support/sandboxWorld.ts';
import { previewWith } from '../../../support/previewWith.ts';

const FILES = { 'src/a.ts': 'a', 'src/b.ts': 'b', file: 'f' };

const probed = await SandboxWorld.create('overlay');
const overlay = await probed.sandboxes.status();
await probed.remove();
const engines: readonly SandboxEngine[] = overlay.engine ? ['overlay', 'copy'] : ['copy'];

/** Folders of a world that are open instead of the one that it has. */
async function open(
  t: TestContext,
  engine: SandboxEngine,
  names: readonly string[],
  files: Readonly<Record<string, string>> = FILES,
): Promise<SandboxWorld> {
  const folders: { name: string; fsPath: string }[] = [];
  const options: Partial<SandboxesOptions> = names.length > 0 ? { folders: () => folders } : {};
  const world = await SandboxWorld.create(engine, files, options);
  t.after(() => world.remove());
  folders.push(...names.map(name => ({ name: path.basename(name), fsPath: path.resolve(world.root, name) })));
  return world;
}

for (const engine of engines)
  suite(`engine ${engine}, hard cases`, () => {
    test('a command that was stopped before it ran leaves nothing pending in the view', async t => {
      const world = await open(t, engine, []);
      const stopped = world.run('true', { pending: { file: 'pending' }, signal: AbortSignal.abort() });
      await assert.rejects(stopped, /stopped before it ran/);
      const { output, changes } = await world.run('cat file');
      assert.deepEqual([output, changes], ['f', []]);
    });

    test('a pending new file is not changed by a command that leaves it alone, whatever the umask is', async t => {
      const mask = process.umask(0o002);
      t.after(() => process.umask(mask));
      const world = await open(t, engine, []);
      assert.deepEqual((await world.run('true', { pending: { 'new.ts': 'x' } })).changes, []);
    });

    test('a folder in the place of a link: nothing behind the link counts, and git is still asked for the rest', async t => {
      const world = await open(t, engine, []);
      fs.mkdirSync(world.temp.at('elsewhere'));
      fs.writeFileSync(world.temp.at('elsewhere', 'theirs'), 'SECRET');
      fs.symlinkSync(world.temp.at('elsewhere'), world.at('link'));
      const ran = await world.run('rm link; mkdir link; echo x > link/theirs; echo 1 > src/y.log');
      assert.deepEqual(ran.changes, ['link/theirs: ∅ => x', `link: → ${world.temp.at('elsewhere')} => ∅`]);
      assert.equal(ran.ignored, 1);
    });

    test('a link in the place of a folder: what it leads to is neither read nor removed', async t => {
      const world = await open(t, engine, []);
      fs.mkdirSync(world.temp.at('elsewhere'));
      const theirs = world.temp.at('elsewhere', 'a.ts');
      fs.writeFileSync(theirs, 'SECRET');
      const swap = `rm -rf src; ln -s '${world.temp.at('elsewhere')}' src`;
      const { changes } = await world.run(swap, { pending: { 'src/a.ts': 'pending' } });
      assert.deepEqual(changes, [
        'src/a.ts: pending => ∅',
        'src/b.ts: b => ∅',
        `src: ∅ => → ${world.temp.at('elsewhere')}`,
      ]);
      fs.rmSync(world.at('src'), { recursive: true });
      await world.run('true');
      await world.run('true', { pending: { 'src/a.ts': null } });
      assert.equal(fs.readFileSync(theirs, 'utf8'), 'SECRET');
    });

    test('a link in the place of the whole folder: what it leads to is neither read nor removed', async t => {
      const world = await open(t, engine, []);
      const theirs = Array.from({ length: 20 }, (_, n) => world.temp.at('elsewhere', `doc${n}`));
      fs.mkdirSync(world.temp.at('elsewhere', 'src'), { recursive: true });
      for (const each of [...theirs, world.temp.at('elsewhere', 'src', 'a.ts')])
        fs.writeFileSync(each, 'SECRET');
      const swap = `cd ..; mv "$OLDPWD" moved && ln -s '${world.temp.at('elsewhere')}' "$OLDPWD"`;
      if (engine === 'copy')
        await assert.rejects(world.run(swap), /replaced the workspace folder by another folder or a link/);
      // It is a mount.
      else assert.deepEqual((await world.run(swap)).changes, []);
      const { output, changes } = await world.run('ls; rm file', {
        pending: { 'src/a.ts': null, doc0: 'x' },
      });
      assert.deepEqual([output, changes], ['doc0\nfile\nsrc\n', ['file: f => ∅']]);
      for (const each of theirs) assert.equal(fs.readFileSync(each, 'utf8'), 'SECRET');
      assert.deepEqual(fs.readdirSync(world.temp.at('elsewhere', 'src')), ['a.ts']);
    });

    test('a link in the place of what is above all copies: what it leads to stays as it is', async t => {
      const world = await open(t, engine, []);
      for (const name of ['sandbox/doc', 'sandbox/1/0/work space/doc', 'sandbox/1/doc'])
        await world.temp.file(`elsewhere/${name}`, 'SECRET');
      const all = (): readonly string[] =>
        fs.readdirSync(world.temp.at('elsewhere'), { recursive: true, encoding: 'utf8' }).sort();
      const before = all();
      const swap = `cd '${world.temp.root}' && mv storage moved && ln -s elsewhere storage`;
      if (engine === 'copy') {
        await assert.rejects(world.run(swap), /replaced the workspace folder by another folder or a link/);
        await assert.rejects(world.run('true'), /another folder stands in its place\. Nothing was run/);
      } else assert.deepEqual((await world.run(swap)).changes, []);
      await world.sandboxes.dispose();
      assert.deepEqual(all(), before);
    });

    test('folders with nothing in them are there, until they are gone from the disk', async t => {
      const world = await open(t, engine, [], { 'a.txt': 'a' });
      fs.mkdirSync(world.at('empty/inner'), { recursive: true });
      assert.equal(
        (await world.run('ls; ls empty; echo x >empty/inner/x.log')).output,
        'a.txt\nempty\ninner\n',
      );
      fs.rmSync(world.at('empty'), { recursive: true });
      await world.run('true');
      fs.mkdirSync(world.at('later'));
      assert.match((await world.run('ls -d later')).output, /^later$/m);
    });

    test('a command that writes one name of a file is told that others had the old content', async t => {
      const world = await open(t, engine, [], { 'a.txt': 'old\n', 'b.txt': 'b\n' });
      fs.linkSync(world.at('a.txt'), world.at('other.txt'));
      const { notes, output } = await world.run('echo new >a.txt; echo new >b.txt; cat other.txt');
      assert.equal(output, 'old\n');
      assert.deepEqual(notes, [
        'Other names (hard links) of these files held the old content while it ran: a.txt.',
      ]);
    });

    test('the whole folder removed: so is all that was in it', async t => {
      const world = await open(t, engine, []);
      const { changes } = await world.run('rm -rf "$PWD" .[!.]* 2>/dev/null; true');
      assert.deepEqual(
        changes.filter(change => !change.startsWith('.')),
        ['file: f => ∅', 'src/a.ts: a => ∅', 'src/b.ts: b => ∅'],
      );
      assert.equal((await world.run('cat src/a.ts file')).output, 'af');
    });

    test('where rules name exceptions, the files of a new folder that are not ignored count, and only those', async t => {
      const world = await open(t, engine, []);
      fs.writeFileSync(world.at('.gitignore'), '*\n!*/\n!*.c\n');
      const ran = await world.run('mkdir -p lib/sub; echo x > lib/sub/a.c; echo x > lib/sub/a.o');
      assert.deepEqual([ran.changes, ran.ignored], [['lib/sub/a.c: ∅ => x'], 1]);
      const next = await world.run('rm -rf lib/sub/a.c; mkdir lib/more; echo x > lib/more/b.c');
      assert.deepEqual(next.changes, ['lib/more/b.c: ∅ => x']);
    });

    test('a pending change below a link in the workspace is found by both names', async t => {
      const world = await open(t, engine, []);
      fs.symlinkSync('src', world.at('link'));
      const pending = { 'link/a.ts': 'P', 'link/new/x': 'N', 'link/b.ts': null };
      const ran = await world.run('cat link/a.ts src/a.ts src/new/x src/b.ts', { pending });
      assert.deepEqual([ran.output.slice(0, 3), ran.changes], ['PPN', []]);
      assert.match(ran.output, /src\/b\.ts/);
      const changed = await world.run('echo x > src/a.ts', { pending });
      assert.deepEqual(changed.changes, ['link/a.ts: P => x']);
    });

    test('an absolute link into the workspace leads to what is pending, and nothing is written through it', async t => {
      const world = await open(t, engine, []);
      // An overlay has nothing outside of the workspace.
      const other = engine === 'copy' ? path.resolve(world.root, '../other') : world.root;
      if (engine === 'copy') fs.symlinkSync(world.root, other);
      fs.mkdirSync(world.at('node_modules'));
      fs.symlinkSync(world.at('src'), world.at('node_modules/one'));
      fs.symlinkSync(path.join(other, 'src'), world.at('node_modules/two'));
      const ran = await world.run(
        'cat node_modules/one/a.ts node_modules/two/a.ts three; echo x > node_modules/one/x; echo y > node_modules/two/y; ln -s "$PWD/src" four',
        {
          pending: {
            'src/a.ts': 'P',
            three: linkTo(world.at('src/a.ts')),
          },
        },
      );
      assert.equal(ran.output, 'PPP');
      const left = [`four: ∅ => → ${world.at('src')}`, 'src/x: ∅ => x', 'src/y: ∅ => y'];
      assert.deepEqual([ran.changes, ran.notes], [left, []]);
      assert.deepEqual(fs.readdirSync(world.at('src')).sort(), ['a.ts', 'b.ts']);
    });

    test('an environment or a build that has the absolute path of the workspace finds what is pending', async t => {
      const world = await open(t, engine, []);
      fs.mkdirSync(world.at('out/lib'), { recursive: true });
      const text = `${world.root}/src/a.ts\n${world.root}-other\n`;
      fs.writeFileSync(world.at('out/lib/path'), text);
      fs.writeFileSync(world.at('out/lib/data'), `\0${text}`);
      fs.writeFileSync(world.at('out/pyvenv.cfg'), '');
      const pending = { 'src/a.ts': 'P' };
      const ran = await world.run('cat "$(head -n 1 out/lib/path)"; tail -n 1 out/lib/path', { pending });
      assert.equal(ran.output, `P${world.root}-other\n`);
      assert.deepEqual([ran.changes, ran.ignored], [[], 0]);
      const data = await world.run('wc -c < out/lib/data', { pending });
      assert.equal(data.output.trim(), String(Buffer.byteLength(text) + 1));
    });

    test('an inner folder of the workspace is a part of the outer one', async t => {
      const world = await open(t, engine, ['.', 'src']);
      const ran = await world.run('cat src/a.ts; echo x > src/b.ts', { pending: { 'src/a.ts': 'pending' } });
      assert.deepEqual([ran.output, ran.changes], ['pending', ['src/b.ts: b => x']]);
    });

    test('what a pending preview deletes in a folder that forbids writing is gone', async t => {
      const world = await open(t, engine, []);
      fs.chmodSync(world.at('src'), 0o555);
      const ran = await world.run('ls src', { pending: { 'src/a.ts': null } });
      fs.chmodSync(world.at('src'), 0o755);
      assert.deepEqual([ran.output, ran.changes], ['b.ts\n', []]);
    });

    test('rules count that are pending, or that the command writes', async t => {
      const world = await open(t, engine, []);
      const pending = { '.gitignore': 'build/\n/src/*.o\n' };
      const cache = 'mkdir -p .cache/v; echo "*" > .cache/.gitignore; echo 1 > .cache/v/x; ls .cache/v';
      const ran = await world.run(
        `${cache}; mkdir -p build/a; echo x > build/a/b; echo x > src/c.o; mkdir 'q[x]'; printf 'p/\n!.q\n*.q\n!k.q\n' > 'q[x]/.gitignore'; cd 'q[x]'; mkdir p; echo x > p/y; echo x > a.q; echo x > k.q`,
        { pending },
      );
      assert.deepEqual(ran.changes, ['q[x]/.gitignore: ∅ => p/\n!.q\n*.q\n!k.q', 'q[x]/k.q: ∅ => x']);
      assert.equal(ran.ignored, 6);
      const both = { ...pending, 'q[x]/.gitignore': 'p/\n*.q\n' };
      const next = await world.run(`${cache}; echo 2 > .cache/v/y; cat build/a/b`, { pending: both });
      assert.deepEqual([next.output, next.changes], ['x\nx\n', []]);
    });

    test('what only rules of a discarded preview ignored is not written by the next command', async t => {
      const world = await open(t, engine, []);
      const cache = 'mkdir -p .cache/v; echo "*" > .cache/.gitignore; echo 1 > .cache/v/x';
      const pending = { '.gitignore': 'build/\n', 'src/.gitignore': '*.o\n' };
      await world.run(`${cache}; mkdir -p build/a; echo x > build/a/b; echo x > src/c.o`, { pending });
      const rest = { 'src/.gitignore': '*.o\n' };
      const next = await world.run('cat .cache/v/x src/c.o', { pending: rest });
      assert.deepEqual(next.changes, []);
      assert.equal(next.output, '1\nx\n');
      const last = await world.run('cat .cache/v/x');
      assert.deepEqual([last.output, last.changes], ['1\n', []]);
    });

    for (const isReversed of [false, true])
      test(`a pending folder in the place of a file or a link, ${isReversed ? 'its files' : 'what makes room'} first`, async t => {
        const world = await open(t, engine, []);
        fs.symlinkSync('src', world.at('lib'));
        fs.chmodSync(world.at('src/b.ts'), 0o755);
        const sides = { file: null, 'file/x/y': 'new', lib: null, 'lib/a.ts': 'P', 'lib/b.ts': 'Q' };
        const entries = Object.entries(sides);
        const pending = Object.fromEntries(isReversed ? entries.reverse() : entries);
        const seen = await world.run('cat file/x/y lib/*.ts src/*.ts; stat -c %a lib/b.ts', { pending });
        const bits = (0o666 & ~process.umask()).toString(8);
        assert.deepEqual([seen.output, seen.changes], [`newPQab${bits}\n`, []]);
        const removed = await world.run('rm -r file lib; echo x > file; ln -s src lib', { pending });
        assert.deepEqual(removed.changes, [
          'file/x/y: new => ∅',
          'file: ∅ => x',
          'lib/a.ts: P => ∅',
          'lib/b.ts: Q => ∅',
          'lib: ∅ => → src',
        ]);
        assert.equal((await world.run('cat file lib/a.ts')).output, 'fa');
      });

    test('what cannot be looked at is left out; the rest is taken, and nothing of it stays in the view', async t => {
      const world = await open(t, engine, []);
      const deep = `perl -e '$d = "x" x 200; for (1..30) { mkdir $d; chdir $d or die } open F, ">end" or die'`;
      const ran = await world.run(`echo changed > file; chmod 000 src; ${deep}`);
      assert.deepEqual([ran.exitCode, ran.changes], [0, ['file: f => changed']]);
      if (engine === 'overlay') assert.ok(ran.leftOut.some(({ why }) => why === 'unreadable'));
      const next = await world.run('cat file src/a.ts');
      assert.deepEqual([next.output, next.changes], ['fa', []]);
      await world.sandboxes.dispose();
      assert.equal(fs.existsSync(world.temp.at('storage', 'sandbox')), false);
    });

    test('folders that forbid writing are copied, changed and cleaned', async t => {
      const world = await open(t, engine, []);
      fs.chmodSync(world.at('src'), 0o555);
      try {
        const pending = { 'src/a.ts': 'pending' };
        assert.equal((await world.run('cat src/a.ts src/b.ts', { pending })).output, 'pendingb');
        const make = 'mkdir -p d/x src/out/z; echo 1 > d/x/y; echo 2 > src/out/z/y';
        const made = await world.run(`chmod 755 src; ${make}; chmod 555 d/x src/out/z src/out d src .`);
        assert.deepEqual([made.exitCode, made.changes, made.ignored], [0, ['d/x/y: ∅ => 1'], 1]);
        const kept = await world.run('find . -name y; cat src/a.ts src/out/z/y', { pending });
        assert.deepEqual([kept.output, kept.changes], ['./src/out/z/y\npending2\n', []]);
      } finally {
        fs.chmodSync(world.at('src'), 0o755);
      }
    });

    test('a command that is stopped while the sandbox is prepared is not run', async t => {
      const world = await open(t, engine, []);
      const [controller, nothing] = [new AbortController(), contentsAfter([], new MemoryBlobs())];
      const paths = (): readonly string[] => {
        controller.abort();
        return [];
      };
      const contents = { paths, at: () => nothing.at(''), blobs: nothing.blobs };
      const ran = world.run('sleep 984', { contents, signal: controller.signal });
      await assert.rejects(ran, /stopped before it ran/);
    });

    test('a file that is moved and gets other permission bits is a new one with them', async t => {
      const world = await open(t, engine, []);
      const { effects } = await world.run('mv file run; chmod 755 run; mv src/b.ts c.ts');
      const workspace = new DiskWorkspace(world.root);
      const { changes } = await placeForeign(effects, { workspace, blobs: new MemoryBlobs() });
      assert.deepEqual(
        changes.map(change => [change.kind, change.path, 'mode' in change ? change.mode : undefined]),
        [
          ['rename', 'c.ts', undefined],
          ['delete', 'file', undefined],
          ['create', 'run', 0o755],
        ],
      );
    });

    test('what is written in the repository of an inner folder stays there, and is told', async t => {
      const world = await open(t, engine, []);
      world.write({ 'inner/x': 'x' });
      world.git('init', '-q', 'inner');
      const commit = ['-C', 'inner', '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm'];
      world.git(...commit, 'one', '--allow-empty');
      const add = 'echo y > inner/x; git -C inner add .';
      const ran = await world.run(`${add}; git ${commit.join(' ')} two`);
      assert.deepEqual([ran.exitCode, ran.changes, ran.wroteGit], [0, ['inner/x: x => y'], true]);
      assert.equal((await world.run('git -C inner log --format=%s')).output, 'one\n');
    });

    test('what is written in a repository of another name than .git is told, and is no preview', async t => {
      const world = await open(t, engine, []);
      world.write({ 'inner/x': 'x', 'stores/readme': 'r' });
      world.git('init', '-q', '--separate-git-dir=stores/inner', 'inner');
      const commit = ['-C', 'inner', '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm'];
      world.git(...commit, 'one', '--allow-empty');
      const looked = await world.run(
        'sleep 0.01; touch inner/x; git -C inner status --short; echo s > stores/readme',
      );
      assert.deepEqual([looked.changes, looked.wroteGit], [['stores/readme: r => s'], false]);
      const add = 'echo y > inner/x; git -C inner add .';
      const ran = await world.run(`${add}; git ${commit.join(' ')} two`);
      assert.deepEqual([ran.exitCode, ran.changes, ran.wroteGit], [0, ['inner/x: x => y'], true]);
      assert.equal((await world.run('git -C inner log --format=%s')).output, 'one\n');
      const configured = await world.run('echo "[core]" >> stores/inner/config; rm stores/inner/description');
      assert.deepEqual([configured.changes, configured.wroteGit], [[], true]);
    });

    test('a repository that a command makes is told, and is no preview', async t => {
      const world = await open(t, engine, []);
      const ran = await world.run('git init -q --bare made; echo x > file; echo y > made/hooks/pre-commit');
      assert.deepEqual([ran.changes, ran.wroteGit], [['file: f => x'], true]);
      assert.equal((await world.run('ls made/HEAD made/hooks/pre-commit')).exitCode, 2);
    });

    test('a file .git that a command rewrites or makes is told, and is no preview', async t => {
      const world = await open(t, engine, []);
      world.write({ 'inner/x': 'x' });
      world.git('init', '-q', '--separate-git-dir=store', 'inner');
      const rewritten = await world.run('mkdir evil; echo "gitdir: ../evil" > inner/.git');
      assert.deepEqual([rewritten.changes, rewritten.wroteGit], [[], true]);
      const made = await world.run('mkdir new; echo "gitdir: ../evil" > new/.git');
      assert.deepEqual([made.changes, made.wroteGit], [[], true]);
      assert.equal((await world.run('cat inner/.git; ls new')).output.includes('evil'), false);
    });

    test('a worktree inside its bare repository is worked on like any other', async t => {
      const world = await open(t, engine, []);
      world.git('clone', '-q', '--bare', '.', 'p.git');
      world.git('-C', 'p.git', 'worktree', 'add', '-q', 'wt');
      const ran = await world.run('echo x > p.git/wt/new; echo y > p.git/info/attributes');
      assert.deepEqual([ran.changes, ran.wroteGit], [['p.git/wt/new: ∅ => x'], true]);
    });

    test('ignored files of one folder stay when too much was changed in another one', async t => {
      const world = await open(t, engine, ['src', '../other']);
      fs.mkdirSync(path.resolve(world.root, '../other'));
      const plan = { folder: world.at('src') };
      const other = engine === 'copy' ? '../../../1/other' : path.resolve(world.root, '../other');
      const keep = `mkdir '${other}/node_modules'; echo 1 > '${other}/node_modules/m'`;
      await world.run(keep, { plan });
      const { notes } = await world.run(`perl -e 'for (1..2100) { open F, ">$_"; print F 1 }'`, { plan });
      assert.match(notes.join(), /more than can be reviewed/);
      assert.equal((await world.run(`cat '${other}/node_modules/m'`, { plan })).output, '1\n');
    });

    test('a pending file in the place of a folder', async t => {
      const world = await open(t, engine, []);
      const pending = { src: 'x', 'src/a.ts': null, 'src/b.ts': null };
      const ran = await world.run('cat src', { pending });
      assert.deepEqual([ran.output, ran.changes], ['x', []]);
    });

    test('a file that was deleted on disk meanwhile has an unknown base', async t => {
      const world = await open(t, engine, []);
      const controller = new AbortController();
      const { effects } = await world.run('echo mine >> src/b.ts; echo started; sleep 982', {
        signal: controller.signal,
        onOutput: () => {
          fs.rmSync(world.at('src/b.ts'), { force: true });
          controller.abort();
        },
      });
      assert.deepEqual(
        effects.map(({ path: at, base, theirs }) => [at, bytesIn(base).length, bytesIn(theirs).toString()]),
        [['src/b.ts', 0, 'bmine\n']],
      );
    });

    test('a command finds pending permission bits, also of moved files; what it leaves alone it did not change', async t => {
      const world = await open(t, engine, []);
      fs.chmodSync(world.at('src/b.ts'), 0o750);
      const [a = '', b = ''] = ['src/a.ts', 'src/b.ts'].map(at => world.read(at));
      const previews = [
        { id: 'p1', changes: [{ ...modify('src/a.ts', a, '#!/bin/sh\n'), mode: 0o755 }] },
        { id: 'p2', changes: [modify('src/a.ts', '#!/bin/sh\n', '#!/bin/sh\necho ran\n')] },
        { id: 'p3', changes: [rename('src/b.ts', 'c.ts', b)] },
        {
          id: 'p4',
          changes: [rename('c.ts', 'd.ts', b), { ...create('new.sh', 'true\n'), mode: 0o711 }],
        },
      ].map(previewWith);
      const ran = await world.run(
        `src/a.ts; stat -c '%a' d.ts new.sh; chmod 640 src/a.ts; chmod -x new.sh; chmod +x new.sh`,
        { contents: contentsAfter(previews, new MemoryBlobs()) },
      );
      assert.equal(ran.output, 'ran\n750\n711\n');
      assert.deepEqual(ran.changes, ['src/a.ts 640: #!/bin/sh\necho ran => #!/bin/sh\necho ran']);
    });

    test('permission bits that are changed on disk while a command runs are not reverted, and are a conflict with its own', async t => {
      const world = await open(t, engine, []);
      const [a = '', b = ''] = ['src/a.ts', 'src/b.ts'].map(at => world.read(at));
      const touch = `cat src/b.ts > t; cat t > src/b.ts; rm t; echo x >> src/a.ts`;
      const controller = new AbortController();
      const { effects } = await world.run(`${touch}; echo started; sleep 983`, {
        signal: controller.signal,
        pending: { 'src/a.ts': a },
        onOutput: () => {
          for (const at of ['src/a.ts', 'src/b.ts']) fs.chmodSync(world.at(at), 0o700);
          controller.abort();
        },
      });
      const workspace = new DiskWorkspace(world.root);
      const { changes, conflicts } = await placeForeign(effects, { workspace, blobs: new MemoryBlobs() });
      assert.deepEqual(changes, [modify('src/a.ts', a, `${a}x\n`)]);
      assert.deepEqual(conflicts, [{ ...modify('src/b.ts', b, b), mode: 0o644 }]);
    });

    test('only ignored files that the command itself has changed are counted', async t => {
      const world = await open(t, engine, []);
      assert.equal((await world.run('mkdir out; echo 1 > out/1; echo 2 > out/2; echo > x.log')).ignored, 3);
      assert.equal((await world.run('echo 3 > out/3')).ignored, 1);
      assert.equal((await world.run('cat out/1')).ignored, 0);
    });

    test('ignored files that a command has removed are not counted: they do not stay', async t => {
      const world = await open(t, engine, []);
      world.write({ 'kept.log': 'on disk' });
      assert.equal((await world.run('echo 1 > 1.log; echo 2 > 2.log')).ignored, 2);
      const ran = await world.run('rm kept.log 1.log; echo 3 > 3.log');
      assert.deepEqual([ran.changes, ran.ignored], [[], 1]);
      assert.equal((await world.run('cat *.log')).output, '2\n3\non disk');
    });

    test('disposing ends what runs and what waits, and reports no deletions', async t => {
      const world = await open(t, engine, []);
      const controller = new AbortController();
      const running = world.run('echo started; sleep 981', { onOutput: () => controller.abort() });
      const waiting = assert.rejects(world.run('true'), /stopped before it ran/);
      await new Promise(resolve => controller.signal.addEventListener('abort', resolve));
      await world.sandboxes.dispose();
      assert.deepEqual((await running).changes, []);
      await waiting;
      assert.doesNotMatch(spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout, /^sleep 981$/m);
      assert.equal(fs.existsSync(world.temp.at('storage', 'sandbox')), false);
    });

    test('a folder of thousands of files is moved, which ends, is told, and leaves the folder where it was', async t => {
      const world = await open(t, engine, []);
      const count = rounds(50_000, 2_500);
      fs.mkdirSync(world.at('old'));
      for (let n = 0; n < count; n++) fs.writeFileSync(world.at(`old/${n}`), 'same\n');
      world.git('add', '.');
      const { exitCode, effects, notes } = await world.run('mv old new && ls new | wc -l');
      assert.deepEqual([exitCode, effects.length], [0, 0]);
      assert.match(notes.join(), /more than can be reviewed at once/);
      assert.equal((await world.run('ls old | wc -l; ls new 2>/dev/null')).output.trim(), `${count}`);
      assert.equal(fs.readdirSync(world.at('old')).length, count);
    });

    test('a command that writes thousands of files is told that none of them became a preview, and the next one finds none', async t => {
      const world = await open(t, engine, []);
      const write = `mkdir many; perl -e 'for (1..${rounds(50_000, 2_500)}) { open F, ">many/$_"; print F $_; close F }'`;
      const { exitCode, effects, notes } = await world.run(write);
      assert.deepEqual([exitCode, effects], [0, []]);
      assert.match(notes.join(), /more than can be reviewed at once .* None of it became a preview/);
      assert.equal((await world.run('find . -path "*/many/*" | wc -l')).output.trim(), '0');
      assert.equal(world.git('status', '--short'), '');
    });

    test('several folders', async t => {
      const world = await open(t, engine, ['src', '../other']);
      fs.mkdirSync(path.resolve(world.root, '../other'));
      fs.writeFileSync(path.resolve(world.root, '../other/o'), 'o');
      const plan = { folder: world.at('src') };
      const pending = { 'src/a.ts': 'pending', 'other/new': 'new' };
      const ran = await world.run('cat a.ts; echo x > b.ts', { plan, pending });
      assert.equal(ran.output, 'pending');
      assert.deepEqual(ran.changes, ['src/b.ts: b => x']);
    });

    test('a folder that is opened by a link, and one whose name holds signs that mean something to mount', async t => {
      const world = await open(t, engine, ['../li,nk']);
      fs.symlinkSync(world.root, path.resolve(world.root, '../li,nk'));
      const ran = await world.run('cat file; echo x > file');
      assert.deepEqual([ran.output, ran.changes], ['f', ['file: f => x']]);
      const odd = await open(t, engine, ['a,b:c']);
      fs.mkdirSync(odd.at('a,b:c'));
      fs.writeFileSync(odd.at('a,b:c/in'), 'in');
      const there = await odd.run('echo x > in', { plan: { folder: odd.at('a,b:c') } });
      assert.deepEqual(there.changes, ['in: in => x']);
    });

    test('without git, dependencies are ignored and nothing else', async t => {
      const searched = process.env['PATH'];
      t.after(() => (process.env['PATH'] = searched));
      const write = '/bin/mkdir -p node_modules/x; echo 1 > node_modules/x/y; echo 2 > a.log';
      const world = await open(t, engine, []);
      process.env['PATH'] = world.at('src');
      const noProgram = await world.run(write);
      assert.deepEqual([noProgram.changes, noProgram.ignored], [['a.log: ∅ => 2'], 1]);
      process.env['PATH'] = searched;
      fs.rmSync(world.at('.git'), { recursive: true });
      const noRepository = await world.run(`rm -rf node_modules; ${write}`);
      assert.deepEqual([noRepository.changes, noRepository.ignored], [['a.log: ∅ => 2'], 1]);
    });

    test('what stands in the workspace and is no file, or has a name that is not UTF-8, stops nothing', async t => {
      const world = await open(t, engine, []);
      execFileSync('mkfifo', [world.at('src/pipe')]);
      const server = createServer().listen(world.at('src/socket'));
      t.after(() => server.close());
      fs.writeFileSync(Buffer.concat([Buffer.from(world.at('bad')), Buffer.of(0xff)]), 'odd');
      const ran = await world.run(
        'cat src/a.ts; rm -rf src/pipe src/socket bad*; echo file > src/pipe; mkfifo file2; rm file; mkfifo file; mknod device c 1 3; true',
      );
      assert.deepEqual([ran.exitCode, ran.output[0]], [0, 'a']);
      assert.ok(ran.changes.includes('src/pipe: ∅ => file'), ran.changes.join());
      const left = ran.leftOut.map(({ path: at, why }) => `${at} ${why}`);
      for (const each of ['file notAFile', 'file2 notAFile']) assert.ok(left.includes(each), left.join());
      assert.ok(fs.lstatSync(world.at('src/pipe')).isFIFO());
      assert.equal((await world.run('cat file src/a.ts')).output, 'fa');
    });
  });

suite('engine copy alone, hard cases', () => {
  test('git in the copy of a worktree writes nothing into its repository', async t => {
    const world = await open(t, 'copy', ['../tree']);
    world.git('worktree', 'add', '-q', '../tree', '-b', 'tree');
    world.git('worktree', 'add', '-q', '../tree/in', '-b', 'in');
    const folder = path.resolve(world.root, '../tree');
    const state = (): string =>
      ['log --all --format=%s', 'status -s', '-C ../tree status -s', '-C ../tree/in status -s']
        .map(args => world.git(...args.split(' ')))
        .join('--\n');
    const before = state();
    const commit = 'git add -A . ; git -c user.name=A -c user.email=a@b commit -qm evil';
    const ran = await world.run(
      `git log --format=%s; git status -s; echo x > file; ${commit}; cd in; echo x > file; ${commit}; git checkout -qb other; git log --format=%s`,
      { plan: { folder } },
    );
    assert.match(ran.output, /^first\n(\?\? in\/\n)?[^]*evil\nfirst\n$/);
    assert.deepEqual([ran.changes, ran.wroteGit], [['file: f => x', 'in/file: f => x'], true]);
    const next = await world.run('git log --format=%s; git diff --stat', { plan: { folder } });
    assert.deepEqual([next.output, next.changes, next.wroteGit], ['first\n', [], false]);
    assert.equal(state(), before);
  });

  test('git in the copy finds no repository around it', async t => {
    const world = await open(t, 'copy', []);
    fs.rmSync(world.at('.git'), { recursive: true });
    execFileSync('git', ['init', '-q', world.temp.at('storage')]);
    assert.match((await world.run('git status')).output, /not a git repository/);
  });
});

suite('engine overlay alone, hard cases', () => {
  test('git works in a worktree, whose repository cannot be written', async t => {
    if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
    const world = await open(t, 'overlay', ['../tree']);
    world.git('worktree', 'add', '-q', '../tree', '-b', 'tree');
    const plan = { folder: path.resolve(world.root, '../tree') };
    const { output } = await world.run('git log --format=%s; git tag evil', { plan });
    assert.match(output, /^first\n[^]*(read-only|permission denied)/i);
    assert.equal(world.git('tag'), '');
  });

  test('a folder that claims to be the worktree of another repository cannot be used to read it', async t => {
    if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
    const world = await open(t, 'overlay', ['../false']);
    const plan = { folder: path.resolve(world.root, '../false') };
    fs.mkdirSync(plan.folder);
    world.git('worktree', 'add', '-q', '../tree', '-b', 'tree');
    fs.writeFileSync(path.join(plan.folder, '.git'), `gitdir: ${world.at('.git/worktrees/tree')}\n`);
    assert.doesNotMatch((await world.run('git log --format=%s', { plan })).output, /first/);
  });

  test('a workspace that holds the home folder is not isolated', async t => {
    const home = process.env['HOME'];
    t.after(() => (process.env['HOME'] = home));
    const world = await open(t, 'overlay', []);
    process.env['HOME'] = world.at('src');
    const { isolated, why } = await world.sandboxes.status();
    assert.equal(isolated, false);
    assert.equal(why?.reason, 'leaks');
  });
});
