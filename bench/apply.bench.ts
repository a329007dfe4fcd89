/**
 * Applying a preview of N files through the invoker, with its log on disk, compared with a plain write of the same bytes;
 * and the longest time for which it blocks the event loop. Then, in a real VS Code, a click on Apply compared with a bare
 * edit and save, until the bytes are on disk. Interleaved, medians. `npm run bench -- apply`
 */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { writeFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { forEachLimited } from '../src/agent/base/async.ts';
import { sideOfText } from '../src/agent/hold/preview/fileChange.ts';
import { openPreviewLog } from '../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../src/agent/hold/preview/resolve/invoker.ts';
import { DiskWorkspace } from '../test/support/diskWorkspace.ts';
import type { ClickFigures } from './host/click.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { measureInHost } from './lib/inHost.ts';

/** The size of one file, in bytes: that of a typical source file. */
const BYTES = 8_000;

/** In milliseconds, one for each round. */
interface ApplyFigures {
  /** Until the preview is stored. */
  readonly stage: readonly number[];
  readonly apply: readonly number[];
  /** Of `fs.promises.writeFile`, 8 at a time. */
  readonly plain: readonly number[];
  /** The longest pause of the event loop while applying. */
  readonly blocked: readonly number[];
}

/** The most that an apply may take, in plain writes. A few files take as long as journalling them does. */
function limitFor(count: number): number | undefined {
  return count < 1_000 ? undefined : count < 5_000 ? 1.5 : 1;
}

/** Flushes pending writes to disk, so that they do not count towards the next measurement. */
function settleDisk(): void {
  if (process.platform !== 'win32') execFileSync('sync');
}

/** Measures both ways in `rounds` rounds, each time in another order. */
async function measureApply(count: number, rounds: number): Promise<ApplyFigures> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-bench-'));
  try {
    const names = Array.from({ length: count }, (_, i) => `d${i % 50}/f${i}.ts`);
    const textOf = (i: number, round: number): string =>
      `// ${i} ${round}\n${`const value = ${i};\n`.repeat(BYTES)}`.slice(0, BYTES);
    for (const place of ['apply', 'plain']) {
      for (let i = 0; i < 50; i++) fs.mkdirSync(path.join(folder, place, `d${i}`), { recursive: true });
      names.forEach((name, i) => fs.writeFileSync(path.join(folder, place, name), textOf(i, 0)));
    }
    const store = new PreviewStore(openPreviewLog(path.join(folder, 'previews.jsonl')), error => {
      throw error;
    });
    const invoker = new Invoker(store, new DiskWorkspace(path.join(folder, 'apply')), () => 'apply');
    const times = {
      stage: [] as number[],
      apply: [] as number[],
      plain: [] as number[],
      blocked: [] as number[],
    };
    for (let round = 1; round <= rounds; round++) {
      const changes = names.map((name, i) => ({
        kind: 'modify' as const,
        path: name,
        before: sideOfText(textOf(i, round - 1)),
        after: sideOfText(textOf(i, round)),
      }));
      const encoded = names.map((_, i) => Buffer.from(textOf(i, round)));
      const plain = async (): Promise<void> => {
        settleDisk();
        const begun = performance.now();
        await forEachLimited(names, 8, (name, i) =>
          writeFile(path.join(folder, 'plain', name), encoded[i] ?? ''),
        );
        times.plain.push(performance.now() - begun);
      };
      const apply = async (): Promise<void> => {
        settleDisk();
        const staged = performance.now();
        const { preview, stored } = store.stage({
          label: 'bench',
          sourceToolName: 'bench',
          kind: 'files',
          changes,
          dependsOn: [],
          origin: null,
          stagedAt: new Date().toISOString(),
        });
        await stored;
        times.stage.push(performance.now() - staged);
        // With the flush of its log entry: applying begins with an entry that is on disk.
        const loop = monitorEventLoopDelay({ resolution: 1 });
        loop.enable();
        const begun = performance.now();
        await invoker.resolve({ id: preview.id, action: 'apply', reason: 'ok', actor: 'human' });
        times.apply.push(performance.now() - begun);
        loop.disable();
        times.blocked.push(loop.max / 1e6);
      };
      for (const each of round % 2 === 0 ? [plain, apply] : [apply, plain]) await each();
    }
    await store.close();
    return times;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The default export is what `scripts/bench.mjs` runs. */
export default async function run(bench: Bench): Promise<void> {
  for (const count of [1, 100, 1_000, 5_000]) {
    const { stage, apply, plain, blocked } = await measureApply(count, bench.rounds);
    if (count === 5_000) {
      const value = milliseconds(median(stage));
      bench.row({ what: `stage a change of ${count} files`, value, samples: { stage } });
    }
    const writes = { name: 'plain writes', times: plain };
    bench.against(`apply ${count} ${count === 1 ? 'file' : 'files'}`, apply, writes, limitFor(count));
    bench.within(`longest pause while applying ${count}`, blocked, 50);
  }
  await measureClicks(bench);
}

async function measureClicks(bench: Bench): Promise<void> {
  const figures = await measureInHost<ClickFigures[]>({ script: 'click.ts', rounds: bench.rounds * 3 });
  for (const { files, click, bare } of figures) {
    const edit = { name: 'edit and save', times: bare };
    bench.against(`click to bytes on disk, ${files} ${files === 1 ? 'file' : 'files'}`, click, edit, 1.5);
  }
}
