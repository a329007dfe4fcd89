import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { GeminiCompanion } from '../../../../src/agent/clients/companions/gemini/geminiCompanion.ts';
import { GeminiClient } from '../../../support/companionClients.ts';
import { CompanionWorld, LINES, shouting } from '../../../support/companionWorld.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
const real = { tmp: process.env['TMPDIR'], home: process.env['HOME'] };
process.env['TMPDIR'] = await temp.folder('tmp');
process.env['HOME'] = await temp.folder('home');
const cleanUps: (() => Promise<unknown>)[] = [];

after(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  Object.assign(process.env, { TMPDIR: real.tmp, HOME: real.home });
  await temp.remove();
});

let count = 0;
let world: CompanionWorld;
beforeEach(async () => {
  world = new CompanionWorld(await temp.folder(`workspace${++count}`));
  world.put('a.txt', LINES);
});

interface Connected {
  readonly companion: GeminiCompanion;
  readonly agent: GeminiClient;
  readonly token: string;
}

async function connect(id: 'gemini' | 'qwen' = 'gemini'): Promise<Connected> {
  const companion = await GeminiCompanion.start(id, world.host);
  cleanUps.push(() => companion.close());
  await companion.announce();
  const token = wordOf(companion)['authToken'] as string;
  const agent = await GeminiClient.to(companion.port, token);
  cleanUps.push(() => agent.close());
  return { companion, agent, token };
}

const geminiFolder = (): string => temp.at('tmp', 'gemini', 'ide');

function fileOf({ port }: Pick<GeminiCompanion, 'port'>): string {
  const folders = [geminiFolder(), temp.at('home', '.qwen', 'ide')];
  for (const folder of folders) {
    const name = namesIn(folder).find(each => each.includes(String(port)));
    if (name !== undefined) return path.join(folder, name);
  }
  return assert.fail('not announced');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const wordOf = (companion: Pick<GeminiCompanion, 'port'>): Record<string, unknown> =>
  JSON.parse(readFileSync(fileOf(companion), 'utf8')) as Record<string, unknown>;

test('an apply sends the text, the agent writes it, and the ledger says so', async () => {
  const { agent } = await connect();
  const proposed = shouting(LINES, 2, 28);
  assert.deepEqual((await agent.openDiff(world.file('a.txt'), proposed)).content, []);
  const { label, origin, agentWrites, kind } = world.pending;
  assert.deepEqual(
    [label, origin?.agent?.name, agentWrites, kind],
    ['Edit a.txt', 'Gemini CLI', true, 'files'],
  );
  assert.equal(world.text('a.txt'), LINES, 'nothing is written before a person applies');
  const told = world.vote('apply');
  assert.equal(await agent.accepted(), proposed);
  assert.equal(world.text('a.txt'), LINES, 'Redline does not write it');
  assert.equal(world.state().kind, 'applying', 'until the disk holds it');
  world.put('a.txt', proposed);
  assert.match(await told, /^Applied: Edit a\.txt\. Reason: as I like$/);
  assert.deepEqual(world.ledger, ['p1 human apply applied']);
});

test('a discard tells the agent to write nothing', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await world.vote('discard');
  assert.deepEqual(await agent.note('ide/diffRejected'), { filePath: world.file('a.txt') });
  assert.deepEqual(world.ledger, ['p1 human discard discarded']);
});

test('what the person edited in the proposal is what the agent is told to write', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), shouting(LINES, 2));
  await world.edit(`${shouting(LINES, 2)}mine\n`);
  const told = world.vote('apply');
  const content = await agent.accepted();
  assert.equal(content, `${shouting(LINES, 2)}mine\n`);
  world.put('a.txt', content);
  await told;
  assert.equal(world.state().kind, 'applied');
});

test('one hunk of three applied and the others discarded: one answer, with that hunk', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), shouting(LINES, 2, 15, 28));
  assert.match(await world.voteHunk('apply', 1), /^p2 .* is applied once the rest of its diff is decided/);
  assert.equal(world.state('p2').kind, 'pending', 'it is not on the disk, and nothing says that it is');
  await world.voteHunk('discard', 0);
  assert.deepEqual(
    agent.notes.all.filter(({ method }) => method !== 'ide/contextUpdate'),
    [],
  );
  const last = world.vote('discard');
  const content = await agent.accepted();
  assert.equal(content, shouting(LINES, 15));
  world.put('a.txt', content);
  await last;
  assert.equal(world.state('p2').kind, 'applied');
  assert.deepEqual(world.ledger, [
    'p3 human discard discarded',
    'p1 human discard discarded',
    'p2 human apply applied',
  ]);
  assert.equal(world.store.ledger().at(-1)?.reason, 'hunk 1');
});

