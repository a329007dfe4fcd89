/** Agents that work in a copy, as everywhere where no overlay can be mounted. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { processNow } from '../../../../src/agent/base/system/processTable.ts';
import { english } from '../../../../src/agent/base/localiser.ts';
import { AgentView } from '../../../../src/agent/sandbox/agentView/agentView.ts';
import { wallAround } from '../../../../src/agent/sandbox/agentView/copyWall.ts';
import { mountFor } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { mountsOf } from '../../../../src/agent/clients/view/mountsOf.ts';
import { writeOwner } from '../../../../src/agent/clients/view/viewOwner.ts';
import type { AgentViewsHost } from '../../../../src/agent/clients/view/viewsHost.ts';
import { FREEZE_WORKER } from '../../../support/freezeWorker.ts';
import { ViewWorld } from '../../../support/viewWorld.ts';

const FILES = { 'src/a.ts': 'one\ntwo\nthree\nfour\nfive\nsix\n', 'src/b.ts': 'b\n', 'run.sh': 'echo\n' };
const MANY = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`node_modules/m/${n}.js`, `${n}`]));

async function opened(
  t: TestContext,
  files: Readonly<Record<string, string>> = FILES,
  options: Partial<AgentViewsHost> = {},
): Promise<ViewWorld> {
  const world: ViewWorld = await ViewWorld.create(files, {
    mount: () => mountFor([{ name: 'w', fsPath: world.root }], world.storage, 'copy'),
    ...options,
  });
  t.after(() => world.remove());
  return world;
}

/** A copy of the workspace in which no program is at work yet. */
function copyOf({ root, storage }: ViewWorld): Promise<AgentView> {
  const { signal } = new AbortController();
  return AgentView.create(
    [{ name: 'w', fsPath: root }],
    path.join(storage, 'view-of-copy'),
    { files: 1_000, bytes: 1e9, worker: FREEZE_WORKER },
    { signal, progress: (_, copy) => copy(signal, () => undefined) },
  );
}

