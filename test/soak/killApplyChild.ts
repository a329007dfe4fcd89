/**
 * Applies one preview after another until it is killed. Arguments: the folder that `preparedFolder` filled, and after how
 * many writes the process kills itself (0: never).
 */
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { draft } from '../support/drafts.ts';
import { changesOf, openWorkbench } from './killApplyWork.ts';

const { store, workspace, lock } = await openWorkbench(process.argv[2] ?? '');
if (!lock) throw new Error('another process holds the lock');
const write = workspace.write.bind(workspace);
let left = Number(process.argv[3]);
workspace.write = async (...what) => {
  const to = await write(...what);
  if (--left === 0) process.kill(process.pid, 'SIGKILL');
  return to;
};
const invoker = new Invoker(store, workspace, () => 'apply');
for (let n = 1; ; n++) {
  const { preview, stored } = store.stage(draft({ changes: changesOf(n) }));
  await stored;
  process.stdout.write('commit\n');
  await invoker.resolve({ id: preview.id, action: 'apply', reason: 'ok', actor: 'human' });
}
