/**
 * Thousands of pending previews, staged as every producer stages them, with the log on disk: staging one more, the first
 * page of the tree, the overlay that tools read through, memory, and restoring everything from the log. Medians.
 * `npm run bench -- pending`
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { english } from '../src/agent/base/localiser.ts';
import { sideOfText } from '../src/agent/hold/preview/fileChange.ts';
import { Overlay } from '../src/agent/hold/preview/overlay.ts';
import { openPreviewLog } from '../src/agent/hold/preview/log/openPreviewLog.ts';
import type { StagedPreview } from '../src/agent/hold/preview/previewSchema.ts';
import { PreviewStore } from '../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler, type ResolveHost } from '../src/agent/hold/preview/queueResolveHandler.ts';
import { silentLogger } from '../src/agent/base/logger.ts';
import { Rebaser } from '../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../src/agent/hold/preview/resolve/resolvePart.ts';
import { applyTextEdits } from '../src/agent/hold/text/textEdit.ts';
import { childrenOf } from '../src/views/review/pending/pendingNodes.ts';
import { DiskWorkspace } from '../test/support/diskWorkspace.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { longestWait } from './lib/longestWait.ts';

const FEW = 100;
const MANY = 10_000;
/** The number of previews that are staged for one sample. */
const BATCH = 100;
/** Staging one more may take at most this many times as long among many previews as among few. */
const FLAT = 5;
/** The longest that reading may take, in milliseconds. */
const GLANCE_MS = 50;
/** The conversation that stages them. */
const SESSION = 's1';
/** The size of one file, in bytes: that of a small source file. */
const BYTES = 2_000;
/** The files of a rewrite of a whole repository, and the size of each: that of a file of the corpus. */
const FILES = 5_000;
const LARGE_BYTES = 7_000;

function fail(error: unknown): never {
  throw error;
}

/** A store of previews that change one file each, in a workspace of its own. */
class Pending {
  readonly store: PreviewStore;
  readonly overlay: Overlay;
  readonly #host: ResolveHost;
  readonly #folder: string;
  readonly #before = sideOfText('const value = 0;\n'.repeat(BYTES).slice(0, BYTES));
  #count = 0;

  constructor(folder: string) {
    this.#folder = path.join(folder, 'src');
    fs.mkdirSync(this.#folder, { recursive: true });
    this.store = new PreviewStore(openPreviewLog(path.join(folder, 'previews.jsonl')), fail);
    this.overlay = new Overlay(this.store);
    const workspace = new DiskWorkspace(folder);
    const invoker = new Invoker(this.store, workspace, () => 'recommend');
    new Rebaser({ store: this.store, workspace, logger: silentLogger });
    this.#host = {
      store: this.store,
      invoker,
      overlay: this.overlay,
      l10n: english,
    };
  }

  /** Applies a new file. @returns for how long, in milliseconds. */
  async apply(): Promise<number> {
    const after = sideOfText('new\n');
    const changes = [{ kind: 'create' as const, path: `new/file${++this.#count}.ts`, before: null, after }];
    const origin = { sessionId: SESSION, asksModel: true };
    const { preview, stored } = queueResolveHandler(
      this.#host,
      { label: 'Create a file', sourceToolName: 'write_file', changes },
      origin,
    );
    await stored;
    const begun = performance.now();
    await this.#host.invoker.resolve({ id: preview.id, action: 'apply', reason: 'ok', actor: 'human' });
    return performance.now() - begun;
  }

