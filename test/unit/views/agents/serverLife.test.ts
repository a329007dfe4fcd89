import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerLife } from '../../../../src/views/agents/serverLife.ts';
import { Gate } from '../../../support/gate.ts';

test('a server that is asked for while the last one still ends is another one, and stays', async () => {
  const gate = new Gate();
  const closed: string[] = [];
  let begun = 0;
  const life = new ServerLife({
    server: () => {
      const name = `server ${++begun}`;
      return Promise.resolve({ name, close: () => gate.pass().then(() => void closed.push(name)) });
    },
    views: () => Promise.resolve({ close: () => Promise.resolve(void closed.push('views')) }),
  });
  const [first, views] = await Promise.all([life.server(), life.views()]);
  const stopping = life.stopServer();
  await gate.reached;
  const second = await life.server();
  gate.open();
  await stopping;
  assert.deepEqual([first.name, second.name, closed], ['server 1', 'server 2', ['server 1']]);
  assert.equal(await life.server(), second);
  assert.equal(await life.views(), views, 'agents at work in views go on without the server');
  await life.close();
  assert.deepEqual(closed, ['server 1', 'views', 'server 2']);
});

test('a server that did not start is not kept, and does not take the place of one that did', async () => {
  const failing = Promise.withResolvers<{ close: () => Promise<void> }>();
  const running = { close: () => Promise.resolve() };
  const servers = [failing.promise, Promise.resolve(running)];
  const life = new ServerLife({
    server: () => servers.shift() ?? assert.fail('one too many'),
    views: () => assert.fail('not asked for'),
  });
  const first = life.server();
  const stopping = life.stopServer();
  assert.equal(await life.server(), running);
  failing.reject(new Error('no port'));
  await assert.rejects(first);
  await assert.rejects(stopping);
  assert.equal(await life.server(), running);
});

test('the server is closed also if the views cannot be', async () => {
  let isClosed = false;
  const life = new ServerLife({
    server: () => Promise.resolve({ close: () => Promise.resolve(void (isClosed = true)) }),
    views: () => Promise.resolve({ close: () => Promise.reject(new Error('EIO')) }),
  });
  await Promise.all([life.server(), life.views()]);
  await assert.rejects(life.close(), /EIO/);
  assert.ok(isClosed);
});
