import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test, type TestContext } from 'node:test';
import { inWorker } from '../../../../src/agent/base/inWorker.ts';
import { AgentView } from '../../../../src/agent/sandbox/agentView/agentView.ts';
import { freezeFolder } from '../../../../src/agent/sandbox/agentView/frozenFolder.ts';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { Namespace } from '../../../../src/agent/sandbox/view/namespace.ts';
import { removeTree } from '../../../../src/agent/sandbox/view/entries.ts';
import type { FileContent, FolderRoot } from '../../../../src/agent/hold/preview/workspace.ts';
import { FREEZE_WORKER } from '../../../support/freezeWorker.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const LIMITS = { bytes: 1e9, files: 1_000, worker: FREEZE_WORKER };

/**
 * Folders of a workspace, and a view of them in which a command has ended.
 * @param rules what a repository that the folders are in ignores; by default they are in none
 */
async function ran(
  t: TestContext,
  names: Readonly<Record<string, string>>,
  command: string,
  rules?: string,
): Promise<AgentView> {
  const temp = await TempFolder.create();
  if (rules !== undefined) {
    execFileSync('git', ['init', '-q'], { cwd: temp.root });
    await temp.file('.gitignore', rules);
  }
  const folders: FolderRoot[] = [];
  for (const [name, at] of Object.entries(names)) {
    await temp.file(`${at}/a.txt`, name);
    folders.push({ name, fsPath: temp.at(at) });
  }
  const view = await AgentView.create(folders, temp.at('storage', 'view'), LIMITS);
  const { storage, folders: mounted, links } = view.mounts;
  const cwd = temp.at('w');
  const namespace = new Namespace({
    storage,
    folders: mounted,
    links: new Map(links),
    deleted: [],
    cwd,
    program: ['/bin/sh', '-c', command],
    environment: { PATH: '/usr/bin:/bin' },
    searchPath: '',
  });
  let output = '';
  namespace.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  t.after(async () => {
    await namespace.release();
    await removeTree(temp.root);
  });
  const { view: root } = await namespace.ended;
  assert.equal(await view.enter(root ?? assert.fail(output)), true);
  return view;
}

const temp = await TempFolder.create();
const obstacle = await whyNoOverlay([], temp.root);
await temp.remove();

if (!obstacle)
  test('what may not be looked at in the view is left out, and the rest is taken', async t => {
    const folders = { one: 'w/one', inner: 'w/one/inner' };
    const view = await ran(t, folders, 'echo new > one/b.txt; chmod 000 one/inner');
    const { effects, leftOut } = await view.collect();
    assert.deepEqual(
      effects.map(({ path }) => path),
      ['one/b.txt'],
    );
    // Root may look everywhere.
    assert.deepEqual(
      leftOut.map(({ why }) => why),
      process.getuid?.() === 0 ? [] : ['unreadable'],
    );
  });

if (!obstacle)
  test('what is written in a folder that the repository above it ignores is taken', async t => {
    const command = 'mkdir -p w/src w/node_modules; echo new | tee w/src/b.ts w/node_modules/c.js';
    const view = await ran(t, { w: 'w' }, `cd ..; ${command}`, '*\n');
    const { effects } = await view.collect();
    assert.deepEqual(
      effects.map(({ path }) => path),
      ['src/b.ts'],
    );
  });

if (!obstacle)
  test('in several folders, also one in another, each file is named by its innermost folder, and gets what is decided', async t => {
    const folders = { one: 'w/one', inner: 'w/one/inner', two: 'w/two' };
    const view = await ran(t, folders, 'for at in one one/inner two; do echo new > $at/b.txt; done');
    const { effects, accept } = await view.collect();
    assert.deepEqual(effects.map(({ path }) => path).sort(), ['inner/b.txt', 'one/b.txt', 'two/b.txt']);
    await accept(async () => undefined);
    assert.equal(await view.put('inner/b.txt', Buffer.from('decided')), true);
    assert.equal(await view.put('two/b.txt', null), true);
    assert.deepEqual((await view.collect()).effects, [], 'what was decided is no change of the agent');
  });

