/**
 * `npm run test:fuzz [-- <calls>]`: 100,000 random calls of all tools, valid, half-valid and hostile, in sandboxed workspaces
 * with links, odd names and large files, while a user votes, undoes and reverts. Fails if an exception escapes a tool, if
 * anything outside a workspace changes, if a change is in no ledger, or if our code blocks the event loop for more than 50 ms
 * of its own computing time. Run it on a quiet machine.
 *
 *   SEED=17 npm run test:fuzz -- 2000        replays one world, whose seed a failure names
 */
import { availableParallelism } from 'node:os';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNode } = await import('./lib/command.mjs');
const { cleanUp } = await import('./lib/cleanup.mjs');

const { SEED } = process.env;
const calls = Number(process.argv[2] ?? 100_000);
const processes = SEED === undefined ? Math.min(2, availableParallelism()) : 1;
const first = SEED === undefined ? Math.floor(Math.random() * 1_000_000) : Number(SEED);
const started = Date.now();

const statuses = await Promise.all(
  Array.from({ length: processes }, (_, n) => {
    const env = {
      CALLS: String(Math.ceil(calls / processes)),
      SEED: String(first),
      STEP: String(processes),
      AT: String(n),
    };
    return runNode(['--disable-warning=ExperimentalWarning', 'test/soak/fuzz.ts'], { env });
  }),
);
await cleanUp();
const failed = statuses.filter(status => status !== 0).length;
console.log(
  `fuzz: ${((Date.now() - started) / 1000).toFixed(0)} s, ${failed} of ${processes} processes failed`,
);
process.exitCode = failed === 0 ? 0 : 1;
