import { after, before, suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UNATTENDED } from '../../../../src/agent/sandbox/commands/commandPlan.ts';
import type { SandboxEngine } from '../../../../src/agent/sandbox/commands/sandbox.ts';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { linkTo } from '../../../../src/agent/hold/preview/fileChange.ts';
import { SandboxWorld, bytesIn } from '../../../support/sandboxWorld.ts';

const FILES = { 'src/a.ts': 'a', 'src/b.ts': 'b', 'run.sh': 'echo', 'top.txt': 'top' };

/** The engines that this machine has: a copy everywhere, an overlay where the system allows it. */
const probed = await SandboxWorld.create('overlay');
const overlay = await probed.sandboxes.status();
await probed.remove();
const engines: readonly SandboxEngine[] = overlay.engine ? ['overlay', 'copy'] : ['copy'];

test('an isolated overlay is used where the system allows it, else a copy, with the reason', async t => {
  const world = await SandboxWorld.create('auto', FILES);
  t.after(() => world.remove());
  const status = await world.sandboxes.status();
  if (overlay.engine) assert.deepEqual(status, { engine: 'overlay', isolated: true });
  else {
    assert.deepEqual({ ...status, why: undefined }, { engine: 'copy', isolated: false, why: undefined });
    assert.ok(
      ['system', 'namespaces', 'mount', 'bubblewrap'].includes(status.why?.reason ?? ''),
      JSON.stringify(status.why),
    );
  }
});

test('what cannot be had is said: off, no folder, too large', async t => {
  const off = await SandboxWorld.create('auto', FILES, { engine: () => 'off' });
  const none = await SandboxWorld.create('auto', FILES, { folders: () => [] });
  const large = await SandboxWorld.create('copy', FILES, { limits: () => ({ bytes: 1e9, files: 2 }) });
  for (const world of [off, none, large]) t.after(() => world.remove());
  const reasons = await Promise.all(
    [off, none, large].map(async world => (await world.sandboxes.status()).why?.reason),
  );
  assert.deepEqual(reasons, ['off', 'noFolder', 'tooLarge']);
  assert.equal(await large.sandboxes.of('s1'), undefined);
});

for (const engine of engines)
  test(`${engine}: a command that has ended is let go, while others may run`, async t => {
    const world = await SandboxWorld.create(engine, FILES);
    t.after(() => world.remove());
    const { mock } = t.mock.method(AbortSignal, 'any');
    await world.run('echo b > src/a.ts');
    const made = mock.calls.flatMap(({ result }) => result ?? []);
    assert.ok(made.length > 0);
    assert.deepEqual(
      made.flatMap(signal => getEventListeners(signal, 'abort')),
      [],
    );
  });

test('a large copy is shown while it is made, and the user can cancel it; the next one goes on', async t => {
  const totals: number[] = [];
  let last = 0;
  const many = Array.from({ length: 1_200 }, (_, n) => [`many/${n}`, `${n}`] as const);
  const world = await SandboxWorld.create('copy', Object.fromEntries(many), {
    progress: async (total, copy) => {
      const cancelling = new AbortController();
      const isFirst = totals.push(total) === 1;
      await copy(cancelling.signal, done => {
        if (isFirst && done === 100) cancelling.abort();
        last = done;
      });
    },
  });
  t.after(() => world.remove());
  await assert.rejects(
    world.run('echo ran'),
    /^ToolError: The user cancelled .* Nothing was run\. Ask the user/,
  );
  const done = last;
  assert.ok(done >= 100 && done < 1_200, `${done} files were copied`);
  assert.equal((await world.run('cat many/7 many/1199')).output, '71199');
  const [all = 0, rest = 0] = totals;
  assert.equal(rest, all - done, 'what was copied before is not copied again');
  assert.equal(last, rest);
});