if (!obstacle)
  test('a file that the agent has changed since is not overwritten; what is no view is not entered', async t => {
    const view = await ran(t, { w: 'w' }, 'echo one > a.txt; echo b > b.txt');
    await (await view.collect()).accept(async () => undefined);
    assert.equal(await (await AgentView.reopen(view.storage)).enter('/'), false);
    fs.writeFileSync(`${view.storage}/0/upper/a.txt`, 'two');
    assert.equal(await view.put('a.txt', Buffer.from('decided')), false);
    assert.equal(await view.put('b.txt', Buffer.from('decided')), true);
    const { effects } = await view.collect();
    assert.deepEqual(
      effects.map(({ path, base, theirs }) => [
        path,
        String(base instanceof Uint8Array && Buffer.from(base)),
        theirs instanceof Uint8Array && Buffer.from(theirs).toString(),
      ]),
      [['a.txt', String(Buffer.from('one\n')), 'two']],
    );
  });

if (!obstacle)
  for (const [what, decided] of [
    ['a decided text', 'decided'],
    ['the text that is there already', 'one\n'],
    ['a deletion', null],
  ] as const)
    test(`${what} overwrites nothing that the agent writes at any moment before`, async t => {
      const view = await ran(t, { w: 'w' }, 'echo one > a.txt');
      const file = `${view.storage}/0/upper/a.txt`;
      let isPut = false;
      for (let calls = 1; !isPut; calls++) {
        fs.writeFileSync(file, 'one\n');
        await (await view.collect()).accept(async () => undefined);
        let hasWritten = false;
        const write = (): void => {
          fs.writeFileSync(file, 'two\n');
          hasWritten = true;
        };
        isPut = await beforeCall(calls, write, () => view.put('a.txt', decided && Buffer.from(decided)));
        assert.notEqual(isPut, hasWritten, `before call ${calls}`);
        if (hasWritten) assert.equal(fs.readFileSync(file, 'utf8'), 'two\n', `before call ${calls}`);
      }
    });

/** A view that is a copy of a workspace with two files, and the path of `a.txt` in it. */
async function copied(t: TestContext): Promise<readonly [view: AgentView, file: string]> {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  for (const name of ['a.txt', 'b.txt']) await temp.file(`w/${name}`, 'zero\n');
  const { signal } = new AbortController();
  const copying = { progress: () => assert.fail('it is small'), signal };
  const folders = [{ name: 'w', fsPath: temp.at('w') }];
  const view = await AgentView.create(folders, temp.at('views', 'view'), LIMITS, copying);
  return [view, `${view.written}/w/a.txt`];
}

test('a file that is touched, but not changed, gets what is decided', async t => {
  const [view, file] = await copied(t);
  for (let [calls, isTouched] = [1, true]; isTouched; calls++) {
    fs.writeFileSync(file, 'one\n');
    await (await view.collect()).accept(async () => undefined);
    isTouched = false;
    const touch = (): void => {
      fs.utimesSync(file, calls, calls);
      isTouched = true;
    };
    assert.equal(await beforeCall(calls, touch, () => view.put('a.txt', Buffer.from('decided'))), true);
    assert.equal(fs.readFileSync(file, 'utf8'), 'decided', `before call ${calls}`);
  }
});

