import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchPage, type Network } from '../../../../../src/agent/session/tools/web/fetchPage.ts';
import { fetchUrlTool } from '../../../../../src/agent/session/tools/web/fetchUrl.ts';
import type { HostConsent } from '../../../../../src/agent/session/tools/web/fetchPage.ts';
import { isPublicAddress } from '../../../../../src/agent/session/tools/web/publicAddress.ts';
import { ToolHarness } from '../../../../support/toolHarness.ts';

type Reply = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** A server on this machine. Names that end with `.test` lead to it; they count as public unless they begin with `private`. */
async function setUp(t: TestContext, reply: Reply, answer: (host: string) => boolean = () => true) {
  const requests: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    reply(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const asked: string[] = [];
  const looked: string[] = [];
  const named = new Set<string>();
  const consent: HostConsent = {
    isAvailable: () => true,
    isNamed: host => named.has(host),
    ask: host => {
      asked.push(host.replace(`:${port}`, ''));
      return Promise.resolve(answer(host));
    },
  };
  let isPrivate = false;
  const network: Network = {
    resolve: host => {
      looked.push(host);
      isPrivate = host.startsWith('private');
      return host.endsWith('.test')
        ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
        : Promise.reject(new Error('ENOTFOUND'));
    },
    isPublic: address => (address === '127.0.0.1' && !isPrivate) || isPublicAddress(address),
  };
  const controller = new AbortController();
  const read = (path: string, host = 'one.test'): Promise<string> =>
    fetchPage(
      path.startsWith('http') ? path : `http://${host}:${port}${path}`,
      consent,
      controller.signal,
      network,
    );
  return { read, requests, asked, looked, named, port, controller };
}

const page: Reply = (_, response) =>
  void response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    .end(
      '<title>T</title><body><h1>Hello</h1><script>x</script><p>a &amp; b <a href="/more">more</a>\n```\n',
    );

test('a page is read as text, in a fence that it cannot end, once the user allows its host', async t => {
  const { read, asked, requests, port } = await setUp(t, page);
  assert.equal(
    await read('/a#part'),
    [
      `The text of http://one.test:${port}/a (asked for as http://one.test:${port}/a#part).`,
      '````',
      'T',
      '',
      '# Hello',
      '',
      `a & b more (http://one.test:${port}/more) \`\`\``,
      '````',
    ].join('\n'),
  );
  assert.deepEqual(asked, ['one.test']);
  const [{ method, url, headers } = assert.fail()] = requests;
  assert.deepEqual([method, url, headers.cookie, headers.authorization], ['GET', '/a', undefined, undefined]);
});

test('a host that the user refuses gets nothing, and its name is not even looked up', async t => {
  const { read, requests, looked } = await setUp(t, page, () => false);
  await assert.rejects(read('/a'), /The user does not let you read one\.test:\d+\. Nothing was sent to it\./);
  assert.deepEqual([requests, looked], [[], []]);
});

test('a redirect to another host asks again, one on the same host does not', async t => {
  const { read, asked, requests } = await setUp(t, (request, response) => {
    const to = { '/a': '/b', '/b': `http://two.test:${request.socket.localPort}/c` }[request.url ?? ''];
    if (to) response.writeHead(302, { location: to }).end();
    else page(request, response);
  });
  assert.match(await read('/a'), /^The text of http:\/\/two\.test/);
  assert.deepEqual(asked, ['one.test', 'two.test']);
  const refusing = await setUp(
    t,
    (request, response) =>
      void response.writeHead(302, { location: `http://two.test:${request.socket.localPort}/` }).end(),
    host => host.startsWith('one'),
  );
  await assert.rejects(refusing.read('/a'), /does not let you read two\.test/);
  assert.equal(refusing.requests.length, 1);
  assert.equal(requests.length, 3);
  const loop = await setUp(t, (_, response) => void response.writeHead(301, { location: '/again' }).end());
  await assert.rejects(loop.read('/a'), /redirects more than 5 times/);
});

test('what is on this machine or in a private network is read only if the user named it', async t => {
  const { read, asked, named, requests, port } = await setUp(t, page);
  for (const url of [
    ...['http://localhost/', 'http://a.localhost/', 'http://0.0.0.0/', 'http://[::1]/', 'http://10.0.0.1/'],
    ...[
      'http://192.168.1.1/',
      'http://169.254.169.254/latest/meta-data',
      'http://[fe80::1]/',
      'http://[fd00::1]/',
    ],
    ...[
      'http://[::ffff:10.0.0.1]/',
      'http://0x0a000001/',
      'http://167772161/',
      'http://172.16.0.1/',
      'http://0/',
    ],
  ])
    await assert.rejects(read(url), /is on this machine or in a private network/, url);
  assert.deepEqual(asked, [], 'nobody is asked about these');
  await assert.rejects(
    read('/a', 'private.test'),
    /private\.test:\d+ is on this machine or in a private network/,
  );
  assert.equal(requests.length, 0);
  named.add(`private.test:${port}`);
  assert.match(await read('/a', 'private.test'), /# Hello/);
  assert.deepEqual(asked, ['private.test'], 'the named host is read without a question');
});

test('which addresses are public', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])
    assert.ok(isPublicAddress(address), address);
  for (const address of [
    ...[
      '127.0.0.1',
      '10.1.2.3',
      '172.31.255.255',
      '192.168.0.1',
      '169.254.1.1',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
    ],
    ...[
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
      'fc00::1',
      '::ffff:8.8.8.8',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      'x',
      '',
    ],
  ])
    assert.ok(!isPublicAddress(address), address);
});

