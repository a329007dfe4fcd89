/**
 * What leaves the machine: nothing but requests to the chosen model. Everything that the Node processes of VS Code and the
 * pages of its window turn to is recorded while the core story is played; then somebody connects to a server that has
 * nothing to do with it, to show that this would have been seen.
 */
import assert from 'node:assert/strict';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { NetworkLog } from './support/network/networkLog.ts';
import { openStranger, type Stranger } from './support/network/stranger.ts';
import { startScriptedServer, type Script } from '../support/scriptedServer.ts';
import type { HostTools } from './support/driver.ts';
import { drivenTest, type DrivenWorkbench } from './support/drivenWorkbench.ts';
import { PageTraffic } from './support/pageTraffic.ts';

const CART = 'src/cart.ts';
const MONEY = 'src/money.ts';
const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';
const PATTERN = { pat: 'console.log($$$A)', out: 'logger.info($$$A)' };

const network = new NetworkLog();
const options = { env: network.env, pictures: inRepo('out', 'surface-pictures') };

/** The places that each extension host may have turned to, by its process. */
type Places = ReadonlyMap<number, readonly string[]>;

/**
 * Plays a story, and looks at what was connected to meanwhile. Then the extension host and the page connect to the
 * stranger, which has to be seen.
 */
function story(name: string, play: (driven: DrivenWorkbench, stranger: Stranger) => Promise<Places>): void {
  drivenTest(name, options, async driven => {
    const { page } = driven.workbench;
    const stranger = await openStranger();
    const traffic = new PageTraffic(page.context());
    try {
      await driven.reload(); // now that what the window loads is seen
      const places = await play(driven, stranger);
      for (const [pid, expected] of places) network.expect(pid, expected);
      const ours = new URL(page.url()).host;
      assert.deepEqual(await traffic.servers(), [ours]);
      assert.equal(stranger.visits, 0);

      const pid = await pidOf(driven);
      const [before, place] = [network.contacts(pid), `127.0.0.1:${stranger.port}`];
      await driven.run(async (_, url) => {
        await fetch(url).catch(() => undefined);
      }, `http://${place}`);
      assert.deepEqual(network.contacts(pid), [...before, `connect ${place}`]);
      assert.throws(() => network.expect(pid, before), /connect /);
      await page.evaluate(
        url => new Promise(resolve => (new WebSocket(url).onerror = () => resolve(undefined))),
        `ws://${place}`,
      );
      assert.deepEqual(await traffic.servers(), [ours, place]);
      assert.equal(stranger.visits, 2);
    } finally {
      traffic.close();
      stranger.close();
    }
  });
}

story('without a model, the core story sends nothing and connects to nothing', async driven => {
  const { workbench } = driven;
  const first = await pidOf(driven);
  const original = workbench.readFile(MONEY) ?? assert.fail('the example has money');

  await workbench.openRedlineChat();
  await workbench.sendChat(`/edit ${CART} :: ${OLD} => ${NEW}`);
  await workbench.lens('Apply').click();
  await workbench.waitForFile(CART, text => text?.includes(NEW) === true);
  await workbench.sendChat(`/edit ${MONEY} :: toFixed(2) => toFixed(4)`);
  await workbench.treeRow('2 → 4').waitFor();
  await workbench.sendChat('/write notes.md :: Not wanted.');
  await workbench.treeRow('Create notes.md').waitFor();
  await workbench.runCommand('Redline: Discard All Previews');
  await workbench.toast('Discarded 2 previews').waitFor();
  assert.equal(workbench.readFile(MONEY), original);

  await workbench.sendChat(`/replace ${PATTERN.pat} => ${PATTERN.out} in src/**/*.ts`);
  const structural = workbench.chatCard(`${PATTERN.pat} → ${PATTERN.out}`);
  await structural.getByRole('button', { name: /^Apply/ }).click();
  await workbench.waitForFile(MONEY, text => text?.includes('logger.info') === true);
  await workbench.sendChat('/call search_text {"query": "logger"}');
  await workbench.chatFrame().locator('pre').getByText('logger.info').last().waitFor();

  await workbench.sendChat('/write later.md :: Pending over the reload.');
  await workbench.treeRow('Create later.md').waitFor();
  await driven.reload();
  await workbench.openRedlineChat();
  await workbench.treeRow('Create later.md').waitFor();

  assert.ok(network.workers(first) > 0, 'the worker of ast_edit is recorded');
  return new Map([
    [first, []],
    [await pidOf(driven), []],
  ]);
});