for (const [what, change, next] of [
  ['emptied', fs.truncateSync, ''],
  ['removed', fs.rmSync, null],
] as const)
  test(`a file that is ${what} while it is read is left for later`, async t => {
    const [view, file] = await copied(t);
    const seen = async (): Promise<unknown> => {
      const { effects, busy } = await view.collect();
      const [theirs] = effects.map(each => each.theirs && textOf(each.theirs));
      return busy.length > 0 ? 'busy' : theirs;
    };
    for (let [calls, isChanged] = [1, true]; isChanged; calls++) {
      fs.writeFileSync(file, 'one\n');
      isChanged = false;
      const act = (): void => {
        change(file);
        isChanged = true;
      };
      const first = await beforeCall(calls, act, seen);
      assert.ok(calls === 1 ? first === next : first === 'busy' || first === 'one\n', `before call ${calls}`);
      assert.equal(await seen(), isChanged ? next : 'one\n');
    }
  });

test('a file that cannot be read keeps nothing else from being taken', async t => {
  const [view, file] = await copied(t);
  for (let [calls, isFailed] = [1, true]; isFailed; calls++) {
    for (const each of [file, file.replace('a.txt', 'b.txt')]) fs.writeFileSync(each, `${calls}\n`);
    isFailed = false;
    const fail = (): void => {
      isFailed = true;
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    };
    const { effects, accept } = await beforeCall(calls, fail, () => view.collect());
    assert.equal(effects.at(-1)?.path, 'b.txt', `before call ${calls}`);
    await accept(async () => undefined);
  }
});

function textOf(content: FileContent): string {
  return 'link' in content ? content.link : Buffer.from(content).toString();
}

/** Acts before the nth time that `work` looks at `a.txt` or opens a draft. */
async function beforeCall<T>(count: number, act: () => void, work: () => Promise<T>): Promise<T> {
  const { lstat, open } = fs.promises;
  let left = count;
  const before =
    (call: (...args: never[]) => unknown) =>
    (...args: unknown[]): unknown => {
      if (/\/(?:a\.txt|\.redline-[^/]*)$/.test(String(args[0])) && --left === 0) act();
      return call(...(args as never[]));
    };
  Object.assign(fs.promises, { lstat: before(lstat), open: before(open) });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs.promises, { lstat, open });
    syncBuiltinESMExports();
  }
}

test('more than is allowed is not copied, and nothing is left', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  for (const name of ['a', 'b', 'c']) await folder.file(`w/${name}`, name);
  const create = (limits: typeof LIMITS): Promise<AgentView> =>
    AgentView.create([{ name: 'w', fsPath: folder.at('w') }], folder.at('view'), limits);
  await assert.rejects(create({ ...LIMITS, files: 2 }), { name: 'TooLargeError' });
  await assert.rejects(create({ ...LIMITS, bytes: 2 }), { name: 'TooLargeError' });
  assert.equal(fs.existsSync(folder.at('view')), false);
});

test('a file that is too large is not written first', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  await folder.file('w/huge.bin');
  fs.truncateSync(folder.at('w/huge.bin'), 1024 ** 3);
  await assert.rejects(freezeFolder(folder.at('w'), folder.at('copy'), { ...LIMITS, bytes: 1024 ** 2 }), {
    name: 'TooLargeError',
  });
  assert.deepEqual(fs.readdirSync(folder.at('copy')), []);
});

