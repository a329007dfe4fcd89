import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as path from 'node:path';
import type { Duplex } from 'node:stream';
import { suite, test, type TestContext } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { acceptAgent, proveWindow } from '../../../../src/agent/clients/mcp/proof.ts';
import { announceWindow, openWindows, windowsFolder } from '../../../../src/agent/clients/windowFiles.ts';
import { viewPace } from '../../../../src/agent/clients/view/liveView.ts';
import {
  Lines,
  programSchema,
  windowSchema,
  type ProgramMessage,
  type WindowMessage,
} from '../../../../src/agent/clients/view/viewLines.ts';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { rounds } from '../../../support/rounds.ts';
import { FREEZE_WORKER } from '../../../support/freezeWorker.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { ViewWorld, type ShellAgent } from '../../../support/viewWorld.ts';

const FILES = { 'src/a.ts': 'one\ntwo\nthree\nfour\nfive\nsix\n', 'src/b.ts': 'b\n', 'run.sh': 'echo\n' };

type Address = Parameters<typeof acceptAgent>[2];
type Upgrade = (request: http.IncomingMessage, socket: Duplex, address: Address) => unknown;

/** Starts a program with `redline-run` while a window says that it has the folder open, and answers in its own way. */
async function withWindow(
  world: ViewWorld,
  upgrade: Upgrade,
  check: (agent: ShellAgent) => Promise<void>,
): Promise<void> {
  const server = http.createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = { port: (server.address() as AddressInfo).port, token: 'a token of a window' };
  const sockets = new Set<Duplex>();
  server.on('upgrade', (request, socket) => {
    sockets.add(socket.on('error', () => undefined));
    void upgrade(request, socket, address);
  });
  const withdraw = await announceWindow(windowsFolder(world.temp.at('home')), {
    ...address,
    pid: process.pid,
    folders: [world.root],
    keepsPreviews: true,
    startedAt: new Date().toISOString(),
  });
  try {
    await check(world.start('/bin/touch', [world.at('touched')]));
  } finally {
    await withdraw();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

/** Whether this machine can mount views at all; where it cannot, that nothing is started is shown instead. */
const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

async function opened(t: TestContext, ...given: Parameters<typeof ViewWorld.create>): Promise<ViewWorld> {
  const world = await ViewWorld.create(...given);
  t.after(() => world.remove());
  return world;
}

/** What holds where views can be mounted. */
const inViews = (): void => {
  test('what any program writes becomes one change set once it rests; the disk is as it was', async t => {
    const world = await opened(t, FILES, { pace: viewPace });
    const agent = world.start();
    assert.equal(
      await agent.run(
        `pwd; sed -i s/two/TWO/ src/a.ts; node -e 'fs.writeFileSync("new.ts", "new")'; rm src/b.ts`,
      ),
      world.root,
    );
    assert.deepEqual(await world.previews(1), [
      'sh: new.ts: ∅ => new; src/a.ts: one\ntwo\nthree\nfour\nfive\nsix => one\nTWO\nthree\nfour\nfive\nsix; src/b.ts: b => ∅',
    ]);
    assert.equal(world.git('status', '--porcelain'), '');
    assert.equal(await agent.exit(3), 3);
    assert.match(agent.output, /1 preview waits for you in VS Code\./);
    await polled('the view to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  test('it edits, reads its own edit, edits again, a hunk is refused with a reason, and it hears of that', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('sed -i "s/one/ONE/; s/six/SIX/" src/a.ts');
    await world.previews(1);
    assert.match(await agent.run('cat src/a.ts'), /^ONE\n/);
    await agent.run('sed -i s/two/TWO/ src/a.ts; sh -c "test $(grep -c TWO src/a.ts) = 1"');
    const [, second] = await world.previews(2);
    assert.equal(
      second,
      'sh: src/a.ts: ONE\ntwo\nthree\nfour\nfive\nSIX => ONE\nTWO\nthree\nfour\nfive\nSIX',
    );
    assert.deepEqual(world.preview('p2').dependsOn, ['p1']);
    await world.voteOnHunk('p1', 'discard', ['src/a.ts', 1], 'Six stays small.');
    await world.rest();
    assert.equal(await agent.run('cat src/a.ts'), 'ONE\nTWO\nthree\nfour\nfive\nsix');
    const told = await agent.run('cat REDLINE.md');
    assert.match(told, /^- src\/a\.ts: waits for the user\.$/m);
    assert.match(told, /^- A part of src\/a\.ts: refused\. Reason: Six stays small\.$/m);
    assert.doesNotMatch(told, /\bp\d|revision|view-/, 'it names files, as a person does');
    assert.equal(world.read('src/a.ts'), FILES['src/a.ts'], 'nothing was applied yet');
    await world.vote('p1', 'apply');
    await world.vote('p2', 'apply');
    assert.equal(world.read('src/a.ts'), 'ONE\nTWO\nthree\nfour\nfive\nsix\n');
    await agent.run('echo later > later.ts');
    await world.previews(4);
    await agent.exit();
    const sets = world.store.all().map(({ id, origin }) => ({ id, set: origin?.setId }));
    const [first] = sets;
    assert.deepEqual(
      sets.map(({ set }) => set === first?.set),
      [true, true, true, false],
      'p1, its refused part and p2 are one change set; what comes after its end is another',
    );
    assert.ok(sets.every(({ set }) => set !== undefined));
  });

  test('a terminal of the window reaches it by a socket that nobody else can, also after a reload', async t => {
    const world = await opened(t, FILES);
    const terminal = await world.terminal();
    const [, file = ''] = terminal;
    const { socket } = JSON.parse(fs.readFileSync(file, 'utf8')) as { socket: string };
    assert.equal(fs.statSync(path.dirname(socket)).mode & 0o777, 0o700);
    const agent = world.start('/bin/sh', [], {}, terminal);
    await agent.run('echo A > src/b.ts');
    await world.previews(1);
    await world.closeWindow();
    assert.equal(fs.existsSync(path.dirname(socket)), false);
    await agent.run('echo late > late.ts');
    assert.equal(await world.openWindow(), true);
    assert.deepEqual((await world.previews(2)).slice(1), ['sh: late.ts: ∅ => late']);
    assert.equal(await agent.exit(), 0);
    await polled('the view to be gone', () => fs.readdirSync(world.storage).join() === path.basename(file));
    await world.closeWindow();
    await world.openWindow();
    assert.deepEqual(fs.readdirSync(world.storage), [], 'nobody needs the file any more');
  });

  test('the file in which the agent reads of decisions is there before it has written anything', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('until test -e REDLINE.md; do sleep 0.05; done');
    assert.match(await agent.run('cat REDLINE.md'), /You work in a view of the workspace/);
    await agent.exit();
  });

  test('a log that git ignores, and a file that is written all the time, hold up no other file and no answer', async t => {
    const world = await opened(t, FILES, { pace: { ...viewPace, restMs: 1_000, longestMs: 2_000 } });
    const agent = world.start();
    await agent.run('while sleep 0.1; do date >> app.log; date >> src/noisy.ts; done &');
    await agent.run('sed -i s/two/TWO/ src/a.ts');
    const [first] = await world.previews(1);
    assert.match(first ?? '', /^sh: src\/a\.ts: /);
    assert.doesNotMatch(first ?? '', /noisy|app\.log/);
    await world.vote('p1', 'discard', 'Two stays small.');
    await agent.run("until grep -q 'Two stays small' REDLINE.md; do sleep 0.1; done");
    assert.match(await agent.run('cat REDLINE.md'), /still being written: src\/noisy\.ts\./);
    assert.match(await agent.run('until grep -q two src/a.ts; do sleep 0.1; done; cat src/a.ts'), /two/);
    await agent.exit();
  });

  test('a REDLINE.md of the user stays theirs; decisions are in one beside it, which only the agent has', async t => {
    const world = await opened(t, { ...FILES, 'REDLINE.md': 'mine\n' });
    const agent = world.start();
    await agent.run('echo B > src/b.ts');
    await world.previews(1);
    await world.vote('p1', 'discard', 'Not this.');
    await world.rest();
    assert.equal(await agent.run('cat REDLINE.md; git status --porcelain'), 'mine');
    assert.match(await agent.run('cat ~/REDLINE.md'), /refused\. Reason: Not this\./);
    await agent.run('echo more >> REDLINE.md');
    assert.equal((await world.previews(2))[1], 'sh: REDLINE.md: mine => mine\nmore');
    await agent.exit();
    assert.equal(world.git('status', '--porcelain'), '');
    assert.deepEqual(fs.readdirSync(world.temp.at('home')), ['.redline']);
  });

  test('agent and person are told where the decisions are, also if a REDLINE.md is the user’s', async t => {
    for (const [files, place] of [
      [FILES, 'REDLINE.md'],
      [{ ...FILES, 'REDLINE.md': 'mine' }, '~/REDLINE.md'],
    ] as const) {
      const world = await opened(t, files);
      const agent = world.start(world.toldProgram());
      const told = await agent.toldFile();
      await world.rest();
      assert.match(await agent.run(`cat '${told}'`), /^# What became of your changes/);
      assert.ok(agent.output.includes(`Your decisions are in ${place}.`), agent.output);
      await agent.exit();
    }
  });

  test('what is applied, discarded, edited and deleted meanwhile is what it then sees', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('echo new > new.ts; sed -i s/b/B/ src/b.ts');
    await world.previews(1);
    await agent.run('rm src/a.ts');
    await world.previews(2);
    await world.vote('p1', 'discard');
    await world.vote('p2', 'discard', 'It is needed.');
    const seen = 'ls new.ts; cat src/a.ts src/b.ts';
    await world.rest();
    assert.match(await agent.run(seen), /six\nb$/);
    assert.match(await agent.run(seen), /^ls: cannot access 'new\.ts'/);
    await agent.exit();
    assert.equal(world.store.all().length, 2);
  });

  test('a folder in the place of a file or a link, and a file in that of a folder, are undone in the view when they are discarded', async t => {
    const world = await opened(t, { ...FILES, config: 'old\n', 'dir/x': 'x\n' });
    fs.symlinkSync('src', world.at('lib'));
    const agent = world.start();
    const swap =
      'rm -r config lib dir; mkdir config lib; echo new > config/x; echo l > lib/a.ts; echo f > dir';
    await agent.run(swap);
    await world.previews(1);
    await world.vote('p1', 'discard');
    await world.rest();
    assert.equal(await agent.run('cat config dir/x; readlink lib; cat lib/b.ts'), 'old\nx\nsrc\nb');
    await agent.run(swap);
    await world.previews(2);
    await world.vote('p2', 'apply');
    await world.rest();
    const applied = 'new\nl\nf';
    assert.equal(await agent.run('cat config/x lib/a.ts dir'), applied);
    await agent.exit();
    assert.equal(world.store.all().length, 2);
    assert.equal(['config/x', 'lib/a.ts', 'dir'].map(each => world.read(each)).join(''), `${applied}\n`);
  });

  test('ignored files stay in the view, dependencies can be used and written there, and git works on a repository of its own', async t => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`node_modules/m/${n}.js`, `${n}`]),
    );
    const world = await opened(t, FILES);
    world.write({ ...many, '.env.log': 'SECRET=1', 'out/small.js': 'old' });
    const agent = world.start();
    assert.equal(await agent.run('cat node_modules/m/7.js; cat .env.log out/small.js'), '7SECRET=1old');
    await agent.run(
      'echo x > node_modules/m/7.js; echo y > node_modules/new; rm -r out; mkdir -p dist.log; echo z > dist.log/z',
    );
    assert.equal(await agent.run('cat node_modules/m/7.js'), 'x');
    await agent.run(
      'echo c > src/c.ts; git -c user.name=A -c user.email=a@b add . && git -c user.name=A -c user.email=a@b commit -qm inside',
    );
    assert.equal(await agent.run('git log --oneline | wc -l; git status --porcelain'), '2');
    assert.deepEqual(await world.previews(1), ['sh: src/c.ts: ∅ => c']);
    await agent.exit();
    assert.match(agent.output, /1 commit was not taken/);
    assert.equal(world.read('node_modules/m/7.js'), '7');
    assert.equal(world.read('out/small.js'), 'old');
    assert.equal(world.git('log', '--oneline').trim().split('\n').length, 1);
    assert.equal(world.git('fsck', '--unreachable').trim(), '');
  });

  test('removing .git in the view, and switching the branch outside of it, lose nothing', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('rm -rf .git; echo A >> src/a.ts');
    await world.previews(1);
    world.git('checkout', '-qb', 'other');
    await world.userWrites({ 'src/a.ts': `zero\n${FILES['src/a.ts']}`, 'src/b.ts': 'other\n' });
    world.git('commit', '-qam', 'other');
    await agent.run('sed -i s/b/mine/ src/b.ts; echo late > late.ts');
    const [first, ...rest] = await world.previews(3);
    assert.equal(
      first,
      'sh: src/a.ts: zero\none\ntwo\nthree\nfour\nfive\nsix => zero\none\ntwo\nthree\nfour\nfive\nsix\nA',
    );
    assert.equal(rest[0], 'sh: late.ts: ∅ => late');
    assert.match(rest[1] ?? '', /src\/b\.ts: other => <<<<<<< .*other.*mine.*>>>>>>>/s);
    assert.match(await agent.run('cat REDLINE.md'), /You have removed \.git/);
    assert.equal(await agent.run('cat src/a.ts'), `zero\n${FILES['src/a.ts']}A`);
    await agent.exit();
    assert.equal(world.git('status', '--porcelain'), '');
  });

  test('two agents in two views on one file: the one that is applied first wins, and the other sees it', async t => {
    const world = await opened(t, FILES);
    const [one, two] = [world.start(), world.start()];
    await one.run('sed -i s/one/ONE/ src/a.ts');
    await world.previews(1);
    await two.run('sed -i s/six/SIX/ src/a.ts');
    await world.previews(2);
    assert.notEqual(world.preview('p1').origin?.sessionId, world.preview('p2').origin?.sessionId);
    assert.match(await one.run('cat src/a.ts'), /six$/);
    await world.vote('p1', 'apply');
    await world.rest();
    assert.match(await two.run('cat src/a.ts'), /^ONE/);
    await world.vote('p2', 'apply');
    assert.equal(world.read('src/a.ts'), 'ONE\ntwo\nthree\nfour\nfive\nSIX\n');
    // The same line: the second proposal waits, stale, until it is decided.
    await one.run('sed -i s/three/3/ src/a.ts');
    await world.previews(3);
    await two.run('sed -i s/three/THREE/ src/a.ts');
    await world.previews(4);
    await world.vote('p3', 'apply');
    await world.rest();
    const { state } = world.preview('p4');
    assert.ok(state.kind === 'pending' && state.stale.length === 1, JSON.stringify(state));
    assert.match(await two.run('cat src/a.ts'), /THREE/);
    assert.match(await two.run('cat REDLINE.md'), /but src\/a\.ts changed since/);
    await world.vote('p4', 'discard');
    await world.rest();
    assert.equal(await two.run('cat src/a.ts'), 'ONE\ntwo\n3\nfour\nfive\nSIX');
    await Promise.all([one.exit(), two.exit()]);
    assert.equal(world.store.all().length, 4);
  });

  test('nothing but the workspace, /tmp and the settings of the agent can be written; its sockets and secrets cannot be seen', async t => {
    const world = await opened(t, FILES);
    const home = world.temp.at('home');
    fs.mkdirSync(`${home}/.claude`);
    fs.mkdirSync(`${home}/.ssh`);
    fs.writeFileSync(`${home}/.ssh/key`, 'SECRET');
    fs.writeFileSync(`${home}/.gitconfig`, '[user]\n\tname = Me\n');
    const agent = world.start();
    assert.equal(
      await agent.run('git config user.name; cat ~/.ssh/key; ls ~/.redline'),
      [
        'Me',
        `cat: ${home}/.ssh/key: No such file or directory`,
        `ls: cannot access '${home}/.redline': No such file or directory`,
      ].join('\n'),
    );
    await agent.run(
      `echo x > ~/.claude/session; echo x > ~/file; echo x >> ~/.gitconfig; echo x > ${world.temp.at('outside')}; echo x > /tmp/x; echo x > /etc/x`,
    );
    assert.deepEqual(fs.readdirSync(home).sort(), ['.claude', '.gitconfig', '.redline', '.ssh']);
    assert.equal(fs.readFileSync(`${home}/.claude/session`, 'utf8'), 'x\n');
    assert.equal(fs.readFileSync(`${home}/.gitconfig`, 'utf8'), '[user]\n\tname = Me\n');
    assert.equal(fs.existsSync(world.temp.at('outside')), false);
    assert.match(await agent.run('ls /run'), /No such file/);
    // TIOCSTI types into a terminal. What is no terminal is told so, unless the call itself is refused.
    const type = `perl -e 'ioctl(STDIN, 0x5412, my $key = "x") or print $!'`;
    assert.equal(await agent.run(type), 'Operation not permitted');
    await agent.exit();
  });

  test('tools and caches of the home folder can be read, files with credentials only where the user names them', async t => {
    const home = { at: '' };
    const named = ['.m2/settings.xml', '.cargo/credentials.toml'];
    const readable = (): readonly string[] => named.map(each => path.join(home.at, each));
    const world = await opened(t, FILES, { readable });
    home.at = world.temp.at('home');
    const tools = {
      '.cargo/bin/cargo': '#!/bin/sh\necho cargo runs\n',
      '.cargo/registry/crate': 'crate\n',
      'go/bin/go': '#!/bin/sh\necho go runs\n',
      'go/pkg/mod/one/go.mod': 'module\n',
      'jdk/java': '#!/bin/sh\necho java runs\n',
      '.m2/repository/one.pom': 'pom\n',
      '.dotnet/dotnet': '#!/bin/sh\necho dotnet runs\n',
      '.cargo/bin/uv': '#!/bin/sh\ncd ~/.cache/uv && echo new >.lock && cat one\n',
      '.cache/uv/one': 'uv runs\n',
    };
    const secrets = [
      '.npmrc',
      '.netrc',
      '.cargo/credentials',
      '.m2/settings-security.xml',
      '.aws/credentials',
    ];
    const inTools = ['.dotnet/corefx/key', 'go/pkg/mod/cache/vcs/config', '.nvm/versions/node/v1/etc/npmrc'];
    for (const [name, text] of Object.entries({
      ...tools,
      ...Object.fromEntries([...secrets, ...inTools, ...named].map(each => [each, 'SECRET\n'])),
    })) {
      fs.mkdirSync(path.dirname(path.join(home.at, name)), { recursive: true });
      fs.writeFileSync(path.join(home.at, name), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
    }
    const PATH = process.env['PATH'] ?? '';
    const onPath = ['.cargo/bin', 'go/bin', 'jdk', '.dotnet'].map(each => path.join(home.at, each));
    process.env['PATH'] = [...onPath, PATH].join(':');
    t.after(() => (process.env['PATH'] = PATH));
    const agent = world.start();
    assert.equal(
      await agent.run(
        'for it in cargo go java dotnet uv; do $it; done; cd; cat .cargo/registry/crate go/pkg/mod/one/go.mod .m2/repository/one.pom',
      ),
      'cargo runs\ngo runs\njava runs\ndotnet runs\nuv runs\ncrate\nmodule\npom',
    );
    const seen = await agent.run('cd; grep -rl SECRET . | sort');
    assert.deepEqual(seen.split('\n'), named.map(each => `./${each}`).sort());
    await agent.exit();
    assert.deepEqual(fs.readdirSync(path.join(home.at, '.cache/uv')), ['one']);
  });

  test('a program whose folder is reached by a link starts, with what it links to beside it', async t => {
    const world = await opened(t);
    const tools = await TempFolder.create();
    t.after(() => tools.remove());
    const bin = tools.at('real', 'node_modules', '.bin');
    fs.mkdirSync(bin, { recursive: true });
    fs.mkdirSync(tools.at('real', 'node_modules', 'tool'));
    fs.writeFileSync(tools.at('real', 'node_modules', 'tool', 'main.sh'), '#!/bin/sh\necho "I am $0"\n', {
      mode: 0o755,
    });
    fs.symlinkSync('../tool/main.sh', path.join(bin, 'tool'));
    fs.symlinkSync('real', tools.at('linked'));
    const agent = world.start(tools.at('linked', 'node_modules', '.bin', 'tool'));
    assert.equal(await agent.ended, 0);
    assert.match(agent.output, /^I am .*\/tool$/m);
  });

  test('links that lead out of the view lead nowhere for the window, whatever is decided', async t => {
    const world = await opened(t, FILES);
    const outside = world.temp.at('outside');
    fs.mkdirSync(outside);
    fs.writeFileSync(`${outside}/b.ts`, 'outside');
    const agent = world.start();
    await agent.run('echo B > src/b.ts');
    await world.previews(1);
    await agent.run(`rm -r src; ln -s '${outside}' src`);
    await world.vote('p1', 'discard');
    await world.previews(2);
    await agent.exit();
    assert.equal(fs.readFileSync(`${outside}/b.ts`, 'utf8'), 'outside');
    assert.deepEqual(fs.readdirSync(outside), ['b.ts']);
  });

  test('thousands of files of an install are no previews where git ignores them; elsewhere they are too much, are kept, and that is said', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    const many = (folder: string, count: number): string =>
      `mkdir -p ${folder}; node -e 'for (let n = 0; n < ${count}; n++) fs.linkSync("run.sh", "${folder}/" + n)'`;
    const number = rounds(20_000, 2_500);
    await agent.run(`${many('node_modules/m', number)}; echo '{}' > package.json`);
    assert.deepEqual(await world.previews(1), ['sh: package.json: ∅ => {}']);
    assert.equal(world.notTaken.length, 0);
    await agent.run(many('many', number));
    await world.rest();
    assert.equal(world.notTaken[0]?.isTooMuch, true);
    assert.match(
      await agent.run('cat REDLINE.md'),
      /You have changed more files than can be reviewed at once/,
    );
    await agent.run('mv many node_modules; echo few > few.ts');
    assert.equal((await world.previews(2))[1], 'sh: few.ts: ∅ => few');
    await agent.run(`${many('many', 2_100)}; chmod 6755 many/7`);
    await agent.exit();
    // The other name of many/7 is a small change beside the bulk.
    assert.equal((await world.previews(3))[2], 'sh: run.sh: echo => echo');
    assert.equal(world.git('status', '--porcelain'), '');
    const kept = /They are kept in (.*)\.$/m.exec(agent.output)?.[1] ?? assert.fail(agent.output);
    assert.equal(fs.readFileSync(`${kept}/0/upper/many/7`, 'utf8'), 'echo\n');
    assert.equal(fs.statSync(`${kept}/0/upper/many/7`).mode & 0o7777, 0o755);
  });

  test('what cannot become a preview is told to the person and to the agent', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('mkfifo pipe; truncate -s 6M large.bin; echo ok > ok.ts');
    assert.deepEqual(await world.previews(1), ['sh: ok.ts: ∅ => ok']);
    const told = (): string[] =>
      world.notTaken.flatMap(({ leftOut }) => leftOut.map(({ path, why }) => `${path} ${why}`));
    assert.deepEqual(told().sort(), ['large.bin tooLarge', 'pipe notAFile']);
    assert.match(await agent.run('cat REDLINE.md'), /Not proposed: large\.bin/);
    await agent.exit();
    assert.match(agent.output, /Not in the previews: .*large\.bin/);
  });

  test('a name says nothing to the terminal in which it is shown', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run(String.raw`mkfifo "$(printf 'x\033]0;evil\007\342\200\256')"; echo ok > ok.ts`);
    await world.previews(1);
    await agent.exit();
    assert.ok(agent.output.includes('Not in the previews: x\\u{1b}]0;evil\\u{7}\\u{202e}'), agent.output);
  });

  test('a file that may not be read here is told, and keeps nothing else from becoming a preview', async t => {
    const read = DiskWorkspace.prototype.read;
    t.mock.method(DiskWorkspace.prototype, 'read', function (this: DiskWorkspace, path: string) {
      const refusal = new Error(`EACCES: permission denied, open '/${path}'`);
      if (path === '.env') throw Object.assign(refusal, { code: 'EACCES', syscall: 'open' });
      return read.call(this, path);
    });
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('echo theirs > .env; echo ok > ok.ts');
    assert.deepEqual(await world.previews(1), ['sh: ok.ts: ∅ => ok']);
    assert.deepEqual(
      world.notTaken.flatMap(({ leftOut }) => leftOut),
      [{ path: '.env', why: 'unreadable', detail: 'EACCES: permission denied' }],
    );
    await agent.exit();
    assert.match(agent.output, /Not in the previews: \.env/);
  });

  test('links, binary files and permission bits become changes, and what is decided on them comes back', async t => {
    const world = await opened(t, FILES);
    fs.writeFileSync(world.at('old.bin'), Buffer.from([0, 1, 2]));
    fs.symlinkSync('run.sh', world.at('old-link'));
    const agent = world.start();
    await agent.run(
      'printf "\\000\\377" > new.bin; printf "\\000\\011" > old.bin; ln -s src new-link; ln -sf src/a.ts old-link; chmod 755 run.sh',
    );
    assert.deepEqual(await world.previews(1), [
      'sh: new-link: ∅ => link to src; new.bin: ∅ => 2 bytes; old-link: link to run.sh => link to src/a.ts; ' +
        'old.bin: 3 bytes => 2 bytes; run.sh: echo => echo',
    ]);
    assert.deepEqual(world.notTaken, []);
    const seen = 'od -An -tx1 old.bin new.bin | tr -d "\\n"; readlink old-link new-link; stat -c %a run.sh';
    const mine = await agent.run(seen);
    assert.equal(mine, '00 09 00 ffsrc/a.ts\nsrc\n755');
    await world.votesOnFiles('p1', {
      apply: ['new.bin', 'old-link', 'run.sh'],
      discard: ['old.bin', 'new-link'],
    });
    assert.deepEqual(fs.readFileSync(world.at('new.bin')), Buffer.from([0, 255]));
    assert.deepEqual(fs.readFileSync(world.at('old.bin')), Buffer.from([0, 1, 2]));
    assert.equal(fs.readlinkSync(world.at('old-link')), 'src/a.ts');
    assert.equal(fs.statSync(world.at('run.sh')).mode & 0o777, 0o755);
    const now = '00 01 02 00 ffsrc/a.ts\n755';
    await world.rest();
    assert.equal(await agent.run(seen), now);
    await agent.run('echo done > done.ts');
    const pending = (): string[] =>
      world.store
        .all()
        .filter(({ state }) => state.kind === 'pending')
        .flatMap(({ changes }) => changes ?? [])
        .map(({ path }) => path);
    await world.rest();
    assert.deepEqual(pending(), ['done.ts'], 'what was decided is no change of the agent');
    await agent.exit();
  });

  test('bits that are refused come back, and nothing is written through a link', async t => {
    const world = await opened(t, FILES);
    const outside = world.temp.at('outside.txt');
    fs.writeFileSync(outside, 'outside');
    const agent = world.start();
    await agent.run(`chmod 755 run.sh; rm src/b.ts; ln -s '${outside}' src/b.ts`);
    await world.previews(1);
    await agent.run('chmod 700 src/a.ts');
    await world.previews(2);
    await world.vote('p1', 'discard', 'No.');
    await world.rest();
    assert.equal(await agent.run('stat -c %a run.sh; cat src/b.ts'), '644\nb');
    assert.equal(await agent.run('stat -c %a src/a.ts'), '700');
    assert.equal(fs.readFileSync(outside, 'utf8'), 'outside');
    await agent.exit();
  });

  test('what the user may not read is not in the view, and that is said', async t => {
    const world = await opened(t, FILES);
    world.write({ 'secret/key': 'key', 'locked.txt': 'locked', 'data.log/x': 'x' });
    for (const name of ['secret', 'locked.txt', 'data.log']) fs.chmodSync(world.at(name), 0);
    const agent = world.start();
    // Root may read everything.
    const isRoot = process.getuid?.() === 0;
    assert.equal(await agent.run('ls -d locked.txt secret/key 2>/dev/null | wc -l'), isRoot ? '2' : '0');
    assert.equal(
      /cannot be read, and are not there: secret, data\.log, locked\.txt$/m.test(agent.output),
      !isRoot,
    );
    await agent.run('echo x > x.ts');
    assert.deepEqual(await world.previews(1), ['sh: x.ts: ∅ => x']);
    await agent.exit();
  });

  test('an agent that is connected here is not left to wonder where its edit tools are', async t => {
    const world = await opened(t, FILES);
    world.write({
      '.mcp.json': '{"mcpServers":{"redline":{"command":"node","args":["/x/redline-mcp.cjs"]}}}',
    });
    fs.mkdirSync(world.temp.at('bin'));
    for (const name of ['claude', 'codex']) {
      const at = world.temp.at('bin', name);
      fs.writeFileSync(at, '#!/bin/sh\n', { mode: 0o755 });
      const agent = world.start(at);
      assert.equal(await agent.ended, 0, agent.output);
      const isTold = agent.output.includes(
        'Claude Code is connected in this workspace, which takes its edit tools away',
      );
      assert.equal(isTold, name === 'claude', agent.output);
    }
  });

  test('guards of the user that are not in the view are named, what the user names can be read, and Claude keeps its settings', async t => {
    const home = { at: '' };
    const world = await opened(t, FILES, { readable: () => [path.join(home.at, 'shown'), home.at] });
    home.at = world.temp.at('home');
    for (const each of ['guards', 'shown', '.claude', '.ssh']) fs.mkdirSync(path.join(home.at, each));
    for (const each of ['guards/no-rm.sh', 'shown/line.sh', '.ssh/key'])
      fs.writeFileSync(path.join(home.at, each), each);
    const hooks = { PreToolUse: [{ hooks: [{ command: 'sh "$HOME/guards/no-rm.sh" --all' }] }] };
    fs.writeFileSync(
      path.join(home.at, '.claude/settings.json'),
      JSON.stringify({ hooks, statusLine: { command: '~/shown/line.sh' }, model: '~/guards' }),
    );
    fs.mkdirSync(world.temp.at('bin'));
    const claude = world.temp.at('bin', 'claude');
    const script =
      'cat ~/shown/line.sh ~/.claude.json; ls ~/guards ~/.ssh; echo \'{"n":1}\' > ~/.claude.json';
    fs.writeFileSync(claude, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const agent = world.start(claude);
    assert.equal(await agent.ended, 0, agent.output);
    assert.match(agent.output, /name what is not there .*: \S*home\/guards\/no-rm\.sh\. The setting/);
    assert.match(agent.output, /^shown\/line\.sh\{\}$/m);
    assert.match(agent.output, /cannot access '\S*guards'[^]*cannot access '\S*\.ssh'/);
    assert.equal(fs.readFileSync(path.join(home.at, '.claude.json'), 'utf8'), '{"n":1}\n');
  });

  test('a new terminal of an agent starts with what its last one left pending, and two know of each other', async t => {
    const world = await opened(t, FILES);
    const first = world.start();
    await first.run('sed -i s/two/TWO/ src/a.ts; echo new > new.ts; rm src/b.ts');
    await world.previews(1);
    await first.exit();
    await polled('the view to be gone', () => fs.readdirSync(world.storage).length === 0);
    await world.closeWindow();
    await world.openWindow();
    const second = world.start();
    await second.run('until test -e REDLINE.md; do sleep 0.05; done');
    assert.equal(
      await second.run('cat src/a.ts new.ts; ls src'),
      'one\nTWO\nthree\nfour\nfive\nsix\nnew\na.ts',
    );
    assert.match(
      second.output,
      /It starts with the pending changes from its last terminal: new\.ts, src\/a\.ts, src\/b\.ts\./,
    );
    assert.match(
      await second.run('cat REDLINE.md'),
      /Pending:\n- new\.ts, src\/a\.ts, src\/b\.ts: waits for the user\.$/m,
    );
    const third = world.start();
    await third.run('until test -e REDLINE.md; do sleep 0.05; done');
    assert.equal(await third.run('ls new.ts 2>&1'), "ls: cannot access 'new.ts': No such file or directory");
    assert.match(
      third.output,
      /In other terminals, sh has pending changes that are not here: new\.ts, src\/a\.ts, /,
    );
    assert.match(
      await third.run('cat REDLINE.md'),
      /Pending in another terminal of yours, .*: new\.ts, src\/a\.ts, /,
    );
    await second.run('sed -i s/six/SIX/ src/a.ts');
    await world.previews(2);
    assert.deepEqual(world.preview('p2').dependsOn, ['p1']);
    await world.vote('p1', 'discard', 'No.');
    await world.rest();
    assert.equal(
      await second.run('cat src/a.ts; ls'),
      'one\ntwo\nthree\nfour\nfive\nSIX\nREDLINE.md\nrun.sh\nsrc',
    );
    await Promise.all([second.exit(), third.exit()]);
    assert.equal(world.store.all().length, 2);
  });

  test('a new terminal of another agent takes over nothing, and knows of nothing', async t => {
    const world = await opened(t, FILES);
    const first = world.start();
    await first.run('sed -i s/two/TWO/ src/a.ts');
    await world.previews(1);
    await first.exit();
    const other = world.start('/bin/bash');
    await other.run('until test -e REDLINE.md; do sleep 0.05; done');
    assert.equal(await other.run('cat src/a.ts'), FILES['src/a.ts'].trim());
    assert.doesNotMatch(other.output, /pending changes/);
    await other.run('sed -i s/six/SIX/ src/a.ts');
    await world.previews(2);
    const [own, theirs] = [world.preview('p1'), world.preview('p2')].map(each => each.origin?.sessionId);
    assert.notEqual(own, theirs);
    await other.exit();
  });

  test('a bulk and a worktree hold up no small change beside them, and are told once, in words, as is a large file', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    const who = '-c user.name=A -c user.email=a@b';
    await agent.run(`git ${who} worktree add -q .claude/worktrees/w1; echo w > .claude/worktrees/w1/new.ts`);
    await agent.run(
      `mkdir -p vendor/lib; node -e 'for (let n = 0; n < 2100; n++) fs.linkSync("run.sh", "vendor/lib/" + n)'; rm src/b.ts`,
    );
    await agent.run('sed -i s/two/TWO/ src/a.ts; echo v > vendor/mine.ts; truncate -s 6M large.bin');
    const small =
      'sh: src/a.ts: one\ntwo\nthree\nfour\nfive\nsix => one\nTWO\nthree\nfour\nfive\nsix; vendor/mine.ts: ∅ => v';
    assert.deepEqual(await world.previews(1), [small]);
    const told = await agent.run('cat REDLINE.md');
    assert.match(told, /Of vendor\/lib, nothing is proposed until there are fewer\./);
    assert.match(told, /Not proposed: \.claude\/worktrees\/w1 \(a worktree, which stays in this view/);
    assert.match(told, /Not proposed: large\.bin \(larger than 5 MB\)\./);
    await agent.run('echo more >> large.bin');
    await world.rest();
    await agent.run('rm -r vendor/lib');
    const [, deleted] = await world.previews(2);
    assert.equal(deleted, 'sh: src/b.ts: b => ∅', 'what is gone may have been moved into the bulk');
    await world.closeWindow();
    await world.openWindow();
    await agent.run('echo last > last.ts');
    await world.previews(3);
    assert.match(await agent.run('cat REDLINE.md'), /Not proposed: \.claude\/worktrees\/w1/);
    assert.deepEqual(
      world.notTaken.flatMap(({ leftOut }) => leftOut.map(({ path, why }) => `${path} ${why}`)).sort(),
      ['.claude/worktrees/w1 worktree', 'large.bin tooLarge'],
    );
    await agent.exit();
    assert.match(agent.output, /Not in the previews: .*\.claude\/worktrees\/w1/);
  });

  test('what git ignores and was written is named at the end, with its files counted, and while the agent works', async t => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`node_modules/m/${n}.js`, '']));
    const world = await opened(t, FILES);
    world.write({ ...many, 'old.log': 'old', 'untouched.log': '' });
    const agent = world.start();
    await agent.run(
      'echo new > old.log; mkdir -p out/x; touch out/x/1 out/2; echo z > node_modules/z; echo ok > ok.ts',
    );
    await world.previews(1);
    assert.match(
      await agent.run('cat REDLINE.md'),
      /Git ignores these, so they stay in this view: .*old\.log/,
    );
    await agent.exit();
    assert.match(
      agent.output,
      /Stayed in the view, since git ignores it: node_modules\/ \(1 file\), old\.log, out\/ \(2 files\)$/m,
    );
    assert.deepEqual(
      world.notTaken
        .at(-1)
        ?.stayed.map(({ path }) => path)
        .sort(),
      ['node_modules/', 'old.log', 'out/'],
    );
    assert.equal(world.read('old.log'), 'old');
  });

  test('small settings that git ignores and that were there before are a preview at the end, marked as secret', async t => {
    const world = await opened(t, { ...FILES, '.gitignore': '.env*\n*.local.*\n*.log\n' });
    const large = 'x'.repeat(70_000);
    world.write({
      '.env': 'A=1\n',
      'web/app.local.json': '{}\n',
      'untouched.local.json': '',
      '.env.big': large,
    });
    world.write({ 'old.log': 'old\n' });
    const agent = world.start();
    await agent.run(
      'for f in .env web/app.local.json new.local.json .env.big old.log src/b.ts; do echo TOKEN=s3cret >> $f; done',
    );
    assert.deepEqual(await world.previews(1), ['sh: src/b.ts: b => b\nTOKEN=s3cret'], 'not while it works');
    await agent.exit();
    assert.deepEqual((await world.previews(2)).slice(1), [
      'sh: .env: A=1 => A=1\nTOKEN=s3cret; web/app.local.json: {} => {}\nTOKEN=s3cret',
    ]);
    const { label, purpose } = world.preview('p2');
    assert.equal(purpose, 'secret');
    assert.equal(
      label,
      'Ignored by git, perhaps secret · .env, app.local.json',
      'no value before it is opened',
    );
    assert.match(agent.output, /since git ignores it: \.env\.big, new\.local\.json, old\.log$/m);
    await world.vote('p2', 'apply');
    assert.equal(world.read('.env'), 'A=1\nTOKEN=s3cret\n');

    const second = world.start();
    await second.run('echo A=2 > .env');
    await world.userWrites({ '.env': 'A=3\n' });
    await second.exit();
    await world.previews(3);
    const last = world.preview('p3');
    assert.deepEqual(
      [last.label, last.purpose],
      ['Ignored by git, perhaps secret · Conflicts with sh · .env', 'secret'],
    );
  });

  test('its own settings are a preview of their own', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run(
      'mkdir -p .qwen .github/hooks my/.claude src/hooks; for at in .qwen/settings.json .github/hooks/redline.json my/.claude/settings.json .mcp.json opencode.json src/hooks/x.json; do echo "{}" > $at; done',
    );
    await world.previews(2);
    assert.deepEqual(
      world.store.all().map(({ title, changes }) => [title, changes?.map(({ path }) => path).join(' ')]),
      [
        ['x.json', 'src/hooks/x.json'],
        [
          'Settings of sh · redline.json, .mcp.json, settings.json, …',
          '.github/hooks/redline.json .mcp.json .qwen/settings.json my/.claude/settings.json opencode.json',
        ],
      ],
    );
    await agent.exit();
  });

  test('a window that is reloaded goes on where it was; what ended meanwhile is taken by the next one', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('echo one >> src/a.ts');
    await world.previews(1);
    await world.closeWindow();
    await agent.run('echo two >> src/a.ts; echo b2 >> src/b.ts');
    assert.equal(await world.openWindow(), true);
    const [, second] = await world.previews(2);
    assert.match(second ?? '', /^sh: src\/a\.ts: .*one => .*one\ntwo; src\/b\.ts: b => b\nb2$/s);
    await world.closeWindow();
    await agent.run('echo three > three.ts');
    assert.equal(await agent.exit(), 0);
    assert.match(agent.output, /VS Code is closed\. Changes become previews/);
    assert.equal(await world.openWindow(), false);
    assert.equal((await world.previews(3))[2], 'sh: three.ts: ∅ => three');
    await polled('the views to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  test('what is decided just before a reload is in the file once the agent hears of it', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('sed -i s/two/TWO/ src/a.ts; echo b2 >> src/b.ts; echo new > new.ts');
    await world.previews(1);
    await agent.run('echo mine > new.ts');
    await world.vote('p1', 'discard', 'No.');
    await world.closeWindow();
    await world.openWindow();
    await agent.run("until grep -q 'refused' REDLINE.md; do sleep 0.05; done");
    assert.equal(
      await agent.run('cat src/a.ts src/b.ts new.ts'),
      'one\ntwo\nthree\nfour\nfive\nsix\nb\nmine',
      'but what the agent has written since stays',
    );
    await world.previews(2);
    assert.equal(await agent.exit(), 0);
  });

  test('after a branch switch and a reload, a view keeps the files of all that was decided before', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    await agent.run('sed -i s/two/TWO/ src/a.ts');
    await world.previews(1);
    await agent.run('echo b2 >> src/b.ts');
    await world.previews(2);
    await world.vote('p1', 'apply');
    await world.vote('p2', 'discard');
    await world.rest();
    const files = await agent.run('cat src/a.ts src/b.ts');
    assert.equal(files, 'one\nTWO\nthree\nfour\nfive\nsix\nb');
    world.git('checkout', '-q', '-b', 'other');
    await world.userWrites({ 'src/a.ts': 'other\n', 'src/b.ts': 'other\n' });
    await world.closeWindow();
    await world.openWindow();
    await world.rest();
    assert.equal(await agent.run('cat src/a.ts src/b.ts'), files);
    // Nor when the store forgets the decisions, and says so.
    await world.store.forgetResolved(new Date());
    assert.equal(world.store.all().length, 0);
    await world.rest();
    assert.equal(await agent.run('cat src/a.ts src/b.ts'), files);
    assert.equal(await agent.exit(), 0);
    assert.equal(world.store.all().length, 0);
  });

  test('a program that is killed, or whose terminal is closed, leaves what it has written', async t => {
    const world = await opened(t, FILES);
    const [killed, closed] = [world.start(), world.start()];
    await killed.run('echo killed > killed.ts');
    killed.kill();
    assert.deepEqual(await world.previews(1), ['sh: killed.ts: ∅ => killed']);
    await closed.run('echo closed > closed.ts; sleep 900 &');
    closed.signal('SIGHUP');
    await closed.ended;
    assert.equal((await world.previews(2))[1], 'sh: closed.ts: ∅ => closed');
    await polled('the views to be gone', () => fs.readdirSync(world.storage).length === 0);
  });

  for (const [what, isTold, isOpen] of [
    ['before the window knew where', false, true],
    ['before the window looked at it', true, true],
    ['while the window closed', false, false],
  ] as const) {
    test(`what a program has written that ended ${what} is taken`, async t => {
      const world = await opened(t, FILES);
      const [window] = await openWindows(windowsFolder(world.temp.at('home')));
      const proven = await proveWindow(window ?? assert.fail(), 'redline-view');
      const lines = new Lines<WindowMessage, ProgramMessage>(
        proven.greet({ id: randomUUID() }),
        windowSchema,
      );
      lines.send({ kind: 'open', agent: 'sh', cwd: world.root });
      const made = await lines.next();
      assert.ok(made?.kind === 'mounts');
      const [{ state } = assert.fail()] = made.folders;
      fs.writeFileSync(path.join(state, 'upper', 'late.ts'), 'late');
      if (!isOpen) await world.closeWindow();
      if (isTold) lines.send({ kind: 'entered', view: '/proc/0/root' });
      lines.close();
      if (!isOpen) await world.openWindow();
      assert.deepEqual(await world.previews(1), ['sh: late.ts: ∅ => late']);
      await polled('the views to be gone', () => fs.readdirSync(world.storage).length === 0);
    });
  }

  test('sandboxes of agents work in it', async t => {
    const world = await opened(t, FILES);
    const agent = world.start();
    // Root is not shown all of /proc, so the kernel lets it mount no other one.
    const proc = process.getuid?.() === 0 ? '' : '--proc /proc';
    const nested = `bwrap --ro-bind / / --dev /dev ${proc} --unshare-user --unshare-pid --unshare-net`;
    assert.equal(
      await agent.run(`${nested} sh -c 'echo nested; echo x > src/a.ts'`),
      `nested\nsh: 1: cannot create src/a.ts: Read-only file system`,
    );
    await agent.exit();
  });
};
if (!obstacle) suite('a view in which an agent works', inViews);