test('hunks that are applied one after the other are sent together, with the last one', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), shouting(LINES, 2, 15, 28));
  await world.voteHunk('apply', 0);
  await world.voteHunk('apply', 0);
  const last = world.vote('apply');
  const content = await agent.accepted();
  assert.equal(content, shouting(LINES, 2, 15, 28));
  world.put('a.txt', content);
  await last;
  assert.deepEqual(
    ['p1', 'p2', 'p3'].map(id => world.state(id).kind),
    ['applied', 'applied', 'applied'],
  );
});

test('a hunk that was applied can still be discarded while the rest is undecided', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), shouting(LINES, 2, 28));
  await world.voteHunk('apply', 0);
  await world.vote('discard', 'p2');
  await world.rebaser.refresh(['p1']);
  const last = world.vote('apply');
  const content = await agent.accepted();
  assert.equal(content, shouting(LINES, 28));
  world.put('a.txt', content);
  await last;
});

test('an agent that writes something else is found out', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'as shown\n');
  const told = assert.rejects(world.vote('apply'), /Gemini CLI wrote something else: a\.txt/);
  await agent.accepted();
  world.put('a.txt', 'not as shown\n');
  await told;
  const state = world.state();
  assert.ok(state.kind === 'expired' && /Gemini CLI wrote something else/.test(state.reason ?? ''));
  assert.deepEqual(world.ledger, ['p1 human apply failed']);
});

test('an agent that does not write is found out', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'as shown\n');
  await assert.rejects(world.vote('apply'), /Gemini CLI was told, and did not write it/);
  assert.equal(world.state().kind, 'expired');
});

test('a new file is written by the agent too', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('new.txt'), 'fresh\n');
  assert.equal(world.pending.label, 'Create new.txt');
  const told = world.vote('apply');
  world.put('new.txt', (await agent.accepted()) as string);
  await told;
  assert.equal(world.state().kind, 'applied');
});

test('an empty text is never sent, since the agent would write its own', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await world.edit('');
  await assert.rejects(world.vote('apply'), /Nothing was sent: the answer would be an empty text/);
  assert.equal(world.state().kind, 'pending');
  assert.ok(!agent.notes.all.some(({ method }) => method === 'ide/diffAccepted'));
});

test("a user's edit while the agent waits makes the preview stale, and its rebase is what is sent", async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), shouting(LINES, 2));
  world.put('a.txt', shouting(LINES, 28));
  await assert.rejects(world.vote('apply'), /changed after the preview was made/);
  await world.rebaser.refresh(['p1']);
  const told = world.vote('apply');
  const content = await agent.accepted();
  assert.equal(content, shouting(LINES, 2, 28));
  world.put('a.txt', content);
  await told;
});

test('accepted in the terminal: the agent is given what is shown, and the preview is applied once it is on disk', async () => {
  const { agent } = await connect();
  const proposed = shouting(LINES, 2, 28);
  await agent.openDiff(world.file('a.txt'), proposed);
  await world.voteHunk('discard', 0);
  const shown = await agent.answeredInTerminal(world.file('a.txt'));
  assert.equal(shown, shouting(LINES, 28));
  assert.equal(world.state().kind, 'applying', 'no one else can vote meanwhile');
  world.put('a.txt', shown ?? '');
  await world.until(() => world.state().kind === 'applied');
  assert.deepEqual(world.store.ledger().at(-1)?.reason, 'Accepted in the terminal of Gemini CLI.');
});

test('rejected in the terminal: nothing is written, and the preview is discarded', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await agent.answeredInTerminal(world.file('a.txt'));
  await world.until(() => world.state().kind === 'discarded');
  assert.deepEqual(world.ledger, ['p1 human discard discarded']);
  assert.equal(world.store.ledger().at(-1)?.reason, 'Rejected in the terminal of Gemini CLI.');
});

test('what was accepted in the terminal and written otherwise is found out', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await agent.answeredInTerminal(world.file('a.txt'));
  world.put('a.txt', 'y\n');
  await world.until(() => world.state().kind === 'expired');
  assert.deepEqual(world.ledger, ['p1 human apply failed']);
});

