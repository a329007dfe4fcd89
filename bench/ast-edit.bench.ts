import * as fs from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sha256 } from '../src/agent/base/hash.ts';
import { commitChanges } from '../src/agent/hold/preview/commit/commitChanges.ts';
import type { FileChange } from '../src/agent/hold/preview/fileChange.ts';
import type { Workspace } from '../src/agent/hold/preview/workspace.ts';
import { defaultEncoding } from '../src/agent/hold/text/encodings.ts';
import { cliFind } from './lib/astGrepCli.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { corpus } from './lib/corpus.ts';
import { measure, requestFor, startEngine } from './lib/engine.ts';
import { fiveThousandFiles } from './lib/fiveThousandFiles.ts';

interface Case {
  readonly name: string;
  readonly pat: string;
  readonly out: string;
  /** The longest that the search may take, relative to the CLI. */
  readonly ratio: number;
  /** Whether the first result must arrive within 100 ms. */
  readonly early: boolean;
}

const cases: readonly Case[] = [
  { name: 'rare', pat: 'structuredClone($A)', out: 'clone($A)', ratio: 0.1, early: true },
  { name: 'medium', pat: 'console.log($$$A)', out: 'logger.info($$$A)', ratio: 0.25, early: false },
  { name: 'common', pat: '$A.push($B)', out: '$A.add($B)', ratio: 0.95, early: true },
  { name: 'literal-free', pat: '$A && $A()', out: '$A?.()', ratio: 0.95, early: false },
];

const MB = 1024 * 1024;

/** Structural search compared with the ast-grep CLI, on real TypeScript sources. */
export default async function astEdit(bench: Bench): Promise<void> {
  const { folder, packages, files, bytes } = corpus(bench.home);
  bench.fact('corpus', packages);
  for (const { name, files: count, bytes: size } of packages) {
    bench.say(
      `  ${name.padEnd(32)} ${String(count).padStart(5)} files ${(size / MB).toFixed(1).padStart(6)} MB`,
    );
  }
  bench.say(
    `  ${'all'.padEnd(32)} ${String(files).padStart(5)} files ${(bytes / MB).toFixed(1).padStart(6)} MB\n`,
  );
  // First, while this process is small: freed memory is not all returned to the system.
  await measureMemory(bench, folder);
  await compareWithCli(bench, folder);
  await measureBlocking(bench, folder);
  await replaceInAll(bench);
}

/** Each pattern with an empty cache, in turn with the CLI, and then again with the filled cache. */
async function compareWithCli(bench: Bench, folder: string): Promise<void> {
  const engine = startEngine();
  try {
    // Warm both up: the files are then in memory and the worker is running.
    await cliFind('warmUp($A)', '', folder);
    await measure(engine, requestFor(folder, 'warmUp($A)', ''));
    for (const { name, pat, out, ratio, early } of cases) {
      const firsts: number[] = [];
      const repeats: number[] = [];
      let found = '';
      const { ours, theirs } = await bench.interleaved({
        async ours(round) {
          // The cache does not know a search with another rewrite.
          const request = requestFor(folder, pat, out + ' '.repeat(round));
          const result = await measure(engine, request);
          if (result.first !== undefined) firsts.push(result.first);
          found = `${result.replacements} in ${result.files} files`;
          repeats.push((await measure(engine, request)).total);
          return result.total;
        },
        async theirs() {
          const started = performance.now();
          await cliFind(pat, out, folder);
          return performance.now() - started;
        },
      });
      bench.against(`${name}: ${pat}, ${found}`, ours, { name: 'ast-grep CLI', times: theirs }, ratio);
      if (firsts.length > 0) {
        const first = median(firsts);
        bench.row({
          what: `${name}: first result`,
          value: milliseconds(first),
          ...(early ? { target: '≤ 100 ms', met: first <= 100 } : {}),
          samples: { firsts },
        });
      }
      bench.row({
        what: `${name}: repeated`,
        value: milliseconds(median(repeats)),
        target: '≤ 50 ms',
        met: median(repeats) <= 50,
        samples: { repeats },
      });
    }
  } finally {
    engine.dispose();
  }
}

