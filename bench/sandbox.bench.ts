/**
 * The sandbox: what a command costs in it, beside a plain shell; whether that depends on the size of the workspace; a test run;
 * how soon changes are told; and the copy where there is no overlay. Processor times include those of all programs that were
 * started. Medians. `npm run bench -- sandbox`
 */
import { MemoryBlobs } from '../src/agent/hold/preview/blobs.ts';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { silentLogger } from '../src/agent/base/logger.ts';
import { PreviewStore } from '../src/agent/hold/preview/previewStore.ts';
import { CheckedFiles } from '../src/agent/sandbox/checks/checkedFiles.ts';
import { CheckRunner } from '../src/agent/sandbox/checks/checkRunner.ts';
import { folderState } from '../src/agent/sandbox/checks/folderState.ts';
import type { CommandPlan } from '../src/agent/sandbox/commands/commandPlan.ts';
import type { SandboxEngine } from '../src/agent/sandbox/commands/sandbox.ts';
import { inRepo, repoRoot } from '../scripts/lib/paths.mjs';
import { DiskWorkspace, withFaults } from '../test/support/diskWorkspace.ts';
import { SandboxWorld } from '../test/support/sandboxWorld.ts';
import { MemoryPreviewLog } from '../test/support/testSession.ts';
import { EventLoopWatch, ownTime } from '../test/support/fuzz/eventLoop.ts';
import { median, type Bench } from './lib/bench.ts';

/** How many commands one sample of a start consists of: the system counts processor time in hundredths of a second. */
const COMMANDS = 20;
/** What a command may take above this many times a plain shell, in milliseconds of processor. */
const [TIMES, ABOVE_MS] = [1.5, 30];
const SIZES = [1_000, 10_000, 100_000];
/** A command in the largest workspace may take at most this many times as long as in the smallest. */
const FLAT = 1.5;
/** The most that a test run may take, in those outside of the sandbox. */
const TEST_RATIO = 1.1;
/** The most that a check may take whose result is a proof, in runs of its command that keep what they build. */
const PROOF_RATIO = 1.3;
const TEST_FILES = 4;
const LIST_MS = 100;
const BLOCK_MS = 50;
const MANY = 50_000;
const COPIED = 10_000;

export default async function run(bench: Bench): Promise<void> {
  const world = await SandboxWorld.create('overlay', { 'a.txt': 'a' });
  try {
    const { engine, why } = await world.sandboxes.status();
    if (engine === undefined) bench.say(`There is no overlay here: ${why?.reason} ${why?.detail ?? ''}`);
    else {
      await start(bench, world);
      await list(bench, world);
      await many(bench, world);
      await sizes(bench);
      await tests(bench);
      await proofs(bench);
    }
    await copy(bench);
  } finally {
    await world.remove();
  }
}

async function start(bench: Bench, world: SandboxWorld): Promise<void> {
  await world.run('true');
  const plain = (): Promise<unknown> => plainShell('true', world.root);
  const samples = { ours: [] as number[], plain: [] as number[], above: [] as number[] };
  for (let round = 0; round < bench.rounds; round++) {
    const ours = await costOf(() => world.run('true'));
    const bare = await costOf(plain);
    samples.ours.push(ours.time);
    samples.plain.push(bare.time);
    samples.above.push(ours.processor - TIMES * bare.processor);
  }
  bench.against('a command that does nothing, in the sandbox', samples.ours, {
    name: 'plain shell',
    times: samples.plain,
  });
  bench.within(`  processor above ${TIMES} × that of a plain shell`, samples.above, ABOVE_MS);
}

/** Of one command, in milliseconds. */
async function costOf(command: () => Promise<unknown>): Promise<{ time: number; processor: number }> {
  const [began, before] = [performance.now(), processor()];
  for (let n = 0; n < COMMANDS; n++) await command();
  return {
    time: (performance.now() - began) / COMMANDS,
    processor: (processor() - before) / COMMANDS,
  };
}

/** What this process and those that it has waited for have computed, in milliseconds. */
function processor(): number {
  // After the name, which may hold anything: the state is the third field, and children's times are the 16th and 17th.
  const fields = fs
    .readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const children = Number(fields[13]) + Number(fields[14]);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + children * 10;
}

