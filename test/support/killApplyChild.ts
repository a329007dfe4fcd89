/** Applies one preview after the other until it is killed. Argument: the folder that `preparedFolder` made. */
import { Invoker } from '../../src/agent/preview/invoker.ts';
import { draft } from './drafts.ts';
import { changesOf, openWorkbench } from './killApplyWork.ts';

const { store, workspace, lock } = await openWorkbench(process.argv[2] ?? '');
if (!lock) throw new Error('another process holds the lock');
const invoker = new Invoker(store, workspace, () => 'apply');
for (let n = 1; ; n++) {
  const { preview, stored } = store.stage(draft({ changes: changesOf(n) }));
  await stored;
  process.stdout.write('landing\n');
  await invoker.resolve({ id: preview.id, action: 'apply', reason: 'ok', actor: 'human' });
}
