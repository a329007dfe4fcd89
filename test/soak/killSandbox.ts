import { MemoryBlobs } from '../../src/agent/hold/preview/blobs.ts';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { polled } from '../../scripts/lib/limits.mjs';
import type { SandboxEngine } from '../../src/agent/sandbox/commands/sandbox.ts';
import { openWorkbench } from './killApplyWork.ts';
import { sandboxesIn } from './killSandboxWork.ts';
import { snapshotOf } from '../support/snapshot.ts';
import { TempFolder } from '../support/tempFolder.ts';

/** What the kills hit. */
export interface SandboxKills {
  kills: number;
  /** A command was being run. */
  interrupted: number;
}

/** The longest time between the beginning of a command and the kill, in milliseconds. */
const MAX_DELAY = 400;
/** Fewer commands than this end before the one that is interrupted. */
const MAX_BEFORE = 4;
const FILES = { 'a.txt': 'a', 'b.txt': 'b', 'src/c.txt': 'c', '.gitignore': 'out/\n' };
const child = fileURLToPath(new URL('./killSandboxChild.ts', import.meta.url));

/**
 * Kills a process at random moments while it runs commands in the sandbox, and checks that nothing of them goes on or stays, that
 * the workspace is as before, and that the preview whose command was interrupted is expired.
 */
export async function killSandbox(engine: SandboxEngine, rounds: number): Promise<SandboxKills> {
  const stats = { kills: 0, interrupted: 0 };
  for (let round = 0; round < rounds; round++) await killOnce(engine, stats);
  return stats;
}

async function killOnce(engine: SandboxEngine, stats: SandboxKills): Promise<void> {
  const temp = await TempFolder.create();
  try {
    const root = temp.at('workspace');
    for (const [name, text] of Object.entries(FILES)) await temp.file(`workspace/${name}`, text);
    execFileSync('git', ['init', '-q'], { cwd: root });
    const before = snapshotOf(root);
    await runAndKill(temp.root, engine);
    stats.kills++;
    await polled('the end of all that runs', () => processesNaming(temp.root).length === 0).catch(
      () => undefined,
    );
    assert.deepEqual(processesNaming(temp.root), []);
    assert.doesNotMatch(fs.readFileSync('/proc/self/mountinfo', 'utf8'), new RegExp(temp.root));
    assert.deepEqual(snapshotOf(root), before);
    const { store, lock } = await openWorkbench(temp.root);
    await lock?.release();
    for (const { kind, state } of store.all()) {
      if (kind !== 'action') continue;
      assert.notEqual(state.kind, 'pending');
      assert.notEqual(state.kind, 'applying');
      if (state.kind === 'expired' && state.interrupted) stats.interrupted++;
    }
    const sandboxes = sandboxesIn(temp.root, engine);
    const sandbox = await sandboxes.of('s1');
    assert.deepEqual(fs.readdirSync(temp.at('sandbox')), [], 'what the killed process left is removed');
    let output = '';
    const end = await sandbox?.run(
      {
        command: 'cat a.txt b.txt src/c.txt; ls',
        folder: root,
        shell: '/bin/sh',
        arguments: [],
        environment: {},
        timeLimit: 60,
      },
      { at: () => undefined, paths: () => [], blobs: new MemoryBlobs() },
      { signal: new AbortController().signal, add: chunk => (output += chunk) },
    );
    assert.deepEqual([output, end?.effects], ['abca.txt\nb.txt\nsrc\n', []]);
    await sandboxes.dispose();
    assert.equal(fs.existsSync(temp.at('sandbox')), false);
  } finally {
    await temp.remove();
  }
}

async function runAndKill(folder: string, engine: SandboxEngine): Promise<void> {
  const args = ['--disable-warning=ExperimentalWarning', child, folder, engine];
  const killed = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(killed, 'exit');
  let left = 1 + Math.floor(Math.random() * MAX_BEFORE);
  for await (const line of createInterface(killed.stdout)) if (line === 'run' && --left === 0) break;
  await delay(Math.random() * MAX_DELAY);
  assert.equal(killed.exitCode, null, 'it runs until it is killed');
  killed.kill('SIGKILL');
  await exited;
}

/** The arguments of the processes that name a folder in them. */
function processesNaming(folder: string): readonly string[] {
  return fs.readdirSync('/proc').flatMap(pid => {
    try {
      const args = /^\d+$/.test(pid) ? fs.readFileSync(path.join('/proc', pid, 'cmdline'), 'utf8') : '';
      return args.includes(folder) ? [args.replaceAll('\0', ' ').slice(0, 1_000)] : [];
    } catch {
      return [];
    }
  });
}