function plainShell(command: string, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', status => (status === 0 ? resolve() : reject(new Error(`${command}: ${status}`))));
  });
}

async function list(bench: Bench, world: SandboxWorld): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < bench.rounds; round++) {
    let last = 0;
    const command = 'mkdir d; i=0; while [ $i -lt 100 ]; do echo $i > d/$i; i=$((i+1)); done; echo done';
    const { effects } = await world.run(command, { onOutput: () => (last = performance.now()) });
    if (effects.length !== 100) throw new Error(`${effects.length} effects`);
    times.push(performance.now() - last);
  }
  bench.within('from the end of a command that changes 100 files to its changes', times, LIST_MS);
}

async function many(bench: Bench, world: SandboxWorld): Promise<void> {
  const watch = new EventLoopWatch(BLOCK_MS / 5);
  await watch.open();
  let last = 0;
  const command = `mkdir many; perl -e 'for (1..${MANY}) { open F, ">many/$_"; print F $_; close F }'; echo done`;
  watch.start();
  await world.run(command, { onOutput: () => (last = performance.now()) });
  watch.stop();
  bench.within(`from the end of a command that writes ${MANY} files to its result`, [
    performance.now() - last,
  ]);
  const blockages = (await watch.finish()).map(ownTime);
  bench.within(
    '  longest block of the event loop, of its own computing',
    [Math.max(0, ...blockages)],
    BLOCK_MS,
  );
}

async function sizes(bench: Bench): Promise<void> {
  const worlds: SandboxWorld[] = [];
  try {
    for (const size of SIZES) worlds.push(await ofSize('overlay', size));
    const commands = worlds.map(world => async (): Promise<undefined> => {
      const { output } = await world.run('cat 0/0', { pending: { '0/0': 'pending' } });
      if (output !== 'pending') throw new Error(output);
    });
    for (const command of commands) await command();
    const samples = await bench.interleaved(Object.fromEntries(commands.entries()), 5 * bench.rounds);
    const [small = 0] = SIZES;
    const baseline = { name: `${small.toLocaleString('en')} files`, times: samples['0'] ?? [] };
    for (const [n, size] of SIZES.entries())
      if (n > 0)
        bench.against(
          `a command in a workspace of ${size.toLocaleString('en')} files`,
          samples[n] ?? [],
          baseline,
          FLAT,
        );
  } finally {
    for (const world of worlds) await world.remove();
  }
}

/** Files of a few bytes, a hundred in a folder. */
async function ofSize(engine: SandboxEngine, files: number): Promise<SandboxWorld> {
  const world = await SandboxWorld.create(engine);
  for (let n = 0; n < files; n++) {
    const folder = world.at(String(Math.floor(n / 100)));
    if (n % 100 === 0) fs.mkdirSync(folder);
    fs.writeFileSync(`${folder}/${n % 100}`, `file ${n}\n`);
  }
  return world;
}

async function tests(bench: Bench): Promise<void> {
  const folders = (): { name: string; fsPath: string }[] => [{ name: 'redline', fsPath: repoRoot }];
  const world = await SandboxWorld.create('overlay', {}, { folders });
  const tested = fs
    .readdirSync(inRepo('test', 'unit', 'hold', 'text'))
    .filter(name => name.endsWith('.test.ts'));
  const files = tested.slice(0, TEST_FILES);
  const command = [
    `'${process.execPath}' --test --disable-warning=ExperimentalWarning`,
    ...files.map(name => `test/unit/hold/text/${name}`),
  ].join(' ');
  try {
    const inside = async (): Promise<undefined> => {
      const { exitCode, output } = await world.run(command, { plan: { folder: repoRoot } });
      if (exitCode !== 0) throw new Error(output.slice(-2_000));
    };
    const bare = async (): Promise<undefined> => void (await plainShell(command, repoRoot));
    await inside();
    // The goal is closer than the runs are to each other: single runs of seconds differ by a third.
    const samples = await bench.interleaved({ bare, inside }, 3 * bench.rounds);
    bench.against(
      `a test run (${files.length} files)`,
      samples.inside,
      { name: 'on disk', times: samples.bare },
      TEST_RATIO,
    );
  } finally {
    await world.remove();
  }
}

