/** An agent at a terminal hears Ctrl+C, and the end of the terminal, as it would without Redline. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import { mountFor, whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { ViewWorld } from '../../../support/viewWorld.ts';

const CTRL_C = '\x03';
/** Goes on after Ctrl+C, and takes its time to end when its terminal is closed, or when it is told to end. */
const CAREFUL = `#!/bin/sh
trap 'echo caught' INT
trap 'echo resized' WINCH
trap 'sleep 0.5; echo closed > closed.ts; exit 7' HUP
trap 'sleep 0.5; echo told > told.ts; exit 8' TERM
[ ! -t 0 ] || stty rows 31 cols 99
echo ready
while :; do sleep 0.05; done
`;

const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

for (const mount of obstacle ? (['copy'] as const) : (['overlay', 'copy'] as const))
  suite(`the terminal of an agent (${mount})`, { skip: process.platform !== 'linux' && 'Linux only' }, () => {
    async function opened(t: TestContext): Promise<{ world: ViewWorld; careful: string }> {
      const world: ViewWorld = await ViewWorld.create(
        { 'agent.sh': CAREFUL },
        { mount: () => mountFor([{ name: 'w', fsPath: world.root }], world.storage, mount) },
      );
      t.after(() => world.remove());
      fs.chmodSync(world.at('agent.sh'), 0o755);
      return { world, careful: world.at('agent.sh') };
    }

    test('Ctrl+C and a new size are its own: it goes on, or ends as it does without Redline', async t => {
      const { world, careful } = await opened(t);
      const agent = world.startAtTerminal(careful);
      await agent.wrote('ready');
      await agent.wrote('resized');
      agent.type(CTRL_C);
      await agent.wrote('caught');
      agent.type(CTRL_C);
      await agent.wrote('caught\r\n^Ccaught');
      const plain = world.startAtTerminal('/bin/cat');
      await plain.wrote('in REDLINE.md.');
      plain.type('here\n');
      await plain.wrote('here\r\nhere');
      plain.type(CTRL_C);
      assert.equal(await plain.ended, 130);
    });

    test('a closed terminal leaves it its time, and what it writes then is taken', async t => {
      const { world, careful } = await opened(t);
      const agent = world.startAtTerminal(careful);
      await agent.wrote('ready');
      const [run = 0] = agent.children;
      agent.kill();
      await agent.ended;
      // A window of a terminal that is being closed may have been resized just before.
      process.kill(run, 'SIGWINCH');
      assert.deepEqual(await world.previews(1), ['agent.sh: closed.ts: ∅ => closed']);
    });

    test('told to end, it has its time', async t => {
      const { world, careful } = await opened(t);
      const agent = world.start(careful);
      await agent.wrote('ready');
      agent.signal('SIGTERM');
      assert.equal(await agent.ended, 8);
      assert.deepEqual(await world.previews(1), ['agent.sh: told.ts: ∅ => told']);
    });
  });
