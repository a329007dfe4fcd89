import { suite, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import type { SandboxEngine } from '../../../../src/agent/sandbox/commands/sandbox.ts';
import { onOtherMachine } from './otherMachine.ts';
import type { Asked, Told } from './otherMachineChild.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

const probed = await SandboxWorld.create('overlay');
const overlay = await probed.sandboxes.status();
await probed.remove();

/** With the state of the sandbox on a disk of its own of 48 MB and 2,000 files. */
async function onSmallDisk(...[t, engine, commands]: SmallDisk): Promise<readonly Told[]> {
  const make = 'mount -t tmpfs -o size=48m,nr_inodes=2k tmpfs "$1"';
  return (await onOtherMachine(t, make, engine, commands)).told;
}
type SmallDisk = [TestContext, SandboxEngine, readonly (string | Asked)[]];

/** The program meets the full disk itself, unless the machine is so slow that Redline has ended it before. */
function assertToldFull({ output, notes }: Partial<Told> = {}): void {
  if (notes?.[0] === 'It was ended because it filled the disk.') return;
  assert.match(output ?? '', /No space left on device/);
}

const FILL = 'head -c 60m /dev/zero';

for (const engine of ['overlay', 'copy'] as const)
  suite(`engine ${engine}, a disk that fills up`, () => {
    /** Where no user namespaces can be had, there is no small disk: a truth of this machine that the overlay's status names. */
    const cannot = overlay.engine === undefined;

    test('what a command fills is told, nothing on disk changes, and the next command works', async t => {
      if (cannot) return void assert.notEqual(overlay.why, undefined);
      const told = await onSmallDisk(t, engine, [
        `echo half > src/a.ts; ${FILL} > large; sleep 1; echo later`,
        'cat src/a.ts; ls',
        `mkdir out; ${FILL} > out/large`,
        { command: 'cat src/a.ts src/new.ts', pending: { 'src/new.ts': 1_000_000 } },
        `mkdir out; i=0; while : > out/$i; do i=$((i+1)); done 2>&1 | head -c 200`,
        { command: 'cat src/a.ts src/new.ts', pending: { 'src/new.ts': 'pending' } },
      ]);
      const [large, next, ignored, pending, many, last] = told;
      for (const { disk } of told) assert.equal(disk, '');
      assertToldFull(large);
      assert.deepEqual(large?.changes, ['src/a.ts: a => half']);
      assert.deepEqual(large.leftOut, [{ path: 'large', why: 'tooLarge' }]);
      assert.equal(next?.output, 'asrc\n');
      assertToldFull(ignored);
      assert.equal(pending?.output?.length, 1_000_001, pending?.error);
      assertToldFull(many);
      assert.equal(last?.output, 'apending', last?.error);
    });

    test('what does not fit is not run, that is said, and what fits then is run', async t => {
      if (cannot) return void assert.notEqual(overlay.why, undefined);
      const [first, next] = await onSmallDisk(t, engine, [
        { command: 'echo ran', pending: { large: 60_000_000 } },
        'cat src/a.ts',
      ]);
      assert.match(
        first?.error ?? '',
        engine === 'overlay'
          ? /^The sandbox cannot be made: ENOSPC: no space left on device[^/]*Nothing was run\.$/
          : /^The workspace cannot be copied: that needs 58 MB, and 4\d MB are free [^/]*Nothing was run\.$/,
      );
      assert.equal(next?.output, 'a');
    });
  });

test('a command that fills the disk of the overlay is ended, and what git ignores is freed', async t => {
  if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
  const [filled, slow, next] = await onSmallDisk(t, 'overlay', [
    `mkdir out; head -c 40m /dev/zero > out/x`,
    `mkdir out; head -c 40m /dev/zero > out/x; echo waits; sleep 900`,
    'ls; head -c 20m /dev/zero > /tmp/x && echo fits',
  ]);
  // It may be seen while it still runs.
  assert.match(filled?.notes?.[0] ?? '', /^It (was ended because it )?filled the disk\.$/);
  assert.equal(filled?.notes?.[1], 'Ignored files were removed from the sandbox to free the disk.');
  assert.equal(slow?.notes?.[0], 'It was ended because it filled the disk.');
  assert.equal(slow.ignored, 0);
  assert.equal(next?.output, 'src\nfits\n');
});

test('what does not fit in a copy is told before anything is lost, and a command that fills its disk is ended', async t => {
  if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
  const [, refused, next, filled, last] = await onSmallDisk(t, 'copy', [
    'mkdir out; head -c 5m /dev/zero >out/kept',
    { command: 'echo ran', pending: { large: 46_000_000 } },
    'ls out',
    'mkdir -p out; head -c 30m /dev/zero >out/x; echo waits; sleep 900',
    'ls; head -c 20m /dev/zero >out.log && echo fits',
  ]);
  assert.match(refused?.error ?? '', /that needs 44 MB, and 4\d MB are free/);
  assert.equal(next?.output, 'kept\n');
  assert.deepEqual(filled?.notes?.slice(0, 2), [
    'It was ended because it filled the disk.',
    'Ignored files were removed from the sandbox to free the disk.',
  ]);
  assert.equal(last?.output, 'src\nfits\n');
});