/** On this project: a small file of tests, and types by `tsc --incremental`, whose output of the run before is on disk. */
async function proofs(bench: Bench): Promise<void> {
  const roots = [{ name: 'redline', fsPath: repoRoot }];
  const world = await SandboxWorld.create('overlay', {}, { folders: () => roots });
  const node = `'${process.execPath}' --disable-warning=ExperimentalWarning`;
  const built = 'out/bench/types.tsbuildinfo';
  const commands = {
    'a file of tests': `${node} --test test/unit/hold/text/lines.test.ts`,
    'tsc --incremental': `${node} node_modules/typescript/bin/tsc -p src/views/chat/webview --noEmit --incremental --tsBuildInfoFile ${built}`,
  };
  const workspace = Object.assign(withFaults(new DiskWorkspace(repoRoot), {}), {
    unsaved: () => [],
    folderRoots: () => roots,
  });
  const store = new PreviewStore(new MemoryPreviewLog(), error => bench.say(String(error)));
  const files = new CheckedFiles({ store, workspace, stateOf: (...asked) => folderState(roots, ...asked) });
  const plan = (command: string): CommandPlan => ({ ...NOTHING_SET, command, ...IN_REPO });
  const parts = { store, workspace, sandboxes: world.sandboxes, logger: silentLogger };
  const runner = new CheckRunner({ ...parts, plan: command => Promise.resolve(plan(command)) }, files);
  try {
    for (const [name, command] of Object.entries(commands)) {
      await plainShell(command, repoRoot);
      const check = { name, command, timeLimit: 60, isApproved: true };
      const plain = async (): Promise<undefined> => {
        const { exitCode, output } = await world.run(command, { plan: plan(command) });
        if (exitCode !== 0) throw new Error(output.slice(-2_000));
      };
      const proof = async (): Promise<undefined> => {
        const { outcome, output, saw } = await runner.run(check, [], undefined);
        if (outcome !== 'passed' || !saw) throw new Error(`${outcome}: ${output.slice(-2_000)}`);
      };
      await plain();
      const samples = await bench.interleaved({ plain, proof }, 2 * bench.rounds);
      const baseline = { name: 'in the sandbox', times: samples.plain };
      bench.against(`a check that proves: ${name}`, samples.proof, baseline, PROOF_RATIO);
    }
  } finally {
    runner.dispose();
    fs.rmSync(inRepo(built), { force: true });
    await world.remove();
  }
}

async function copy(bench: Bench): Promise<void> {
  const world = await ofSize('copy', COPIED);
  const plain = world.temp.at('plain');
  const [first, bare, upkeep]: number[][] = [[], [], []];
  try {
    for (let round = 0; round < bench.rounds; round++) {
      let began = performance.now();
      await cp(world.root, plain, { recursive: true });
      bare?.push(performance.now() - began);
      await rm(plain, { recursive: true });
      const sandbox = await world.sandboxes.of(`s${round}`);
      const once = async (): Promise<number> => {
        began = performance.now();
        await sandbox?.run(
          { command: 'true', folder: world.root, shell: '/bin/sh', ...NOTHING_SET },
          { paths: () => [], at: () => undefined, blobs: new MemoryBlobs() },
          { signal: new AbortController().signal, add: () => undefined },
        );
        return performance.now() - began;
      };
      first?.push(await once());
      upkeep?.push(median([await once(), await once(), await once()]));
    }
    const files = COPIED.toLocaleString('en');
    bench.against(`the first command in a copy of ${files} files`, first ?? [], {
      name: 'fs.cp of them',
      times: bare ?? [],
    });
    bench.within(`each further command in a copy of ${files} files`, upkeep ?? []);
  } finally {
    await world.remove();
  }
}

const IN_REPO = { folder: repoRoot, shell: '/bin/sh' };
const NOTHING_SET = { arguments: [], environment: {}, timeLimit: 60 };