test('the closed diff of an agent that was told already changes nothing', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  const told = world.vote('apply');
  await agent.accepted();
  assert.equal(await agent.answeredInTerminal(world.file('a.txt')), null);
  world.put('a.txt', 'x\n');
  await told;
  assert.equal(await agent.answeredInTerminal(world.file('a.txt')), null);
});

test('an agent that ends has its previews expire, with a reason', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), shouting(LINES, 2, 28));
  await world.voteHunk('apply', 0);
  await agent.close();
  await world.until(() => world.store.openCount === 0);
  for (const id of ['p1', 'p2']) {
    const state = world.state(id);
    assert.ok(state.kind === 'expired' && state.reason === 'Gemini CLI has ended, or lost its connection.');
  }
  await assert.rejects(
    world.vote('apply').then(text => Promise.reject(new Error(text))),
    /has expired: Gemini CLI has ended/,
  );
});

test('a window that closes leaves no word, and what waits expires with a reason', async () => {
  const { agent, companion } = await connect();
  const file = fileOf(companion);
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await companion.close();
  const state = world.state();
  assert.ok(state.kind === 'expired' && state.reason === 'Gemini CLI is no longer connected.');
  assert.ok(!namesIn(path.dirname(file)).includes(path.basename(file)));
});

test('after a crash, a preview whose agent would have written it expires at the next start', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  const next = new CompanionWorld(world.folder, world.log);
  next.store.restore(world.log.entries);
  assert.equal(next.state().kind, 'expired');
});

test('a newer diff of the same file replaces the one that waits', async () => {
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await agent.openDiff(world.file('a.txt'), 'y\n');
  assert.equal(world.state('p1').kind, 'expired');
  const told = world.vote('apply', 'p2');
  assert.equal(await agent.accepted(), 'y\n');
  world.put('a.txt', 'y\n');
  await told;
});

test('line endings: a file in CRLF keeps them in the preview, and the agent gets its own', async () => {
  world.put('a.txt', 'one\r\ntwo\r\n');
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'one\nTWO\n');
  assert.equal(world.pending.changes?.[0]?.after?.text, 'one\r\nTWO\r\n');
  const told = world.vote('apply');
  assert.equal(await agent.accepted(), 'one\nTWO\n');
  world.put('a.txt', 'one\r\nTWO\r\n');
  await told;
});

test('what cannot be shown is refused with a sentence, so that the agent asks in its terminal', async () => {
  const { agent } = await connect();
  const refused = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { isError, content } = await agent.call(name, args);
    assert.equal(isError, true);
    return content[0]?.type === 'text' ? content[0].text : '';
  };
  world.put('binary', 'a\0\xff\xfe');
  writeFileSync(world.file('binary'), Buffer.from([0, 255, 254, 1, 128]));
  assert.match(await refused('openDiff', { filePath: '/etc/passwd', newContent: 'x' }), /outside/i);
  assert.match(await refused('openDiff', { filePath: 'a.txt', newContent: 'x' }), /absolute path/);
  assert.match(
    await refused('openDiff', { filePath: world.file('a.txt'), newContent: LINES }),
    /already has/,
  );
  assert.match(
    await refused('openDiff', { filePath: world.file('binary'), newContent: 'x' }),
    /not a text file|binary/,
  );
  assert.match(await refused('openDiff', { filePath: world.file('.git/config'), newContent: 'x' }), /\.git/);
  assert.match(await refused('openDiff', { filePath: 3 }), /filePath, newContent/);
  assert.match(await refused('deleteEverything', {}), /no tool deleteEverything/);
  assert.equal(world.store.openCount, 0);
});

test('too many diffs at once are refused', async () => {
  const { agent } = await connect();
  for (let i = 0; i < 50; i++) await agent.openDiff(world.file(`f${i}.txt`), 'x\n');
  const { isError } = await agent.openDiff(world.file('f50.txt'), 'x\n');
  assert.equal(isError, true);
  assert.equal(world.store.openCount, 50);
});

test('in Auto, too, only a person applies what an agent of a terminal proposes', async () => {
  world.authority = 'apply';
  const { agent } = await connect();
  await agent.openDiff(world.file('a.txt'), 'x\n');
  await world.invoker.resolve({ id: 'p1', action: 'apply', reason: 'I may', actor: 'model' });
  assert.equal(world.state().kind, 'pending');
  assert.deepEqual(await agent.tools(), ['openDiff', 'closeDiff']);
});