test('what is no text, too long, packed, an error or no address of the web is said', async t => {
  const { read } = await setUp(t, ({ url }, response) => {
    switch (url) {
      case '/image':
        return void response.writeHead(200, { 'content-type': 'image/png' }).end('x');
      case '/none':
        return void response.writeHead(404, { 'content-type': 'text/plain' }).end('x');
      case '/packed':
        return void response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end('x');
      case '/latin':
        return void response
          .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
          .end(Buffer.from([0xe9]));
      case '/page':
        return void response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(Buffer.from('<meta charset="windows-1252"><p>caf\xe9 \x80', 'latin1'));
      case '/json':
        return void response.writeHead(200, { 'content-type': 'application/vnd.x+json' }).end('{"a":1}');
      default: {
        response.writeHead(200, { 'content-type': 'text/plain' });
        const more = (): boolean => response.write('x'.repeat(64 * 1024));
        response.on('drain', more);
        while (more());
      }
    }
  });
  await assert.rejects(read('/image'), /is "image\/png", not text\.$/);
  await assert.rejects(read('/none'), /answered with the status 404\.$/);
  await assert.rejects(read('/packed'), /compressed content \(gzip\), which is not read\.$/);
  assert.match(await read('/latin'), /\n```\né\n```$/);
  assert.match(await read('/page'), /\n```\ncafé €\n```$/);
  assert.match(await read('/json'), /\{"a":1\}/);
  const endless = await read('/endless');
  assert.match(endless, /Only its beginning is shown\./);
  assert.ok(endless.length < 31_000);
  for (const url of ['file:///etc/passwd', 'ftp://x/', 'http://', 'no address', 'javascript:1'])
    await assert.rejects(read(url.replace(/^(?!http)/, 'http-not:').replace('http-not:', '')), /./, url);
  await assert.rejects(read('http://user:secret@one.test/'), /must not contain a user name or a password/);
  await assert.rejects(read('/a', 'nowhere.example'), /nowhere\.example:\d+ was not found/);
});

test('Stop ends it', async t => {
  const { read, controller, requests } = await setUp(t, () => controller.abort());
  await assert.rejects(read('/hangs'), { name: 'AbortError' });
  assert.equal(requests.length, 1);
});

test('it is not offered where the workspace is not trusted', () => {
  let isTrusted = false;
  const tool = fetchUrlTool({
    isAvailable: () => isTrusted,
    isNamed: () => false,
    ask: () => Promise.resolve(true),
  });
  assert.equal(tool.isEnabled?.(), false);
  isTrusted = true;
  assert.equal(tool.isEnabled?.(), true);
});

test('only addresses with http and https are taken', async () => {
  const never: HostConsent = {
    isAvailable: () => true,
    isNamed: () => false,
    ask: () => assert.fail('nobody is asked'),
  };
  const harness = new ToolHarness({}, [fetchUrlTool(never)]);
  for (const url of ['file:///etc/passwd', 'ftp://x/', 'no address', 'javascript:1', 'data:text/plain,x'])
    assert.match(
      (await harness.run('fetch_url', { url })).content,
      /is not an http or https address\.$/,
      url,
    );
});