story('with a model, the core story connects to its server only', async (driven, stranger) => {
  const { workbench } = driven;
  // Whoever fetches a picture that an answer or a file names tells its server what was read.
  const picture = `http://127.0.0.1:${stranger.port}/read.png`;
  const script: Script = [
    { toolCalls: [{ name: 'edit_file', arguments: { path: CART, edits: [{ old: OLD, new: NEW }] } }] },
    {
      toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: `It counts. ![](${picture})` } }],
    },
    { text: `Your turn. ![picture](${picture}) <img src="${picture}">` },
    { text: 'Applied, I see.' },
    { toolCalls: [{ name: 'ast_edit', arguments: { ops: [PATTERN], paths: ['src'] } }] },
    { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'As you asked.' } }] },
    { text: 'Look at it.' },
  ];
  const server = await startScriptedServer(script);
  try {
    await driven.run(async ({ vscode }, baseUrl) => {
      const settings = vscode.workspace.getConfiguration('redline');
      await settings.update('openai.baseUrl', baseUrl, vscode.ConfigurationTarget.Global);
      await settings.update('openai.model', 'scripted', vscode.ConfigurationTarget.Global);
      await settings.update('resolve.forcing', 'forced', vscode.ConfigurationTarget.Global);
    }, server.baseUrl);
    const first = await pidOf(driven);
    const log = workbench.chatFrame().locator('.log');
    await workbench.openRedlineChat();
    network.expect(first, []);

    await workbench.sendChat('Fix the total.');
    await log.getByText('Your turn.').waitFor();
    await workbench.lens('Apply').click();
    await workbench.waitForFile(CART, text => text?.includes(NEW) === true);
    await log.getByText('Applied, I see.').waitFor();
    await workbench.sendChat('Use the logger.');
    await log.getByText('Look at it.').waitFor();
    await workbench.runCommand('Redline: Discard All Previews');
    await log.getByText('Discarded by you').waitFor();
    await driven.reload();
    await workbench.openRedlineChat();
    await log.getByText('Look at it.').waitFor();

    assert.equal(server.requests.length, script.length);
    assert.deepEqual(server.violations, []);
    return new Map([
      [first, [`connect ${new URL(server.baseUrl).host}`]],
      [await pidOf(driven), []],
    ]);
  } finally {
    await server.close();
  }
});

/** Ways to the network from an extension host, each to a place of its own. Nothing listens there. */
const WAYS: readonly (readonly [place: string, go: (tools: HostTools) => Promise<unknown>])[] = [
  [
    'connect 127.0.0.2:9990',
    () => {
      const { connect } = process.getBuiltinModule('net');
      return new Promise<void>(resolve => connect(9990, '127.0.0.2').on('error', () => resolve()));
    },
  ],
  ['connect 127.0.0.3:9990', () => fetch('https://127.0.0.3:9990').catch(() => undefined)],
  ['lookup localhost', () => process.getBuiltinModule('dns').promises.lookup('localhost')],
  [
    'lookup name.invalid',
    () => {
      const { Resolver } = process.getBuiltinModule('dns').promises;
      const resolver = new Resolver({ timeout: 100, tries: 1 });
      resolver.setServers(['127.0.0.1:9990']);
      return resolver.resolveTxt('name.invalid').catch(() => undefined);
    },
  ],
  [
    'datagram 127.0.0.4:9990',
    () => {
      const socket = process.getBuiltinModule('dgram').createSocket('udp4');
      return new Promise<void>(resolve => socket.send('?', 9990, '127.0.0.4', () => socket.close(resolve)));
    },
  ],
  [
    'connect 127.0.0.5:9990',
    () => {
      const { Worker } = process.getBuiltinModule('worker_threads');
      const code = `require('net').connect(9990, '127.0.0.5').on('error', () => {})`;
      return new Promise(resolve => new Worker(code, { eval: true }).on('exit', resolve));
    },
  ],
  [
    'connect 127.0.0.6:9990',
    () => {
      const { execFile } = process.getBuiltinModule('child_process');
      const code = `require('net').connect(9990, '127.0.0.6').on('error', () => {})`;
      return new Promise<void>(resolve => execFile(process.execPath, ['-e', code], () => resolve()));
    },
  ],
];

drivenTest(
  'whatever way code of an extension host takes to the network is recorded',
  options,
  async driven => {
    const pid = await pidOf(driven);
    const places = network.contacts(pid);
    for (const [place, go] of WAYS) {
      await driven.run(go);
      places.push(place);
      assert.deepEqual(network.contacts(pid), places);
    }
  },
);

function pidOf(driven: DrivenWorkbench): Promise<number> {
  return driven.run(() => process.pid);
}
