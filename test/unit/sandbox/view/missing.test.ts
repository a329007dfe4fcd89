import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { enginesHere, SandboxWorld, type Ran } from '../../../support/sandboxWorld.ts';

const isOverlay = (await enginesHere()).includes('overlay');

suite('what is not in the sandbox is told by name', { skip: !isOverlay }, () => {
  /** A home folder of its own with a tool in it that the PATH leads to, and a cache. */
  async function open(t: TestContext): Promise<(command: string) => Promise<Ran>> {
    const world = await SandboxWorld.create('overlay', { 'a.txt': 'a' });
    const home = world.temp.at('home');
    const old = { HOME: process.env['HOME'], PATH: process.env['PATH'] };
    t.after(async () => {
      Object.assign(process.env, old);
      await world.remove();
    });
    fs.mkdirSync(`${home}/own tools/bin`, { recursive: true });
    fs.mkdirSync(`${home}/.cache/packages`, { recursive: true });
    fs.writeFileSync(`${home}/own tools/bin/mytool`, '#!/bin/sh\n', { mode: 0o755 });
    Object.assign(process.env, { HOME: home, PATH: `${old.PATH ?? ''}:${home}/own tools/bin` });
    return command => world.run(command);
  }

  for (const shell of ['sh', 'bash', 'env'])
    test(`a program of the home folder, as ${shell} says it`, async t => {
      const run = await open(t);
      const { exitCode, notes, missing } = await run(shell === 'env' ? 'env mytool' : `${shell} -c mytool`);
      assert.equal(exitCode, 127);
      assert.deepEqual(missing, ['~/own tools/bin/mytool']);
      assert.deepEqual(notes, [
        'mytool is ~/own tools/bin/mytool on this machine, which the sandbox does not have. Do without it, run what needs it with onDisk, or ask the user to name it in the setting redline.sandbox.readable.',
      ]);
    });

  test('a program that is nowhere', async t => {
    const { notes } = await (await open(t))('no-such-program-1');
    assert.deepEqual(notes, [
      'no-such-program-1 is not installed on this machine, or not on the PATH that VS Code was started with.',
    ]);
  });

  test('a file of the home folder that a program misses, and none that is nowhere or in the workspace', async t => {
    const run = await open(t);
    assert.deepEqual((await run('cat "$HOME/.cache/packages"; exit 1')).notes, [
      'On this machine, but not in the sandbox, which shows little of the home folder: ~/.cache/packages. Do without it, run what needs it with onDisk, or ask the user to name it in the setting redline.sandbox.readable.',
    ]);
    assert.deepEqual((await run('cat "$HOME/.nothing" "$PWD/missing"; exit 1')).notes, []);
    assert.deepEqual((await run('cat "$HOME/.cache/packages"; true')).notes, [], 'it went well');
  });
});
