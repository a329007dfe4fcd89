/**
 * A turn with one small read in a real VS Code, with the chat hidden, beside a loop of nothing but requests and files in the same
 * host. `npm run bench -- turn-host`
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { TurnFigures } from './host/turn.ts';
import type { Bench } from './lib/bench.ts';
import { measureInHost } from './lib/inHost.ts';
import { startTurnServer } from './lib/turnServer.ts';

/** The most that a turn may take, in milliseconds. */
const TURN = 10;

export default async function turnHost(bench: Bench): Promise<void> {
  const server = await startTurnServer();
  try {
    const { ours, bare, oursCpu, bareCpu } = await measureInHost<TurnFigures>({
      script: 'turn.ts',
      rounds: bench.rounds,
      prepare: folder =>
        fs.writeFileSync(path.join(folder, 'a.ts'), 'export const value = compute();\n'.repeat(30)),
      env: { REDLINE_BENCH_SERVER: server.baseUrl },
    });
    bench.within('a turn with one read_file in VS Code, chat hidden', ours, TURN);
    bench.against('the same', ours, { name: 'bare openai in the same host', times: bare });
    bench.against('its processor time', oursCpu, { name: 'bare openai in the same host', times: bareCpu });
  } finally {
    await server.close();
  }
}
