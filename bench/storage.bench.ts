/**
 * What a day costs the storage: typing beside pending previews, a review hunk by hunk, an Apply All, votes of the model, a start with
 * much in the log, and its compaction. `npm run bench -- storage`
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '../src/agent/base/logger.ts';
import { sideOfText, type FileChange } from '../src/agent/hold/preview/fileChange.ts';
import { openPreviewLog, type PreviewLog } from '../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../src/agent/hold/preview/resolve/resolvePart.ts';
import { undoAction } from '../src/agent/hold/preview/undo.ts';
import { resolveEach } from '../src/agent/session/tools/resolveEach.ts';
import { DiskWorkspace } from '../test/support/diskWorkspace.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { computed, longestWait } from './lib/longestWait.ts';

/** Pauses in typing, after each of which what is pending is rebased. */
const PAUSES = 400;
const HUNKS = 2_000;
const FILES = 1_000;
const PENDING = 10_000;
/** Files of the workspace in which the model votes on one preview, and on many in one call. */
const WORKSPACE = 100_000;
const VOTED = 20;
const LEDGER = 100_000;

const draft = { sourceToolName: 'edit_file', kind: 'files', dependsOn: [], origin: null } as const;

/** A storage in a folder, with the files that its previews change. */
class Storage {
  readonly folder: string;
  readonly log: PreviewLog;
  readonly store: PreviewStore;
  readonly workspace: DiskWorkspace;
  readonly invoker: Invoker;

  constructor(folder: string) {
    this.folder = folder;
    fs.mkdirSync(path.join(folder, 'files'), { recursive: true });
    this.log = openPreviewLog(path.join(folder, 'storage', 'previews.jsonl'));
    this.store = new PreviewStore(this.log, fail);
    this.workspace = new DiskWorkspace(path.join(folder, 'files'));
    this.invoker = new Invoker(this.store, this.workspace, () => 'recommend');
  }