test('the agent is told what is open, and what is selected in it', async () => {
  const { agent } = await connect();
  const file = world.file('a.txt');
  world.editor.editors = [
    { file: world.file('b.txt'), isActive: false, isDirty: false, languageId: 'plaintext' },
    { file, isActive: true, isDirty: false, languageId: 'plaintext' },
  ];
  world.editor.selected = {
    file,
    text: 'line 2',
    start: { line: 1, character: 0 },
    end: { line: 1, character: 6 },
  };
  world.editor.changed.fire();
  const { params } = await agent.notes.first(
    ({ params }) =>
      (params as { workspaceState: { openFiles: unknown[] } }).workspaceState.openFiles.length > 0,
  );
  const { openFiles, isTrusted } = params['workspaceState'] as {
    openFiles: Record<string, unknown>[];
    isTrusted: boolean;
  };
  assert.equal(isTrusted, true);
  const [active, other] = openFiles.map(({ timestamp: _, ...rest }) => rest);
  assert.deepEqual(active, {
    path: file,
    isActive: true,
    cursor: { line: 2, character: 7 },
    selectedText: 'line 2',
  });
  assert.deepEqual(other, { path: world.file('b.txt'), isActive: false });
});

test('only who has the token of the window may come in, and no web page', async () => {
  const { companion, token } = await connect();
  const status = (headers: http.OutgoingHttpHeaders): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const { port } = companion;
      const request = http.request(
        { host: '127.0.0.1', port, method: 'POST', path: '/mcp', headers },
        answer => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      request.on('error', reject);
      request.end('{}');
    });
  const Authorization = `Bearer ${token}`;
  assert.equal(await status({}), 401);
  assert.equal(await status({ Authorization: 'Bearer wrong' }), 401);
  assert.equal(await status({ Authorization, Origin: 'https://example.com' }), 403);
  assert.equal(await status({ Authorization, Host: 'example.com' }), 403);
  assert.equal(await status({ Authorization }), 400);
});

test('the word of a window is readable by the user alone, and tells what Gemini CLI looks for', async () => {
  const { companion, token } = await connect();
  if (process.platform !== 'win32') assert.equal(statSync(fileOf(companion)).mode & 0o777, 0o600);
  const { port, workspacePath, authToken } = wordOf(companion);
  assert.deepEqual([port, workspacePath, authToken], [companion.port, world.folder, token]);
  assert.deepEqual(companion.environment(), {
    GEMINI_CLI_IDE_PID: String(process.ppid),
    GEMINI_CLI_IDE_SERVER_PORT: String(companion.port),
    GEMINI_CLI_IDE_WORKSPACE_PATH: world.folder,
    GEMINI_CLI_IDE_AUTH_TOKEN: token,
  });
});

test('Qwen Code finds the window in its own place, and is named', async () => {
  const { companion, agent } = await connect('qwen');
  assert.equal(fileOf(companion), temp.at('home', '.qwen', 'ide', `${companion.port}.lock`));
  assert.equal(companion.environment()['QWEN_CODE_IDE_SERVER_PORT'], String(companion.port));
  await agent.openDiff(world.file('a.txt'), 'x\n');
  assert.equal(world.pending.origin?.agent?.name, 'Qwen Code');
});

test('two windows on one folder leave a word each, and the diff is shown in the one that the agent chose', async () => {
  const first = await connect();
  const firstWorld = world;
  world = new CompanionWorld(firstWorld.folder);
  const second = await connect();
  assert.notEqual(fileOf(first.companion), fileOf(second.companion));
  await second.agent.openDiff(world.file('a.txt'), 'x\n');
  assert.deepEqual([firstWorld.store.openCount, world.store.openCount], [0, 1]);
});

test('what a window left that is gone is removed, and files of others are not', async () => {
  const folder = await temp.folder('tmp/gemini/ide');
  const put = (name: string, content: object): void =>
    writeFileSync(path.join(folder, name), JSON.stringify(content));
  put('gemini-ide-server-1-1.json', { owner: 'redline', pid: 2 ** 22 + 12_345 });
  put('gemini-ide-server-1-2.json', { port: 2, pid: 2 ** 22 + 12_345 });
  writeFileSync(path.join(folder, 'gemini-ide-server-1-3.json'), 'not JSON');
  await connect();
  const names = namesIn(folder);
  assert.ok(!names.includes('gemini-ide-server-1-1.json'));
  assert.ok(names.includes('gemini-ide-server-1-2.json') && names.includes('gemini-ide-server-1-3.json'));
});