  /** Stages `count` previews of files that are there; settles when they are stored. @returns for how long, in milliseconds. */
  async stage(count: number): Promise<number> {
    for (let n = this.#count + 1; n <= this.#count + count; n++)
      fs.writeFileSync(path.join(this.#folder, `file${n}.ts`), this.#before.text);
    const begun = performance.now();
    for (let i = 0; i < count; i++) {
      const n = ++this.#count;
      const text = `const value = ${n};\n`.repeat(BYTES).slice(0, BYTES);
      const change = { kind: 'modify' as const, path: `src/file${n}.ts`, before: this.#before };
      const changes = [{ ...change, after: sideOfText(text) }];
      const action = { label: `Edit file ${n}`, sourceToolName: 'edit_file', changes };
      const origin = { sessionId: SESSION, asksModel: true };
      await queueResolveHandler(this.#host, action, origin).stored;
    }
    return performance.now() - begun;
  }
}

export default async function run(bench: Bench): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-bench-'));
  try {
    const folders = ['few', 'many'].map(name => path.join(root, name));
    const [few, many] = folders.map(folder => new Pending(folder));
    if (!few || !many) throw new Error('There are two folders');
    await few.stage(FEW);
    const before = process.memoryUsage().heapUsed;
    const all = await many.stage(MANY);
    bench.row({ what: `stage ${MANY} one after the other`, value: milliseconds(all) });
    const perPreview = (process.memoryUsage().heapUsed - before) / MANY;
    bench.row({
      what: `heap for each of ${MANY}, including garbage`,
      value: `${(perPreview / 1_000).toFixed(1)} KB`,
    });

    const batchTime = async (pending: Pending): Promise<number> =>
      ((await pending.stage(BATCH)) * 1_000) / BATCH;
    const samples = await bench.interleaved({
      few: () => batchTime(few),
      many: () => batchTime(many),
      applyFew: () => few.apply(),
      applyMany: () => many.apply(),
      page: async () => {
        const begun = performance.now();
        childrenOf(many.store, many.store.list('newestFirst'), undefined);
        return performance.now() - begun;
      },
      overlay: async () => {
        await many.stage(1);
        const begun = performance.now();
        if (!many.overlay.of(SESSION).at('src/file1.ts'))
          throw new Error('The overlay does not have the file');
        return performance.now() - begun;
      },
    });
    const [small, large] = [median(samples.few), median(samples.many)];
    bench.row({
      what: `stage one more among ${MANY}`,
      value: `${large.toFixed(0)} µs`,
      baseline: `among ${FEW} ${small.toFixed(0)} µs`,
      ratio: large / small,
      limit: FLAT,
      met: large / small <= FLAT,
      samples: { few: samples.few, many: samples.many },
    });
    bench.against(
      `apply one among ${MANY}`,
      samples.applyMany,
      { name: `among ${FEW}`, times: samples.applyFew },
      2,
    );
    bench.within(`the first page of the tree of ${MANY}`, samples.page, GLANCE_MS);
    bench.within('reading a file through the overlay after a change', samples.overlay, GLANCE_MS);

    const { restore } = await bench.interleaved({
      restore: async () => {
        const begun = performance.now();
        const log = openPreviewLog(path.join(root, 'many', 'previews.jsonl'));
        const store = new PreviewStore(log, fail);
        store.restore((await log.load()).entries);
        if (store.open.size < MANY) throw new Error(`${store.open.size} previews came back`);
        return performance.now() - begun;
      },
    });
    bench.within(`restore ${MANY} from the log`, restore);
    await measureLarge(bench, path.join(root, 'large'));
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

/** A preview that rewrites thousands of files is one entry of the log. */
async function measureLarge(bench: Bench, folder: string): Promise<void> {
  const file = path.join(folder, 'previews.jsonl');
  const load = async (): Promise<PreviewStore> => {
    const log = openPreviewLog(file);
    const store = new PreviewStore(log, fail);
    store.restore((await log.load()).entries);
    if (store.open.size !== 1) throw new Error(`${store.open.size} previews came back`);
    return store;
  };
  await openPreviewLog(file).append({ type: 'staged', preview: rewriteOf(FILES) });
  const megabytes = Math.round(fs.statSync(file).size / 1e6);
  const store = await load();
  const invoker = new Invoker(store, new DiskWorkspace(folder), () => 'recommend');
  const { restore, wait, decide } = await bench.interleaved({
    restore: async () => {
      const begun = performance.now();
      await load();
      return performance.now() - begun;
    },
    wait: () => longestWait(async () => void (await load())),
    decide: async () => {
      const { revision = 0, changes } = store.get('p1') ?? {};
      const begun = performance.now();
      const vote = { action: 'discard', reason: 'not this one', actor: 'human' } as const;
      await resolvePart(
        { store, invoker },
        { id: 'p1', revision, ...vote },
        { path: changes?.[0]?.path ?? '' },
      );
      await store.drain();
      return performance.now() - begun;
    },
  });
  bench.within(`restore a rewrite of ${FILES} files from the log (${megabytes} MB)`, restore);
  bench.within('longest block while restoring it', wait, GLANCE_MS);
  bench.within('discard one of its files', decide, GLANCE_MS);
}

/** A preview that changes a word in each of so many files. */
function rewriteOf(files: number): StagedPreview {
  const changes = Array.from({ length: files }, (_, n) => {
    const before = `const value = "${n}"; // é\n`.repeat(LARGE_BYTES / 20).slice(0, LARGE_BYTES);
    const edits = [{ start: 6, end: 11, text: 'other' }];
    const after = sideOfText(applyTextEdits(before, edits));
    return { kind: 'modify' as const, path: `src/file${n}.ts`, before: sideOfText(before), after, edits };
  });
  const parts = { id: 'p1', label: 'value → other', sourceToolName: 'ast_edit', dependsOn: [], origin: null };
  return { ...parts, kind: 'files', changes, stagedAt: new Date(0).toISOString() };
}
