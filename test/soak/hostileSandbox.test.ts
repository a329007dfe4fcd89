import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { HOSTILE, livingIn, WAYS } from '../support/hostile.ts';
import { bytesIn, SandboxWorld } from '../support/sandboxWorld.ts';

/** `npm run test:kill-sandbox -- hostile` sets a larger number. */
const rounds = Number(process.env['REDLINE_KILLS'] ?? 10);

/** How many files and folders change places with links that lead outside. */
const PAIRS = 30;
const DEEDS = ['exchange', 'beat'] as const;

const world = await SandboxWorld.create('overlay', { file: 'in\n' });
const { isolated } = await world.sandboxes.status();
const victim = path.join(os.homedir(), `.redline-victim-${process.pid}`);

/** The command: it makes what is exchanged, lets the program go on, and ends. */
function commandOf(round: number): string {
  const [way, deed] = [WAYS[round % WAYS.length], DEEDS[Math.floor(round / WAYS.length) % DEEDS.length]];
  const make = `mkdir -p f l d m /tmp/d /tmp/m out; i=0; while [ $i -lt ${PAIRS} ]; do
    echo x > f/$i; ln -s '${victim}/0' l/$i; mkdir -p d/$i /tmp/d/$i; ln -s '${victim}' m/$i; ln -s '${victim}' /tmp/m/$i; i=$((i+1)); done`;
  return `${make}; perl hostile.pl ${way} ${deed} ${PAIRS} '${world.at('out/beat')}'; sleep 0.0${round % 10}`;
}

test(`${rounds} hostile commands in the overlay: nothing outlives them, is read or removed`, async () => {
  // Where there is none, nothing runs in it: a truth of this machine that the test of the engines names.
  if (!isolated) return;
  fs.mkdirSync(victim);
  for (let n = 0; n < 20; n++) fs.writeFileSync(path.join(victim, String(n)), 'SECRET', { mode: 0o600 });
  fs.copyFileSync(HOSTILE, world.at('hostile.pl'));
  try {
    for (let round = 0; round < rounds; round++) {
      const { effects } = await world.run(commandOf(round));
      assert.deepEqual(livingIn(world.temp.root), [], `round ${round}`);
      assert.ok(
        effects.some(({ path: at }) => /^f\//.test(at)),
        'it did what it should',
      );
      for (const { path: at, theirs } of effects)
        if (theirs && !('link' in theirs)) assert.doesNotMatch(bytesIn(theirs).toString(), /SECRET/, at);
      assert.equal(fs.readdirSync(victim).length, 20, `round ${round}`);
    }
  } finally {
    fs.rmSync(victim, { recursive: true });
    await world.remove();
  }
});