test('what an earlier window has left is ended before its storage is removed, and nothing else', async t => {
  if (process.platform !== 'linux') return void assert.equal(overlay.why?.reason, 'system');
  const world = await SandboxWorld.create('copy', FILES);
  t.after(() => world.remove());
  const [own, other, later] = ['sandbox', 'sandbox of another window', 'sandbox'].map((storage, n) => {
    const child = spawn('/bin/sh', ['-c', 'read line; exit 3'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const stat = fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8').trim();
    const folder = world.temp.at('storage', storage, String(n));
    fs.mkdirSync(folder, { recursive: true });
    // The system has given the id of one that had started at another time.
    const started = n === 2 ? stat.replace(/\d+(?=( \S+){30}$)/, '1') : stat;
    fs.writeFileSync(path.join(folder, 'first'), started);
    return child;
  });
  assert.ok(own && other && later);
  const ended = once(own, 'exit');
  await world.sandboxes.status();
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  for (const left of [other, later]) {
    left.stdin?.end();
    assert.deepEqual(await once(left, 'exit'), [3, null]);
  }
});

for (const engine of engines)
  suite(`engine ${engine}`, () => {
    let world: SandboxWorld;
    before(async () => {
      world = await SandboxWorld.create(engine, FILES);
    });
    after(() => world.remove());

    const unchanged = (): void => {
      for (const [name, text] of Object.entries(FILES)) assert.equal(world.read(name), text, name);
      assert.equal(world.git('status', '--short'), '');
    };

    // Why no shell command of an agent is sent into a copy by itself: docs/decisions/0011-gates-refuse.md.
    test('what a command writes by an absolute path is held in an overlay, and written by a copy', async () => {
      await world.run(`echo x > '${world.at('absolute.log')}'`);
      assert.equal(world.read('absolute.log'), engine === 'copy' ? 'x\n' : undefined);
      fs.rmSync(world.at('absolute.log'), { force: true });
    });

    test('a command sees what is pending; every kind of change comes out, and nothing on disk changes', async () => {
      const ran = await world.run(
        [
          'cat src/a.ts src/new.ts; ls',
          'echo changed > src/a.ts; rm src/b.ts src/new.ts; echo made > src/made.ts; chmod 755 run.sh',
          'mv gone.txt moved.txt 2>/dev/null; ln -s a.ts src/link; mkfifo pipe; exit 3',
        ].join('\n'),
        {
          pending: { 'src/a.ts': 'pending', 'src/new.ts': 'new', 'top.txt': null, 'gone.txt': 'to be moved' },
        },
      );
      assert.equal(ran.exitCode, 3);
      assert.match(ran.output, /^pendingnew/);
      assert.doesNotMatch(ran.output, /top\.txt/);
      assert.deepEqual(ran.changes, [
        'gone.txt → moved.txt: to be moved => to be moved',
        'run.sh 755: echo => echo',
        'src/a.ts: pending => changed',
        'src/b.ts: b => ∅',
        'src/link: ∅ => → a.ts',
        'src/made.ts: ∅ => made',
        'src/new.ts: new => ∅',
      ]);
      assert.deepEqual(ran.leftOut, [{ path: 'pipe', why: 'notAFile' }]);
      unchanged();
    });

    test('a command sees links and binary files that are pending, and changes them', async () => {
      const blobs = new MemoryBlobs();
      const pending = {
        'src/a.ts': linkTo('b.ts'),
        'i.png': await blobs.put(Buffer.of(0, 1, 2)),
        'src/b.ts': await blobs.put(Buffer.of(0, 3)),
        link: linkTo('nowhere'),
      };
      const seen = await world.run(
        'readlink src/a.ts link; wc -c < i.png | tr -d " "; wc -c < src/a.ts | tr -d " "',
        { pending, blobs },
      );
      assert.equal(seen.output, 'b.ts\nnowhere\n3\n2\n');
      assert.deepEqual([seen.changes, seen.leftOut], [[], []]);
      const ran = await world.run(
        'ln -sfn other link; rm src/a.ts; echo text > src/a.ts; chmod 755 i.png; mv src/b.ts c.bin',
        { pending, blobs },
      );
      assert.deepEqual(ran.changes, [
        'i.png 755: \0\x01\x02 => \0\x01\x02',
        'link: → nowhere => → other',
        'src/a.ts: → b.ts => text',
        'src/b.ts → c.bin: \0\x03 => \0\x03',
      ]);
      unchanged();
    });

    test('the next command finds the files on disk with what is pending then, and the ignored files of the last', async () => {
      const first = await world.run(
        'echo 1 > src/a.ts; mkdir -p out node_modules/x; echo 2 > out/o; echo 3 > node_modules/x/y',
      );
      assert.equal(first.ignored, 2);
      assert.deepEqual(first.changes, ['src/a.ts: a => 1']);
      world.write({ 'src/b.ts': 'changed on disk' });
      const ran = await world.run('cat src/a.ts src/b.ts out/o node_modules/x/y; ls src');
      assert.equal(ran.output, 'achanged on disk2\n3\na.ts\nb.ts\n');
      assert.deepEqual(ran.changes, []);
      assert.equal(world.read('out/o'), undefined);
      world.write({ 'src/b.ts': 'b' });
      unchanged();
    });

    test('folders that are removed, replaced, made anew and renamed', async () => {
      const pending = { 'src/deep/new.ts': 'new' };
      const gone = ['src/a.ts: a => ∅', 'src/b.ts: b => ∅', 'src/deep/new.ts: new => ∅'];
      assert.deepEqual((await world.run('rm -rf src', { pending })).changes, gone);
      assert.deepEqual(
        (await world.run('rm -rf src; echo file > src', { pending })).changes,
        [...gone, 'src: ∅ => file'].sort(),
      );
      assert.deepEqual(
        (await world.run('rm -rf src; mkdir src; echo only > src/only', { pending })).changes,
        [...gone, 'src/only: ∅ => only'],
      );
      assert.deepEqual((await world.run('mv src lib', { pending })).changes, [
        'src/a.ts → lib/a.ts: a => a',
        'src/b.ts → lib/b.ts: b => b',
        'src/deep/new.ts → lib/deep/new.ts: new => new',
      ]);
      assert.deepEqual((await world.run('rm top.txt; mkdir top.txt; echo in > top.txt/in')).changes, [
        'top.txt/in: ∅ => in',
        'top.txt: top => ∅',
      ]);
      const all = await world.run('rm -rf * .git .gitignore; ls -A');
      assert.equal(all.output, '');
      assert.equal(all.effects.length, 5);
      assert.match((await world.run('ls src; git status --short')).output, /^a\.ts\nb\.ts\n$/);
      unchanged();
    });

    test('what is written into .git is told and takes no effect; looking at the files is not told', async () => {
      const commit = 'echo x > top.txt; git -c user.name=A -c user.email=a@b commit -qam second';
      const ran = await world.run(commit);
      assert.equal(ran.wroteGit, true);
      assert.deepEqual(ran.changes, ['top.txt: top => x']);
      assert.match(world.git('log', '--oneline'), /^\w+ first\n$/);
      const looked = await world.run('git status --short; git log --format=%s');
      assert.equal(looked.output, 'first\n');
      assert.equal(looked.wroteGit, false);
      unchanged();
    });

    test('a file that changes on disk while the command runs has an unknown base', async () => {
      // Of what a command before has changed, the next one finds a copy.
      await (await world.sandboxes.of('s1'))?.reset();
      const controller = new AbortController();
      const ran = await world.run('echo by command > src/a.ts; echo b2 > src/b.ts; echo started; sleep 985', {
        signal: controller.signal,
        onOutput: () => {
          world.write({ 'src/b.ts': 'by the person' });
          controller.abort();
        },
      });
      const [, b] = ran.effects;
      assert.equal(b?.path, 'src/b.ts');
      assert.equal(b.base, null, 'nothing that it could be merged with cleanly');
      assert.equal(world.read('src/b.ts'), 'by the person');
      world.write({ 'src/b.ts': 'b' });
    });

    test('Stop ends a command with all that it started, and what it did is told', async () => {
      const controller = new AbortController();
      const began = Date.now();
      const ran = await world.run('echo half > src/a.ts; setsid sleep 987 & echo started; sleep 986', {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      });
      assert.equal(ran.exitCode, undefined);
      assert.equal(ran.output, 'started\n', 'nothing of the programs that made the sandbox');
      assert.deepEqual(ran.changes, ['src/a.ts: a => half']);
      assert.ok(Date.now() - began < 20_000);
      assert.doesNotMatch(processes(), /sleep 98[67]/);
      unchanged();
    });

    test('the environment is clean: no secrets, nothing of VS Code, what the user sets for terminals', async () => {
      process.env['MY_API_TOKEN'] = 'secret';
      process.env['VSCODE_PID'] = '1';
      process.env['SSH_AUTH_SOCK'] = '/tmp/agent';
      const { output } = await world.run('env', { plan: { environment: { COLOR: 'red', NPM_TOKEN: 'x' } } });
      assert.match(output, /^COLOR=red$/m);
      assert.match(output, /^PATH=/m);
      assert.doesNotMatch(output, /TOKEN|VSCODE|SSH_AUTH_SOCK/);
    });

    test('no command opens an editor: git says how to pass the text', async () => {
      const environment = { ...UNATTENDED, TERM: 'xterm', GIT_AUTHOR_NAME: 'A', GIT_COMMITTER_NAME: 'A' };
      const { exitCode, output } = await world.run(
        'export GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_EMAIL=a@b; git config core.editor "touch opened; cat >>"; git commit --allow-empty; echo "ended $?"; $VISUAL; echo "$EDITOR"; ls opened',
        { plan: { environment } },
      );
      assert.match(output, /problem with the editor 'false'[^]*using either -m or -F[^]*ended 1\nfalse\n/);
      assert.notEqual(exitCode, 0);
    });

    test('more than can be reviewed becomes no preview, and that is said', async () => {
      const ran = await world.run('i=0; while [ $i -lt 2100 ]; do echo $i > f$i; i=$((i+1)); done');
      assert.deepEqual(ran.effects, []);
      assert.match(ran.notes.join(), /more than can be reviewed at once \(2,000 files or 50 MB\)/);
      assert.deepEqual((await world.run('ls f* 2>/dev/null')).output, '');
    });

    test('large files, binary files and names that are not UTF-8', async () => {
      const ran = await world.run(
        `head -c 6000000 /dev/zero > large; printf '\\000\\001' > binary; printf x > "$(printf 'bad\\377')"`,
      );
      assert.deepEqual(ran.leftOut.map(({ path, why }) => `${path} ${why}`).sort(), [
        'bad\ufffd path',
        'large tooLarge',
      ]);
      assert.deepEqual(
        ran.effects.map(({ path, theirs }) => [path, [...bytesIn(theirs)]]),
        [['binary', [0, 1]]],
      );
    });

    test('commands of one conversation run one after the other', async () => {
      const both = await Promise.all([
        world.run('[ -e out/busy ] && echo together; mkdir -p out; touch out/busy; sleep 0.2; rm out/busy'),
        world.run('[ -e out/busy ] && echo together; true'),
      ]);
      assert.deepEqual(
        both.map(({ output }) => output),
        ['', ''],
      );
    });

    test('disposing leaves nothing', async t => {
      const other = await SandboxWorld.create(engine, FILES);
      t.after(() => other.remove());
      await other.run('mkdir out; echo 1 > out/o; mkdir -m 0 out/closed');
      await other.sandboxes.dispose();
      assert.equal(fs.existsSync(other.temp.at('storage', 'sandbox')), false);
    });
  });

function processes(): string {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
}