suite('where no view can be made, nothing is started', () => {
  test('the reason is said', async t => {
    const none = await opened(t, FILES, {
      mount: async () => ({ engine: undefined, why: { reason: 'bubblewrap' } }),
      sentenceOf: ({ reason }) => `No ${reason}.`,
    });
    const large = await opened(t, FILES, { limits: () => ({ files: 2, bytes: 1e9, worker: FREEZE_WORKER }) });
    for (const [world, why] of [
      [none, /redline-run: No bubblewrap\. Nothing was started\./],
      [large, /redline-run: The workspace is larger than .* Nothing was started\./],
    ] as const) {
      const agent = world.start('/bin/touch', [world.at('touched')]);
      assert.equal(await agent.ended, 125);
      assert.match(agent.output, why);
      assert.equal(fs.existsSync(world.at('touched')), false);
    }
  });

  test('a window that is older, one that goes away while it makes the view, and one that keeps the program waiting', async t => {
    const world = await opened(t, FILES);
    await world.closeWindow();
    const refuse: Upgrade = (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    await withWindow(world, refuse, async older => {
      assert.equal(await older.ended, 125);
      assert.match(older.output, /no window of VS Code with Redline has .* open.* Nothing was started\./);
    });
    const leave: Upgrade = async (request, socket, address) => {
      await acceptAgent(request, socket, address);
      socket.destroy();
    };
    await withWindow(world, leave, async left => {
      assert.equal(await left.ended, 125);
      assert.match(left.output, /the window has gone\. Nothing was started\./);
    });
    const accepted = Promise.withResolvers<void>();
    const wait: Upgrade = async (...args) => {
      await acceptAgent(...args);
      accepted.resolve();
    };
    await withWindow(world, wait, async slow => {
      await accepted.promise;
      await polled('the word that it takes time', () =>
        /^redline: The view is being made…$/m.test(slow.output),
      );
      slow.signal('SIGTERM');
      await slow.ended;
    });
    assert.equal(fs.existsSync(world.at('touched')), false);
  });

  test('a view that cannot be mounted after all', async t => {
    const world = await opened(t, FILES);
    await world.closeWindow();
    const nowhere: Upgrade = async (request, socket, address) => {
      await acceptAgent(request, socket, address);
      const lines = new Lines<ProgramMessage, WindowMessage>(socket, programSchema);
      assert.equal((await lines.next())?.kind, 'open');
      const folders = [{ root: world.root, state: world.temp.at('nowhere') }];
      const rest = { links: [], shown: [], readable: [], copies: [], wall: [], status: '', searchPath: '' };
      lines.send({ kind: 'mounts', storage: world.temp.at('nowhere'), folders, lines: [], ...rest });
    };
    await withWindow(world, nowhere, async agent => {
      assert.equal(await agent.ended, 125);
      assert.match(agent.output, /The view could not be mounted\. Nothing was started\./);
    });
    assert.equal(fs.existsSync(world.at('touched')), false);
  });

  test('no window, no program, a folder that is not open', async t => {
    const world = await opened(t, FILES);
    await world.closeWindow();
    const alone = world.start('/bin/touch', [world.at('touched')]);
    assert.equal(await alone.ended, 125);
    assert.match(alone.output, /no window of VS Code with Redline has .* open.* Nothing was started\./);
    const missing = world.start('no-such-program');
    assert.equal(await missing.ended, 127);
    assert.match(missing.output, /there is no program no-such-program\. Nothing was started\./);
    assert.equal(fs.existsSync(world.at('touched')), false);
  });
});