/** The longest block of the calling thread. */
async function measureBlocking(bench: Bench, folder: string): Promise<void> {
  const engine = startEngine();
  const kept: unknown[] = [];
  try {
    await measure(engine, requestFor(folder, 'warmUp($A)', ''));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const blocks: number[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      delay.reset();
      delay.enable();
      await measure(engine, requestFor(folder, '$A.push($B)', `$A.add($B)${' '.repeat(round)}`), batch =>
        kept.push(batch),
      );
      delay.disable();
      blocks.push(delay.max / 1e6);
      kept.length = 0;
    }
    bench.row({
      what: 'longest block of the calling thread, common pattern',
      value: milliseconds(median(blocks)),
      target: '≤ 50 ms',
      met: median(blocks) <= 50,
      samples: { blocks },
    });
  } finally {
    engine.dispose();
  }
}

/** The memory of the process during searches whose results are not kept. */
async function measureMemory(bench: Bench, folder: string): Promise<void> {
  const engine = startEngine();
  try {
    await measure(engine, requestFor(folder, 'warmUp($A)', ''));
    const idle = process.memoryUsage.rss();
    let peak = idle;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
    for (const { pat, out } of cases) await measure(engine, requestFor(folder, pat, out));
    clearInterval(sampling);
    const above = (peak - idle) / MB;
    bench.row({
      what: 'memory above idle, all four patterns one after the other',
      value: `${above.toFixed(0)} MB`,
      target: '≤ 250 MB',
      met: above <= 250,
    });
  } finally {
    engine.dispose();
  }
}

/** One replacement in each of 5,000 files: from the call to changes that can be staged, then applying them. */
async function replaceInAll(bench: Bench): Promise<void> {
  const folder = path.join(bench.home, 'five-thousand');
  await fiveThousandFiles(folder);
  const engine = startEngine();
  try {
    await measure(engine, requestFor(folder, 'warmUp($A)', ''));
    const request = requestFor(folder, 'console.log($$$A)', 'logger.info($$$A)');
    const changes: FileChange[] = [];
    const preview = await measure(engine, request, batch => {
      for (const { path: name, found } of batch) {
        if (found.kind === 'edits')
          changes.push({ kind: 'modify', path: name, before: found.before, after: found.after });
      }
    });
    const shown = `${preview.replacements} replacements in ${preview.files} files`;
    bench.row({ what: `preview of ${shown}`, value: milliseconds(preview.total) });
    bench.row({ what: 'its first file', value: milliseconds(preview.first ?? Number.NaN) });
    const started = performance.now();
    await commitChanges(plainFiles(folder), changes);
    bench.row({ what: `apply of ${shown}`, value: milliseconds(performance.now() - started) });
  } finally {
    engine.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Files on disk, written in the simplest way that still checks their content before the write. */
function plainFiles(folder: string): Workspace {
  const read = (name: string): Promise<Buffer> => readFile(path.join(folder, name));
  return {
    read,
    placeOf: () => Promise.resolve({ missingFolders: [] }),
    encodingOf: () => Promise.resolve(defaultEncoding),
    lineEndingAt: () => Promise.resolve('\n'),
    resolvePath: input => Promise.resolve(input),
    list: () => Promise.resolve({ paths: [], truncated: false }),
    replace: () => Promise.reject(new Error('Only texts are written here.')),
    rightsOf: () => Promise.resolve({}),
    giveRights: () => Promise.resolve(),
    addName: () => Promise.resolve(false),
    makeFolders: () => Promise.resolve(),
    tidy: () => Promise.resolve(),
    sync: () => Promise.resolve(new Map()),
    async write(name, bytes, expected) {
      if (sha256(await read(name)) !== expected) throw new Error(`${name} changed`);
      await writeFile(path.join(folder, name), bytes ?? '');
      return 'disk';
    },
  };
}
