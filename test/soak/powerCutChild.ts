/**
 * Stages, applies and undoes previews at random until the power goes. Arguments: the folder that holds the workspace and the
 * storage, and a seed. Prints a {@link PowerEvent} a line.
 */
import { writeSync } from 'node:fs';
import type { FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { inverseOf } from '../../src/agent/hold/preview/undo.ts';
import { create, modify, remove, rename } from '../support/changes.ts';
import { draft } from '../support/drafts.ts';
import { Random } from '../support/fuzz/random.ts';
import { openWorkbench } from './killApplyWork.ts';
import { startOf, type PowerEvent, type Texts } from './powerCut.ts';

const [folder = '', seed = ''] = process.argv.slice(2);
const random = new Random(Number(seed));
const below = (count: number): number => random.below(count);
const { store, workspace, log } = await openWorkbench(folder);
const tell = (event: PowerEvent): void => void writeSync(1, `${JSON.stringify(event)}\n`);
const flush = log.flush.bind(log);
const staged: string[] = [];
log.flush = async () => {
  const ids = staged.splice(0);
  await flush();
  tell({ type: 'flushed', ids });
};
const invoker = new Invoker(store, workspace, () => 'apply');
const files = new Map(Object.entries(startOf()));
const done: (readonly FileChange[])[] = [];

const textOf = (): string => `${'some text '.repeat(below(9))}\n`.repeat(1 + below(900));

/** A change of each kind, on files that no other change of the preview names. */
function changesNow(): readonly FileChange[] {
  const paths = [...files.keys()].sort(() => random.next() - 0.5);
  return Array.from({ length: 1 + below(4) }, (_, n): FileChange => {
    const path = paths[n] ?? '';
    const text = files.get(path) ?? '';
    const kind = below(paths.length > 6 ? 5 : 3);
    if (path === '' || kind === 0) return create(`new${below(1e9)}/f${n}.txt`, textOf());
    if (kind === 3) return remove(path, text);
    if (kind === 4) return rename(path, `to${below(1e9)}.txt`, text, below(2) ? text : textOf());
    return modify(path, text, kind === 1 ? text.replaceAll('some', 'SOME') + 'x' : textOf());
  });
}

function take(changes: readonly FileChange[]): void {
  for (const change of changes) {
    files.delete(change.kind === 'rename' ? change.from : change.path);
    if (change.after && 'text' in change.after) files.set(change.path, change.after.text);
  }
}

for (;;) {
  const last = below(4) === 0 ? done.pop() : undefined;
  const changes = last ? inverseOf(last) : changesNow();
  const { preview, stored } = store.stage(draft({ changes }));
  await stored;
  staged.push(preview.id);
  if (!last && below(3) === 0) continue; // it stays pending
  take(changes);
  if (!last) done.push(changes);
  const state: Texts = Object.fromEntries(files);
  tell({ type: 'applying', id: preview.id, state });
  await invoker.resolve({ id: preview.id, action: 'apply', reason: 'ok', actor: 'human' });
  tell({ type: 'applied', id: preview.id });
}
