import * as fs from 'node:fs';
import * as path from 'node:path';
import { ProcessLock } from '../../src/agent/base/processLock.ts';
import type { FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import { openPreviewLog } from '../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { inverseOf } from '../../src/agent/hold/preview/undo.ts';
import { create, modify, remove, rename } from '../support/changes.ts';
import { DiskWorkspace } from '../support/diskWorkspace.ts';

/** One file is so large that a kill can tear the write. */
const linesOf = (i: number): number => (i === 1 ? 200_000 : 40);
const old = (i: number): string => `file ${i}\n${'line\n'.repeat(linesOf(i))}`;
const changed = (i: number): string => `FILE ${i}\n${'LINE\n'.repeat(linesOf(i))}more\n`;
const count = Array.from({ length: 30 }, (_, i) => i);
const few = count.slice(0, 5);

/** What odd previews do and even ones undo: every kind of change, new folders, an executable file. */
const changes: readonly FileChange[] = [
  ...count.map(i => modify(`f${i}.txt`, old(i), changed(i))),
  ...few.map(i => create(`new/deep/c${i}.txt`, `new ${i}\n`)),
  ...few.map(i => remove(`d${i}.txt`, old(i))),
  ...few.map(i => rename(`r${i}.sh`, `moved/r${i}.sh`, old(i), changed(i))),
];

/** How many writes an apply of them takes: two for each rename. */
export const WRITES = changes.length + few.length;

/** What the workspace holds before an odd preview and before an even one, as `snapshotOf` describes it. */
export function statesOf(): { odd: Record<string, string>; even: Record<string, string> } {
  const odd: [string, string][] = [
    ...count.map((i): [string, string] => [`f${i}.txt`, `644 ${old(i)}`]),
    ...few.map((i): [string, string] => [`d${i}.txt`, `644 ${old(i)}`]),
    ...few.map((i): [string, string] => [`r${i}.sh`, `755 ${old(i)}`]),
    ['moved', 'empty folder'],
    ['new/deep', 'empty folder'],
  ];
  const even: [string, string][] = [
    ...count.map((i): [string, string] => [`f${i}.txt`, `644 ${changed(i)}`]),
    ...few.map((i): [string, string] => [`new/deep/c${i}.txt`, `644 new ${i}\n`]),
    ...few.map((i): [string, string] => [`moved/r${i}.sh`, `755 ${changed(i)}`]),
  ];
  const sorted = (rows: [string, string][]) => Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
  return { odd: sorted(odd), even: sorted(even) };
}

/** Creates the files as they are before the first preview. Returns the workspace folder. */
export function preparedFolder(folder: string): string {
  process.umask(0o022);
  const root = path.join(folder, 'workspace');
  // These existed before, so that they stay when they are empty.
  for (const kept of ['new/deep', 'moved']) fs.mkdirSync(path.join(root, kept), { recursive: true });
  for (const i of count) fs.writeFileSync(path.join(root, `f${i}.txt`), old(i));
  for (const i of few) fs.writeFileSync(path.join(root, `d${i}.txt`), old(i));
  for (const i of few) fs.writeFileSync(path.join(root, `r${i}.sh`), old(i), { mode: 0o755 });
  return root;
}

/** What the extension opens at activation, without a window. */
export async function openWorkbench(folder: string) {
  const lock = await ProcessLock.take(path.join(folder, 'window.lock'), 0);
  const log = openPreviewLog(path.join(folder, 'previews.jsonl'));
  const { entries, unreadable } = await log.load();
  const store = new PreviewStore(log, error => {
    throw error;
  });
  store.restore(entries, unreadable);
  return { lock, log, store, workspace: new DiskWorkspace(path.join(folder, 'workspace')) };
}

/** The changes of the n-th preview, counted from 1. */
export function changesOf(n: number): readonly FileChange[] {
  return n % 2 === 1 ? changes : inverseOf(changes);
}