if (process.platform === 'linux')
  test('what has a name that is not UTF-8 is left out and named, and what vanishes meanwhile is not there', async t => {
    const folder = await TempFolder.create();
    t.after(() => folder.remove());
    for (const name of ['a.txt', 'deep/b.txt', 'deep/gone.txt', 'node_modules/c.js'])
      await folder.file(`w/${name}`);
    const odd = (below: string): Buffer =>
      Buffer.concat([Buffer.from(folder.at('w', below, 'bad')), Buffer.of(0xff)]);
    await folder.file('w/.git/refs/heads/main');
    for (const below of ['', 'node_modules', '.git/refs/heads']) fs.writeFileSync(odd(below), '');
    fs.mkdirSync(odd('deep'));
    // Git is asked between the listing and the copying.
    const PATH = process.env.PATH ?? '';
    const git = await folder.file('bin/git', `#!/bin/sh\nrm '${folder.at('w/deep/gone.txt')}'\nexit 1\n`);
    fs.chmodSync(git, 0o755);
    process.env.PATH = `${folder.at('bin')}:${PATH}`;
    t.after(() => (process.env.PATH = PATH));
    const { unreadable } = await freezeFolder(folder.at('w'), folder.at('copy'), LIMITS);
    assert.equal(fs.existsSync(folder.at('w/deep/gone.txt')), false);
    assert.deepEqual([...unreadable].sort(), ['bad\ufffd', 'deep/bad\ufffd', 'node_modules/bad\ufffd']);
    const copied = fs.readdirSync(folder.at('copy'), { recursive: true, encoding: 'utf8' });
    const own = copied.filter(at => !at.startsWith('.git')).sort();
    assert.deepEqual(own, ['a.txt', 'deep', 'deep/b.txt', 'node_modules', 'node_modules/c.js']);
    assert.deepEqual(fs.readdirSync(folder.at('copy/.git/refs/heads')), ['main']);
  });

test('a file that cannot be copied, though it is there, is told', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  for (const name of ['w/a.txt', 'w/deep/b.txt']) await folder.file(name);
  const to = await folder.folder('copy');
  const order = { from: folder.at('w'), to, files: ['deep/b.txt', 'gone.txt', 'a.txt'], bytes: 1e9 };
  const copied = await inWorker(FREEZE_WORKER, order, { timeLimitMs: 60_000 });
  assert.deepEqual(copied, { unreadable: ['deep/b.txt'], bytes: 0 });
  assert.deepEqual(fs.readdirSync(to), ['a.txt']);
});

if (process.platform === 'linux')
  test('what a pipe or a link takes the place of meanwhile is neither waited for nor followed', async t => {
    const folder = await TempFolder.create();
    t.after(() => folder.remove());
    for (const name of ['w/pipe', 'w/folder/it', 'w/.git/config', 'w/more/.git/config'])
      await folder.file(name);
    for (const name of ['outside/it', 'outside/config', 'outside/.git/config'])
      await folder.file(name, 'SECRET');
    // Git is asked between the listing and the copying.
    const PATH = process.env.PATH ?? '';
    const swap = [
      `cd '${folder.at('w')}'; [ ! -L folder ] || exit 1; rm -r pipe folder .git; mkfifo pipe`,
      `for each in folder .git; do ln -s '${folder.at('outside')}' $each; done; exit 1`,
    ];
    const git = await folder.file('bin/git', `#!/bin/sh\n${swap.join('\n')}\n`);
    fs.chmodSync(git, 0o755);
    process.env.PATH = `${folder.at('bin')}:${PATH}`;
    t.after(() => (process.env.PATH = PATH));
    await freezeFolder(folder.at('w'), folder.at('copy'), LIMITS);
    const copied = fs.readdirSync(folder.at('copy'), { recursive: true, encoding: 'utf8' });
    const files = copied.filter(at => fs.lstatSync(folder.at('copy', at)).isFile());
    const own = ['.git/info/exclude', '.git/objects/info/alternates'];
    assert.deepEqual(files.sort(), [...own, 'more/.git/config', ...own.map(each => `more/${each}`)]);
  });

if (process.platform === 'linux')
  test('a large folder that git ignores is shown as it is, also what has an odd name', async t => {
    const folder = await TempFolder.create();
    t.after(() => folder.remove());
    const below = folder.at('w/node_modules');
    for (let n = 0; n < 250; n++) await folder.file(`w/node_modules/more/${n}.js`);
    fs.writeFileSync(Buffer.concat([Buffer.from(`${below}/bad`), Buffer.of(0xff)]), '');
    const { ignored, unreadable, foreign } = await freezeFolder(folder.at('w'), folder.at('copy'), LIMITS);
    assert.deepEqual(
      { ignored, unreadable, foreign },
      { ignored: ['node_modules'], unreadable: [], foreign: [] },
    );
  });