  get bytes(): number {
    const files = fs.readdirSync(path.join(this.folder, 'storage'), { recursive: true, withFileTypes: true });
    const sizes = files.map(file =>
      file.isFile() ? fs.statSync(path.join(file.parentPath, file.name)).size : 0,
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  put(file: string, text: string): void {
    fs.writeFileSync(path.join(this.folder, 'files', file), text);
  }

  stage(file: string, before: string, after: string): string {
    const change: FileChange = {
      kind: 'modify',
      path: file,
      before: sideOfText(before),
      after: sideOfText(after),
    };
    const stagedAt = new Date().toISOString();
    return this.store.stage({ ...draft, label: `Edit ${file}`, changes: [change], stagedAt }).preview.id;
  }
}

export default async function run(bench: Bench): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-bench-'));
  try {
    await typing(bench, new Storage(path.join(root, 'typing')));
    await hunkByHunk(bench, new Storage(path.join(root, 'hunks')));
    await applyAll(bench, root);
    await votes(bench, path.join(root, 'votes'));
    await start(bench, new Storage(path.join(root, 'start')));
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

/** Ten previews of one file are pending while somebody types into it. */
async function typing(bench: Bench, storage: Storage): Promise<void> {
  const line = (n: number): string => `const value${n} = compute(${n}, "text");\n`;
  const original = Array.from({ length: 3_500 }, (_, n) => line(n)).join('');
  storage.put('a.ts', original);
  for (let n = 0; n < 10; n++)
    storage.stage('a.ts', original, original.replace(line(300 * n + 100), `// ${n}\n${line(300 * n + 100)}`));
  await storage.store.drain();
  const before = storage.bytes;
  const rebaser = new Rebaser({ ...storage, logger: silentLogger });
  for (let n = 1; n <= PAUSES; n++) {
    storage.put('a.ts', `${'x'.repeat(n)}\n${original}`);
    await rebaser.filesChanged(['a.ts']);
  }
  await storage.store.close();
  const grown = storage.bytes - before;
  bench.row({
    what: `${PAUSES} pauses in typing beside 10 previews of ${kilobytes(original.length)}: written`,
    value: kilobytes(grown),
    baseline: `the file ${kilobytes(original.length)}`,
    ratio: grown / original.length,
    limit: 5,
    met: grown / original.length <= 5,
  });
}

/** Each hunk of a large file is decided by itself, and can be undone at the end of the day. */
async function hunkByHunk(bench: Bench, storage: Storage): Promise<void> {
  const lines = (mark: string): string =>
    Array.from({ length: 4 * HUNKS }, (_, n) => `const value${n} = ${n % 4 === 1 ? mark : ''}${n};\n`).join(
      '',
    );
  const [original, proposed] = [lines(''), lines('1')];
  storage.put('a.ts', original);
  const id = storage.stage('a.ts', original, proposed);
  await storage.store.drain();
  const before = storage.bytes;
  const took: number[] = [];
  const request = { id, action: 'apply', reason: 'ok', actor: 'human' } as const;
  for (let n = 0; n < HUNKS - 1; n++) {
    const { revision = 0 } = storage.store.get(id) ?? {};
    const begun = performance.now();
    await resolvePart(storage, { ...request, revision }, { path: 'a.ts', hunk: 0 });
    took.push(performance.now() - begun);
  }
  await storage.store.drain();
  const perHunk = (storage.bytes - before) / (HUNKS - 1);
  const undoable = storage.store.all().filter(preview => undoAction(preview)).length;
  bench.row({
    what: `one of ${HUNKS} hunks of ${kilobytes(original.length)} decided: written`,
    value: kilobytes(perHunk),
    baseline: `the file ${kilobytes(original.length)}`,
    ratio: perHunk / original.length,
    limit: 0.1,
    met: perHunk / original.length <= 0.1,
  });
  const [first, last] = [took.slice(0, 100), took.slice(-100)];
  bench.against(
    'the last hundred of them, each',
    last,
    { name: 'the first hundred, each', times: first },
    1.5,
  );
  bench.row({
    what: 'of these decisions can be undone',
    value: `${undoable}`,
    target: `${HUNKS - 1}`,
    met: undoable === HUNKS - 1,
  });
}

/** One vote on many previews of one file each, beside the same bytes written by nobody's leave. */
async function applyAll(bench: Bench, root: string): Promise<void> {
  const text = 'const value = 0;\n'.repeat(120);
  let round = 0;
  const applying = async (files: number): Promise<number> => {
    const storage = new Storage(path.join(root, `all${++round}`));
    const ids = Array.from({ length: files }, (_, n) => {
      storage.put(`${n}.ts`, text);
      return storage.stage(`${n}.ts`, text, text.replace('0', `${n + 1}`));
    });
    await storage.store.drain();
    const begun = process.cpuUsage();
    for (const id of ids)
      await storage.invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });
    const took = processorSince(begun);
    await storage.store.close();
    return took;
  };
  const { all, tenth } = await bench.interleaved({
    tenth: () => applying(FILES / 10).then(time => 10 * time),
    all: () => applying(FILES),
  });
  bench.against(
    `${FILES} previews applied one by one: processor`,
    all,
    { name: `10 × ${FILES / 10}`, times: tenth },
    1.5,
  );
}

/** In Auto, a vote looks for links that give a protected file another name. One call does that once, however many ids it has. */
async function votes(bench: Bench, root: string): Promise<void> {
  for (let n = 0; n < WORKSPACE / 10; n++) {
    const folder = path.join(root, 'files', `${n % 100}`, `${n}`);
    fs.mkdirSync(folder, { recursive: true });
    for (let file = 0; file < 10; file++) fs.writeFileSync(path.join(folder, `${file}.ts`), '');
  }
  const { store, workspace } = new Storage(root);
  const invoker = new Invoker(store, workspace, () => 'apply');
  let staged = 0;
  const resolving = async (ids: number): Promise<number> => {
    const named = Array.from({ length: ids }, () => {
      const change: FileChange = {
        kind: 'create',
        path: `new${++staged}.ts`,
        before: null,
        after: sideOfText('const value = 1;\n'),
      };
      const stagedAt = new Date().toISOString();
      return store.stage({ ...draft, label: 'Create', changes: [change], stagedAt }).preview.id;
    });
    const { signal } = new AbortController();
    const begun = process.cpuUsage();
    await resolveEach(
      named,
      { action: 'apply', reason: 'ok', signal },
      { signal, resolve: ({ id = '', ...call }) => invoker.resolve({ ...call, id, actor: 'model' }) },
    );
    const took = processorSince(begun);
    if (named.some(id => store.get(id)?.state.kind !== 'applied'))
      throw new Error('a vote was not carried out');
    return took;
  };
  await resolving(1);
  const { one, many } = await bench.interleaved({ one: () => resolving(1), many: () => resolving(VOTED) });
  const what = `one resolve of ${VOTED} ids in Auto, ${WORKSPACE} files: processor`;
  bench.against(what, many, { name: 'one id', times: one }, 1.5);
  await store.close();
}

/** A start with much pending and a long ledger, beside reading the same lines as JSON. */
async function start(bench: Bench, storage: Storage): Promise<void> {
  const text = 'const value = 0;\n'.repeat(120);
  for (let n = 0; n < PENDING; n++) {
    storage.stage(`${n}.ts`, text, text.replace('0', `${n + 1}`));
    if (n % 500 === 0) await storage.store.drain();
  }
  const at = new Date().toISOString();
  for (let n = 0; n < LEDGER; n++)
    await storage.log.append({
      type: 'resolved',
      mark: `${n}`,
      entries: [
        {
          previewId: `p${PENDING + n + 1}`,
          label: `Edit ${n}.ts`,
          kind: 'files',
          sourceToolName: 'edit_file',
          action: 'apply',
          actor: 'human',
          reason: 'ok',
          outcome: 'applied',
          at,
          files: [],
        },
      ],
    });
  await storage.store.close();
  const file = path.join(storage.folder, 'storage', 'previews.jsonl');
  const what = `a start with ${PENDING} pending and ${LEDGER} decisions`;
  const log = openPreviewLog(file);
  const store = new PreviewStore(log, fail);
  const { entries, unreadable } = await log.load();
  await store.restoreInTurns(entries, unreadable);
  const begun = performance.now();
  const compact = async (): Promise<void> => void (await store.forgetResolved(new Date(0)));
  const longest = await longestWait(compact, computed);
  bench.row({
    what: `the compaction of ${PENDING} pending and ${LEDGER} decisions`,
    value: milliseconds(performance.now() - begun),
  });
  bench.within('longest block meanwhile, of its own computing', [longest], 50);
  if (!(await store.close())) throw new Error('it is not all written');
  const { ours, plain, memory, bare } = await bench.interleaved({
    ours: async () => (await started(opening(file))).cpu,
    plain: async () => (await started(reading(file))).cpu,
    memory: async () => (await started(opening(file))).megabytes,
    bare: async () => (await started(reading(file))).megabytes,
  });
  bench.against(`${what}: processor`, ours, { name: 'its lines as JSON', times: plain });
  bench.row({
    what: `${what}: memory`,
    value: `${median(memory).toFixed(0)} MB`,
    baseline: `its lines as JSON ${median(bare).toFixed(0)} MB`,
    ratio: median(memory) / median(bare),
    samples: { ours: memory, theirs: bare },
  });
}

/** What a process that does this and ends needs. */
async function started(script: string): Promise<{ readonly cpu: number; readonly megabytes: number }> {
  const end = `const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    console.log(JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, megabytes: maxRSS / 1024 }));`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, `${script}\n${end}`]);
  return JSON.parse(stdout) as { cpu: number; megabytes: number };
}

const sourceOf = (module: string): string =>
  JSON.stringify(path.join(import.meta.dirname, '..', 'src', 'agent', 'hold', 'preview', module));

const opening = (file: string): string => `
  const { openPreviewLog } = await import(${sourceOf('log/openPreviewLog.ts')});
  const { PreviewStore } = await import(${sourceOf('previewStore.ts')});
  const log = openPreviewLog(${JSON.stringify(file)});
  const store = new PreviewStore(log, error => { throw error; });
  const { entries, unreadable } = await log.load();
  await store.restoreInTurns(entries, unreadable);
  if (store.open.size !== ${PENDING}) throw new Error(String(store.open.size));`;

const reading = (file: string): string => `
  import { readFileSync } from 'node:fs';
  await import(${sourceOf('log/openPreviewLog.ts')});
  await import(${sourceOf('previewStore.ts')});
  const lines = readFileSync(${JSON.stringify(file)}, 'utf8').trimEnd().split('\\n').map(line => JSON.parse(line));
  if (lines.length < ${PENDING}) throw new Error(String(lines.length));`;

/** The processor time of the process since then, in milliseconds. */
function processorSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} KB`;
}

function fail(error: unknown): never {
  throw error;
}
