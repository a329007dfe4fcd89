import { test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { CurrentTool } from '../../../../../src/agent/session/tools/custom/currentTool.ts';
import { guardExit } from '../../../../../src/agent/session/tools/custom/exitGuard.ts';
import { ToolOwner } from '../../../../../src/agent/session/tools/custom/toolOwner.ts';

/** A process that only records its calls. */
function fakeProcess() {
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...args: unknown[]): never =>
      void calls.push([name, ...args]) as never;
  return { calls, target: { exit: note('exit'), abort: note('abort'), kill: note('kill') } };
}
const ownerOf = (file: string): ToolOwner =>
  new ToolOwner({ kind: 'file', file, source: '' }, silentLogger, () => undefined);

test('a tool cannot end the process by any call at any time, and its owner gets the fault', async () => {
  const { calls, target } = fakeProcess();
  const currentTool = new CurrentTool();
  guardExit(currentTool, target);
  const owner = ownerOf('/t.js');
  await currentTool.run(owner, undefined, async () => {
    assert.throws(
      () => target.exit(3),
      /^ToolError: The tool called process\.exit\(3\), which would end all/,
    );
    await new Promise(resolve => setTimeout(resolve, 1));
    assert.throws(() => target.abort(), /process\.abort\(\)/);
    await new Promise<void>(resolve =>
      setTimeout(() => {
        assert.throws(() => target.kill(process.pid, 'SIGTERM'), /process\.kill\(process\.pid, SIGTERM\)/);
        resolve();
      }, 1),
    );
  });
  assert.deepEqual(calls, []);
  assert.deepEqual(
    owner.problems.map(({ fault }) => fault),
    ['process.exit(3)', 'process.abort()', 'process.kill(process.pid, SIGTERM)'].map(call => ({
      kind: 'exitCalled',
      call,
    })),
  );
});

test('a tool cannot end the process as part of its group', () => {
  const { calls, target } = fakeProcess();
  const currentTool = new CurrentTool();
  guardExit(currentTool, target);
  for (const pid of [0, -process.pid])
    currentTool.run(ownerOf('/t.js'), undefined, () =>
      assert.throws(() => target.kill(pid, 'SIGKILL'), /process\.kill\(-?\d+, SIGKILL\)/),
    );
  assert.deepEqual(calls, []);
});

test('a tool may test for a process and end another one; other code is not blocked', () => {
  const { calls, target } = fakeProcess();
  const currentTool = new CurrentTool();
  const guard = guardExit(currentTool, target);
  currentTool.run(ownerOf('/t.js'), undefined, () => {
    target.kill(process.pid, 0);
    target.kill(1, 'SIGTERM');
  });
  target.exit(0);
  guard.dispose();
  target.exit(1);
  assert.deepEqual(calls, [
    ['kill', process.pid, 0],
    ['kill', 1, 'SIGTERM'],
    ['exit', 0],
    ['exit', 1],
  ]);
});