suite('an agent that works in a copy', () => {
  test('its edits, deletions and new files are previews; one is applied, one is discarded, and the folder is as it was elsewhere', async t => {
    const world = await opened(t);
    const agent = world.start();
    const folder = await agent.run('pwd');
    assert.equal(folder, path.join(fs.realpathSync(world.storage), 'copies-1', path.basename(world.root)));
    assert.match(agent.output, /^redline: It works in a copy; /m);
    await agent.run(
      `sed -i "s/one/ONE/; s/six/SIX/" src/a.ts; node -e 'fs.writeFileSync("new.ts", "new")'; rm src/b.ts`,
    );
    assert.deepEqual(await world.previews(1), [
      'sh: new.ts: ∅ => new; src/a.ts: one\ntwo\nthree\nfour\nfive\nsix => ONE\ntwo\nthree\nfour\nfive\nSIX; src/b.ts: b => ∅',
    ]);
    assert.equal(world.git('status', '--porcelain'), '');
    await world.voteOnHunk('p1', 'discard', ['src/a.ts', 1], 'Six stays small.');
    await world.votesOnFiles('p1', { apply: [], discard: ['src/b.ts'] });
    await world.rest();
    assert.equal(await agent.run('cat src/a.ts src/b.ts new.ts'), 'ONE\ntwo\nthree\nfour\nfive\nsix\nb\nnew');
    assert.match(await agent.run('cat REDLINE.md'), /Six stays small\./);
    await world.vote('p1', 'apply');
    assert.equal(world.read('src/a.ts'), 'ONE\ntwo\nthree\nfour\nfive\nsix\n');
    await agent.run('echo later > later.ts');
    const all = await world.previews(1);
    assert.equal(all.at(-1), 'sh: later.ts: ∅ => later');
    assert.equal(await agent.exit(3), 3);
    assert.match(agent.output, /1 preview waits for you in VS Code\./);
    assert.deepEqual(world.git('status', '--porcelain').trim().split('\n'), ['M src/a.ts', '?? new.ts']);
    await polled('the copy to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  test('it is told where the decisions are, also if a REDLINE.md is the user’s', async t => {
    for (const files of [FILES, { ...FILES, 'REDLINE.md': 'mine' }]) {
      const world = await opened(t, files);
      const agent = world.start(world.toldProgram());
      const told = await agent.toldFile();
      await world.rest();
      assert.match(await agent.run(`cat '${told}'`), /^# What became of your changes/);
      await agent.exit();
    }
  });

  test('what it takes back itself, just before a discard reaches its file, keeps no other part of that from the file', async t => {
    const world = await opened(t);
    const agent = world.start();
    await agent.run('sed -i "s/one/ONE/; s/six/SIX/" src/a.ts');
    await world.previews(1);
    const put = AgentView.prototype.put;
    const { mock } = t.mock.method(
      AgentView.prototype,
      'put',
      async function (this: AgentView, ...args: Parameters<typeof put>) {
        if (mock.callCount() === 0) await agent.run('sed -i s/SIX/six/ src/a.ts');
        return put.apply(this, args);
      },
    );
    await world.vote('p1', 'discard');
    for (let times = 0; times < 2; times++) await world.rest();
    assert.equal(await agent.run('cat src/a.ts'), FILES['src/a.ts'].trim());
    await agent.exit();
    assert.equal(world.store.all().length, 1);
  });

  test('ignored files can be used and stay in it; git has a repository of its own', async t => {
    const world = await opened(t);
    world.write({ ...MANY, '.env.log': 'SECRET=1', 'out/small.js': 'old' });
    const agent = world.start();
    assert.equal(await agent.run('cat node_modules/m/7.js .env.log out/small.js'), '7SECRET=1old');
    await agent.run(
      'echo x > node_modules/m/7.js; echo y > node_modules/new; rm -r out; mkdir -p dist.log; echo z > dist.log/z',
    );
    await agent.run(
      'echo c > src/c.ts; git -c user.name=A -c user.email=a@b add . && git -c user.name=A -c user.email=a@b commit -qm inside',
    );
    assert.equal(await agent.run('git log --oneline | wc -l; git status --porcelain'), '2');
    assert.deepEqual(await world.previews(1), ['sh: src/c.ts: ∅ => c']);
    await world.rest();
    assert.match(
      await agent.run('cat REDLINE.md'),
      /^Git ignores these, so they stay in this view: node_modules, dist\.log\.$/m,
      '.env.log was not written, and out is gone',
    );
    await agent.exit();
    assert.match(agent.output, /1 commit was not taken/);
    assert.equal(world.read('node_modules/m/7.js'), '7');
    assert.equal(world.read('out/small.js'), 'old');
    assert.equal(world.git('log', '--oneline').trim().split('\n').length, 1);
    assert.equal(world.git('fsck', '--unreachable').trim(), '');
  });

  test('absolute links of the workspace lead into the copy and are no change; a path of the copy in a file is named', async t => {
    const world = await opened(t);
    fs.symlinkSync(world.at('src/b.ts'), world.at('link'));
    const agent = world.start();
    await agent.run('echo B > link; echo "$PWD/src" > paths.txt; ln -s "$PWD/src/a.ts" second');
    assert.deepEqual(await world.previews(1), [
      `sh: paths.txt: ∅ => ${path.join(fs.realpathSync(world.storage), 'copies-1', path.basename(world.root))}/src; second: ∅ => link to ${world.at('src/a.ts')}; src/b.ts: b => B`,
    ]);
    assert.equal(world.read('src/b.ts'), 'b\n');
    const told = await agent.run('cat REDLINE.md');
    assert.match(told, /This is a copy: .*copies-1.* stands for /);
    assert.match(told, /With the path of the copy in them, .*: paths\.txt\./);
    await world.vote('p1', 'discard');
    await world.rest();
    assert.equal(await agent.run('cat link; ls'), 'b\nREDLINE.md\nlink\nrun.sh\nsrc');
    await agent.exit();
  });

  test('by the absolute path of the workspace it cannot write, where the system has a wall', async t => {
    const world = await opened(t);
    const agent = world.start();
    await agent.run(`echo past > '${world.at('src/a.ts')}'`);
    const isTold = agent.output.includes('it cannot write into the workspace folder itself');
    assert.equal(world.read('src/a.ts') === FILES['src/a.ts'], isTold, agent.output);
    await agent.exit();
  });

  for (const [what, wall, isWalled] of [
    ['is none', undefined, false],
    ['lets everything through', 'shift 2; exec "$@"', false],
    ['refuses what is written into the folders', 'shift 7; echo x >"$1/$2"', true],
  ] as const)
    test(`where the wall ${what}, the first line of the terminal says whether the agent can write elsewhere`, async t => {
      const world = await opened(t);
      const view = await copyOf(world);
      const at = await world.temp.file('sandbox-exec', `#!/bin/sh\n${wall}\n`);
      fs.chmodSync(at, 0o755);
      const { l10n, folders, store } = { l10n: english, folders: () => [], store: world.store };
      const made = await mountsOf(
        view,
        { view: '/', agent: { name: 'sh', version: '' }, sessionId: 'view-x' },
        { l10n, folders, store, readable: () => [] },
        (closed, free) => wallAround(closed, free, 'darwin', () => (wall === undefined ? undefined : at)),
      );
      assert.equal(made.wall[0], isWalled ? at : undefined);
      assert.equal(
        made.lines[0],
        isWalled
          ? 'It works in a copy; it cannot write into the workspace folder itself.'
          : 'It works in a copy; nothing stops it from writing elsewhere by an absolute path.',
      );
      await view.remove();
    });

  test('a window that is reloaded goes on where it was; what ended meanwhile, or was killed, is taken; two have copies of their own', async t => {
    const world = await opened(t);
    const [agent, other] = [world.start(), world.start()];
    await agent.run('echo one >> src/a.ts');
    await other.run('echo two > two.ts');
    await world.previews(2);
    assert.notEqual(await agent.run('pwd'), await other.run('pwd'));
    await world.closeWindow();
    await agent.run('echo B > src/b.ts');
    assert.equal(await world.openWindow(), true);
    assert.match((await world.previews(3))[2] ?? '', /^sh: src\/b\.ts: b => B$/);
    other.kill();
    await world.closeWindow();
    await agent.run('echo three > three.ts');
    assert.equal(await agent.exit(), 0);
    assert.match(agent.output, /VS Code is closed\. Changes become previews/);
    assert.equal(await world.openWindow(), false);
    assert.equal((await world.previews(4))[3], 'sh: three.ts: ∅ => three');
    await polled('the copies to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  for (const isOpen of [true, false])
    test(`if redline-run is killed while the window is ${isOpen ? 'open' : 'closed'}, its processes end, and what they write then is taken`, async t => {
      const world = await opened(t);
      const agent = world.start();
      const script = `trap 'echo bye > bye.ts; exit' TERM; echo $$ > "$HOME/left"; while :; do sleep 0.05; done`;
      await agent.run(`cat > left.sh <<'END'\n${script}\nEND\nsetsid sh left.sh >/dev/null 2>&1 &`);
      await world.previews(1);
      const left = path.join(world.temp.at('home'), 'left');
      const pid = await polled('it to begin', () =>
        fs.existsSync(left) ? Number(fs.readFileSync(left, 'utf8')) : undefined,
      );
      if (!isOpen) await world.closeWindow();
      agent.kill();
      await agent.ended;
      if (!isOpen) assert.equal(await world.openWindow(), false);
      assert.equal((await world.previews(2))[1], 'sh: bye.ts: ∅ => bye');
      assert.equal(processNow(pid), undefined);
      await polled('the copies to be gone', () => fs.readdirSync(world.storage).length === 0);
    });

  test('a link in the place of the copies leads to nothing that is read or written', async t => {
    const world = await opened(t);
    const view = await copyOf(world);
    const copies = path.dirname(view.mounts.copies[0]?.copy ?? '');
    fs.renameSync(copies, `${copies}.moved`);
    fs.symlinkSync(path.dirname(world.root), copies);
    const replaced = /another folder stands in its place/;
    await assert.rejects(view.put('src/b.ts', Buffer.from('past')), replaced);
    await assert.rejects(view.tell('past'), replaced);
    await assert.rejects(view.collect(), replaced);
    await assert.rejects(
      (await AgentView.reopen(view.storage)).put('src/b.ts', Buffer.from('past')),
      replaced,
    );
    await view.remove();
    assert.equal(world.git('status', '--porcelain'), '');
    assert.equal(world.read('src/b.ts'), 'b\n');
  });

  test('git works on the copy, also where the settings of the repository name the folder', async t => {
    const world = await opened(t);
    world.git('config', 'core.worktree', world.root);
    world.write({ 'src/b.ts': 'not committed\n' });
    const agent = world.start();
    await agent.run('git checkout -q -- src/b.ts');
    assert.deepEqual(await world.previews(1), ['sh: src/b.ts: not committed => b']);
    assert.equal(world.read('src/b.ts'), 'not committed\n');
    await agent.exit();
  });

  test('git finds the repository of the copy or none, whatever variables and folders above say', async t => {
    const world = await opened(t);
    execFileSync('git', ['init', '-q'], { cwd: world.temp.root });
    const real = { GIT_DIR: world.at('.git'), GIT_WORK_TREE: world.root, GIT_CEILING_DIRECTORIES: '' };
    const index = { GIT_INDEX_FILE: world.at('.git/index'), GIT_COMMON_DIR: world.at('.git') };
    const agent = world.start('/bin/sh', [], { ...real, ...index });
    const folder = await agent.run('pwd');
    const found = 'git rev-parse --show-toplevel --absolute-git-dir --git-common-dir';
    assert.equal(await agent.run(found), [folder, `${folder}/.git`, '.git'].join('\n'));
    assert.equal(await agent.run('echo c > c.ts; git add .; git ls-files c.ts'), 'c.ts');
    assert.equal(world.git('status', '--porcelain'), '');
    assert.match(await agent.run('rm -rf .git; git rev-parse --show-toplevel'), /not a git repository/);
    await agent.exit();
  });

  test('folders of copies that a crash has left are removed at the next start, unless a view there cannot be read', async t => {
    const world = await opened(t);
    await world.closeWindow();
    const at = (...names: string[]): string => path.join(world.storage, ...names);
    const before = new Date(Date.now() - 3_600_000);
    for (const name of ['copies-7/w', 'copies-8', 'unreadable', 'copies.mine'])
      fs.mkdirSync(at(name), { recursive: true });
    fs.utimesSync(at('copies-7'), before, before);
    const left = async (): Promise<readonly string[]> => {
      await world.openWindow();
      await world.closeWindow();
      return fs.readdirSync(world.storage);
    };
    const all = fs.readdirSync(world.storage);
    assert.deepEqual(await left(), all);
    for (const name of ['unreadable', 'copies.mine']) fs.rmdirSync(at(name));
    assert.deepEqual(await left(), ['copies-8'], 'it may just have been claimed');
    fs.utimesSync(at('copies-8'), before, before);
    const view = await copyOf(world);
    assert.deepEqual(await left(), [], 'nobody has worked in the view, either');
    await view.remove();
    await world.openWindow();
  });

  for (const isOpen of [true, false])
    test(`an agent that removes its copy has deleted nothing, and leaves nothing (${isOpen ? 'open' : 'closed'} window)`, async t => {
      const world = await opened(t);
      const agent = world.start();
      await agent.run('echo early > early.ts');
      await world.previews(1);
      if (!isOpen) await world.closeWindow();
      await agent.run('copy=$PWD; cd /; rm -rf "$copy"');
      if (isOpen) await world.rest();
      assert.equal(await agent.exit(4), 4);
      if (!isOpen) assert.equal(await world.openWindow(), false);
      await polled('the copies to be gone', () => fs.readdirSync(world.storage).length === 0);
      assert.deepEqual(await world.previews(1), ['sh: early.ts: ∅ => early']);
      assert.equal(world.git('status', '--porcelain'), '');
    });

  test('what is left of a copy whose removal broke off, or that has gone, is no deletion by the agent', async t => {
    const world = await opened(t);
    await world.closeWindow();
    for (const hasGone of [true, false]) {
      const view = await copyOf(world);
      await writeOwner(view.storage, { view: '/', agent: { name: 'sh', version: '' }, sessionId: 'view:x' });
      const [{ copy } = assert.fail()] = view.mounts.copies;
      if (hasGone) fs.rmSync(path.dirname(copy), { recursive: true });
      else {
        fs.rmSync(path.join(copy, 'src/b.ts'));
        const state = path.join(view.storage, 'view.json');
        fs.writeFileSync(
          state,
          JSON.stringify({ ...JSON.parse(fs.readFileSync(state, 'utf8')), isOver: true }),
        );
      }
      assert.equal(await world.openWindow(), false);
      assert.deepEqual(world.store.all(), []);
      assert.deepEqual(fs.readdirSync(world.storage), []);
      await world.closeWindow();
    }
    await world.openWindow();
  });

  test('a copy that is cancelled, or too large, starts nothing and leaves nothing', async t => {
    const cancelled = AbortSignal.abort();
    let total = 0;
    const files = Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`f/${n}`, '']));
    const world = await opened(t, files, {
      progress: (count, copy) => {
        total = count;
        return copy(cancelled, () => undefined);
      },
    });
    const agent = world.start('/bin/touch', [world.at('touched')]);
    assert.equal(await agent.ended, 125);
    assert.match(agent.output, /redline-run: Copying the workspace was cancelled\. Nothing was started\./);
    assert.ok(total > 1_100);
    const large = await opened(t, FILES, {
      limits: () => ({ files: 200, bytes: 1e9, worker: FREEZE_WORKER }),
    });
    large.write(MANY);
    const second = large.start('/bin/touch', [large.at('touched')]);
    assert.equal(await second.ended, 125);
    assert.match(second.output, /The workspace is larger than .* Nothing was started\./);
    for (const each of [world, large]) {
      assert.equal(each.read('touched'), undefined);
      assert.deepEqual(fs.readdirSync(each.storage), []);
    }
  });
});
