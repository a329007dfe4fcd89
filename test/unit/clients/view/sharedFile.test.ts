/** A file of settings that Claude Code replaces by a rename, in its terminal and outside. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import * as path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { hasCode } from '../../../../src/agent/base/errors.ts';
import { SharedFile } from '../../../../src/agent/clients/run/sharedFile.ts';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { ViewWorld, type ShellAgent } from '../../../support/viewWorld.ts';

/** Whether this machine can mount views at all. */
const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

/** A shell under the name of Claude Code. */
async function started(
  t: TestContext,
  prepare: (home: string) => void = () => undefined,
): Promise<{ readonly agent: ShellAgent; readonly file: string }> {
  const world = await ViewWorld.create();
  t.after(() => world.remove());
  const home = world.temp.at('home');
  prepare(home);
  const program = world.temp.at('bin', 'claude');
  fs.mkdirSync(path.dirname(program));
  fs.writeFileSync(program, '#!/bin/sh\nexec /bin/sh\n', { mode: 0o755 });
  const agent = world.start(program);
  await agent.run('true');
  return { agent, file: path.join(home, '.claude.json') };
}

/** Replaces a file as Claude Code does. */
function replace(file: string, content: object): void {
  fs.writeFileSync(`${file}.tmp`, JSON.stringify(content), { mode: 0o600 });
  fs.renameSync(`${file}.tmp`, file);
}

/** Takes the lock of a file as Claude Code does. @returns false if another program has it */
function isLocked(file: string): boolean {
  try {
    fs.mkdirSync(`${file}.lock`);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return false;
  }
}

async function isReplacedInView(agent: ShellAgent, content: object): Promise<void> {
  const text = JSON.stringify(content);
  await agent.run(`echo '${text}' > ~/.claude.json.tmp; mv ~/.claude.json.tmp ~/.claude.json`);
}

const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

async function becomes(what: string, read: () => string | Promise<string>, content: object): Promise<void> {
  let last: unknown;
  const isRight = async (): Promise<boolean> => {
    last = valueOf(await read());
    return JSON.stringify(last) === JSON.stringify(content);
  };
  await polled(what, isRight).catch(() => assert.deepEqual(last, content, what));
}

test('what a program that takes no lock replaces while the merged text is written is merged, too', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const file = await temp.file('home/settings.json', '{"a":1}');
  const inView = path.join(await temp.folder('view'), 'settings.json');
  const shared = await SharedFile.start(file, path.dirname(inView));
  replace(inView, { a: 1, b: 2 });
  const others: (readonly [string, object])[] = [
    [file, { a: 1, c: 3 }],
    [inView, { a: 1, b: 2, d: 4 }],
  ];
  const { open } = fs.promises;
  const { mock } = t.mock.method(fs.promises, 'open', (at: string, ...rest: never[]) => {
    const n = others.findIndex(([each]) => isDraftOf(each, at));
    for (const other of n < 0 ? [] : others.splice(n, 1)) replace(...other);
    return open(at, ...rest);
  });
  syncBuiltinESMExports();
  await shared.stop();
  mock.restore();
  syncBuiltinESMExports();
  for (const each of [file, inView])
    assert.deepEqual(valueOf(fs.readFileSync(each, 'utf8')), { a: 1, b: 2, c: 3, d: 4 });
});

/** Whether a path leads to a draft beside a file. */
function isDraftOf(file: string, at: string): boolean {
  return (
    path.basename(at).startsWith('.redline-') &&
    fs.realpathSync(path.dirname(at)) === fs.realpathSync(path.dirname(file))
  );
}

if (!obstacle)
  suite('a file of settings that is replaced by a rename', () => {
    test('each side gets what the other replaces, also if it was not there before', async t => {
      const { agent, file } = await started(t);
      const inView = (): Promise<string> => agent.run('cat ~/.claude.json');
      assert.equal(await inView(), '{}');
      await isReplacedInView(agent, { a: 1 });
      await becomes('outside', () => fs.readFileSync(file, 'utf8'), { a: 1 });
      replace(file, { a: 2, projects: { '/x': { trusted: true } } });
      await becomes('in the view', inView, { a: 2, projects: { '/x': { trusted: true } } });
      fs.rmSync(file);
      await becomes('made again', () => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''), {
        a: 2,
        projects: { '/x': { trusted: true } },
      });
      await agent.run('echo \'{"last":1}\' > ~/.claude.json');
      await agent.exit();
      assert.equal(fs.readFileSync(file, 'utf8'), '{"last":1}\n');
      assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    });

    test('what both have changed meanwhile is merged, and the lock of another program is waited for', async t => {
      const { agent, file } = await started(t, home => {
        replace(path.join(home, '.claude.json'), {
          a: 1,
          gone: 1,
          projects: { '/x': { n: 1 }, '/y': { n: 1 } },
        });
      });
      await polled('the lock is free', () => isLocked(file));
      const beats = setInterval(() => fs.utimesSync(`${file}.lock`, new Date(), new Date()), 1_000);
      t.after(() => clearInterval(beats));
      replace(file, { a: 1, gone: 1, outside: 1, projects: { '/x': { n: 2 }, '/y': { n: 1 } } });
      await isReplacedInView(agent, { a: 2, projects: { '/x': { n: 1 }, '/y': { n: 2 }, '/z': {} } });
      clearInterval(beats);
      fs.rmdirSync(`${file}.lock`);
      const both = { a: 2, outside: 1, projects: { '/x': { n: 2 }, '/y': { n: 2 }, '/z': {} } };
      await becomes('outside', () => fs.readFileSync(file, 'utf8'), both);
      await becomes('in the view', () => agent.run('cat ~/.claude.json'), both);
      await agent.exit();
      assert.deepEqual(
        fs.readdirSync(path.dirname(file)).filter(name => name.includes('lock')),
        [],
      );
    });

    test('a half-written file is not passed on, and a link stays one', async t => {
      const { agent, file } = await started(t, home => {
        fs.mkdirSync(path.join(home, 'dotfiles'));
        fs.writeFileSync(path.join(home, 'dotfiles/claude.json'), '{"a":1}');
        fs.symlinkSync('dotfiles/claude.json', path.join(home, '.claude.json'));
      });
      assert.equal(await agent.run('cat ~/.claude.json'), '{"a":1}');
      await agent.run('printf \'{"a":\' > ~/.claude.json');
      replace(path.join(path.dirname(file), 'dotfiles/claude.json'), { a: 2 });
      await agent.run('rm ~/.claude.json; ln -s /etc/passwd ~/.claude.json');
      await agent.exit();
      assert.equal(fs.readFileSync(file, 'utf8'), '{"a":2}');
      assert.equal(fs.readlinkSync(file), 'dotfiles/claude.json');
    });
  });
