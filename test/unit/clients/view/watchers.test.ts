/** Programs that watch the files of a view, and were started before something is decided. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { suite, test } from 'node:test';
import { whyNoOverlay } from '../../../../src/agent/sandbox/view/sandboxes.ts';
import { ViewWorld, type ShellAgent } from '../../../support/viewWorld.ts';

const LISTENER = `
const fs = require('node:fs');
fs.watch('src', (kind, name) => {
  let text = 'gone';
  try { text = fs.readFileSync('src/' + name, 'utf8').trim(); } catch {}
  console.log(name + ': ' + text);
});
console.log('ready');
`;

/** Waits in the view until a log has a line. */
async function until(agent: ShellAgent, log: string, line: string): Promise<void> {
  await agent.run(`until grep -qxF '${line}' ${log}; do sleep 0.05; done`);
}

/** Whether this machine can mount views at all; where it cannot, that nothing is started is shown beside. */
const probed = await ViewWorld.create();
fs.mkdirSync(probed.storage, { recursive: true });
const obstacle = await whyNoOverlay([{ name: 'w', fsPath: probed.root }], probed.storage);
await probed.remove();

suite('what is decided reaches programs that watch a view', { skip: obstacle !== undefined }, () => {
  test('node --watch starts again once, and a listener hears of whole files by their names alone', async t => {
    const files = { 'src/main.mjs': "console.log('was')\n", 'listen.cjs': LISTENER };
    const world = await ViewWorld.create(files);
    t.after(() => world.remove());
    const agent = world.start();
    await agent.run(`echo "console.log('new')" > src/main.mjs; echo extra > src/extra.txt`);
    await world.previews(1);
    await agent.run(`node --watch --watch-preserve-output src/main.mjs > run.log 2>&1 &`);
    await agent.run(`node listen.cjs > heard.log 2>&1 &`);
    await until(agent, 'run.log', 'new');
    await until(agent, 'heard.log', 'ready');
    await world.vote('p1', 'discard');
    await world.rest();
    await until(agent, 'run.log', 'was');
    await until(agent, 'heard.log', 'extra.txt: gone');
    await agent.run('echo end > src/end.txt');
    await until(agent, 'heard.log', 'end.txt: end');
    const runs = await agent.run("grep -xE 'new|was' run.log");
    assert.deepEqual(runs.split('\n'), ['new', 'was']);
    const heard = new Set((await agent.run('grep -v ^end heard.log')).split('\n'));
    assert.deepEqual([...heard].sort(), ['extra.txt: gone', "main.mjs: console.log('was')", 'ready']);
    await agent.exit();
  });
});
