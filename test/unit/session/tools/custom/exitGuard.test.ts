import { test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { CurrentTool } from '../../../../../src/agent/session/tools/custom/currentTool.ts';
import { guardExit } from '../../../../../src/agent/session/tools/custom/exitGuard.ts';
import { ToolOwner } from '../../../../../src/agent/session/tools/custom/toolOwner.ts';

/** A process that only records its calls. */
function fakeProcess() {
  const calls: unknown[] = [];
  return { calls, target: { exit: (code?: unknown): never => void calls.push(code) as never } };
}
const ownerOf = (file: string): ToolOwner =>
  new ToolOwner({ kind: 'file', file, source: '' }, silentLogger, () => undefined);

test('a tool cannot end the process at any time, and its owner gets the fault', async () => {
  const { calls, target } = fakeProcess();
  const currentTool = new CurrentTool();
  guardExit(currentTool, target);
  const owner = ownerOf('/t.js');
  await currentTool.run(owner, undefined, async () => {
    assert.throws(
      () => target.exit(3),
      /^ToolError: The tool called process\.exit\(3\), which would end all/,
    );
    await new Promise<void>(resolve =>
      setTimeout(() => {
        assert.throws(() => target.exit(), /process\.exit\(\)/);
        resolve();
      }, 1),
    );
  });
  assert.deepEqual(calls, []);
  assert.deepEqual(
    owner.problems.map(({ fault }) => fault),
    ['process.exit(3)', 'process.exit()'].map(call => ({ kind: 'exitCalled', call })),
  );
});

test('other code is not blocked, nor is anything once the guard has gone', () => {
  const { calls, target } = fakeProcess();
  const guard = guardExit(new CurrentTool(), target);
  target.exit(0);
  guard.dispose();
  target.exit(1);
  assert.deepEqual(calls, [0, 1]);
});
