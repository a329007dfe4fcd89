import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { after, beforeEach, test } from 'node:test';
import { WebSocket } from 'ws';
import { ClaudeCompanion } from '../../../../src/agent/clients/companions/claude/claudeCompanion.ts';
import { ClaudeClient } from '../../../support/companionClients.ts';
import { CompanionWorld, LINES, shouting } from '../../../support/companionWorld.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
const realFolder = process.env['CLAUDE_CONFIG_DIR'];
process.env['CLAUDE_CONFIG_DIR'] = temp.at('claude');
const cleanUps: (() => Promise<unknown>)[] = [];

after(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  if (realFolder === undefined) delete process.env['CLAUDE_CONFIG_DIR'];
  else process.env['CLAUDE_CONFIG_DIR'] = realFolder;
  await temp.remove();
});

let count = 0;
let world: CompanionWorld;
beforeEach(async () => {
  world = new CompanionWorld(await temp.folder(`workspace${++count}`));
  world.put('a.txt', LINES);
});

const lockOf = ({ port }: Pick<ClaudeCompanion, 'port'>): string => temp.at('claude', 'ide', `${port}.lock`);

async function start(): Promise<{ companion: ClaudeCompanion; token: string }> {
  const companion = await ClaudeCompanion.start(world.host);
  cleanUps.push(() => companion.close());
  await companion.announce();
  const { authToken } = JSON.parse(readFileSync(lockOf(companion), 'utf8')) as { authToken: string };
  return { companion, token: authToken };
}

async function connect(): Promise<{ companion: ClaudeCompanion; token: string; agent: ClaudeClient }> {
  const started = await start();
  const agent = await ClaudeClient.to(started.companion.port, started.token);
  cleanUps.push(() => agent.end());
  return { ...started, agent };
}

test('a diff waits for the answer: the text that was applied, which the agent writes', async () => {
  const { agent } = await connect();
  const proposed = shouting(LINES, 2, 28);
  const answer = agent.openDiff(world.file('a.txt'), proposed);
  await world.untilOpen();
  assert.deepEqual(world.pending.origin?.agent, { name: 'Claude Code', version: '2.0.1' });
  const told = world.vote('apply');
  assert.deepEqual(await answer, ['FILE_SAVED', proposed]);
  assert.equal(world.text('a.txt'), LINES, 'Redline does not write it');
  world.put('a.txt', proposed);
  assert.match(await told, /^Applied: Edit a\.txt/);
  // It closes the tab of what was answered.
  assert.deepEqual(await agent.call('close_tab', { tab_name: `[Claude Code] ${world.file('a.txt')}` }), [
    'TAB_CLOSED',
  ]);
  assert.deepEqual(world.ledger, ['p1 human apply applied']);
});

test('a discard is answered as a refusal', async () => {
  const { agent } = await connect();
  const answer = agent.openDiff(world.file('a.txt'), 'x\n', 'tab');
  await world.untilOpen();
  await world.vote('discard');
  assert.deepEqual(await answer, ['DIFF_REJECTED', 'tab']);
});

test('one hunk applied and one discarded, and one edited by the person: the text that results', async () => {
  const { agent } = await connect();
  const answer = agent.openDiff(world.file('a.txt'), shouting(LINES, 2, 15, 28));
  await world.untilOpen();
  await world.voteHunk('apply', 0);
  await world.voteHunk('discard', 0);
  const edited = shouting(LINES, 2).replace('line 28', 'line of mine');
  await world.edit(edited);
  const told = world.vote('apply');
  assert.deepEqual(await answer, ['FILE_SAVED', edited]);
  world.put('a.txt', edited);
  await told;
});

test('several diffs wait at once, and each gets its own answer', async () => {
  const { agent } = await connect();
  const first = agent.openDiff(world.file('a.txt'), 'x\n', 'one');
  await world.untilOpen(1);
  const second = agent.openDiff(world.file('b.txt'), 'y\n', 'two');
  await world.untilOpen(2);
  await world.vote('discard', 'p2');
  assert.deepEqual(await second, ['DIFF_REJECTED', 'two']);
  await world.vote('discard', 'p1');
  assert.deepEqual(await first, ['DIFF_REJECTED', 'one']);
});

test('accepted in the terminal: the tab is closed, the file written, the preview applied', async () => {
  const { agent } = await connect();
  void agent.openDiff(world.file('a.txt'), 'x\n', 'tab');
  await world.untilOpen();
  agent.cancelLast();
  await agent.call('close_tab', { tab_name: 'tab' });
  world.put('a.txt', 'x\n');
  await world.until(() => world.state().kind === 'applied');
  assert.equal(world.store.ledger().at(-1)?.reason, 'Accepted in the terminal of Claude Code.');
});

test('rejected in the terminal: the preview is discarded, and the agent gets no answer that could be an accept', async () => {
  const { agent } = await connect();
  void agent.openDiff(world.file('a.txt'), 'x\n', 'tab');
  await world.untilOpen();
  assert.deepEqual(await agent.call('closeAllDiffTabs'), ['CLOSED_1_DIFF_TABS']);
  await world.until(() => world.state().kind === 'discarded');
  const texts = agent.answers.all.flatMap(({ result }) => result?.content ?? []);
  assert.ok(!texts.some(part => part.type === 'text' && part.text === 'FILE_SAVED'));
  assert.equal(world.text('a.txt'), LINES);
});

test('an agent whose process is gone has its previews expire, with a reason', async () => {
  const { agent } = await connect();
  void agent.openDiff(world.file('a.txt'), 'x\n');
  await world.untilOpen();
  agent.vanish();
  await world.until(() => world.store.openCount === 0);
  const state = world.state();
  assert.ok(state.kind === 'expired' && state.reason === 'Claude Code has ended, or lost its connection.');
  assert.deepEqual(world.ledger, []);
});

test('a window that closes answers nothing: the agent takes that for no accept, and the preview expires', async () => {
  const { agent, companion } = await connect();
  void agent.openDiff(world.file('a.txt'), 'x\n');
  await world.untilOpen();
  const lock = lockOf(companion);
  await companion.close();
  await agent.closed;
  assert.equal(world.state().kind, 'expired');
  assert.ok(agent.answers.all.every(({ result }) => !JSON.stringify(result ?? {}).includes('TAB_CLOSED')));
  assert.equal(existsSync(lock), false);
});

test('an agent that goes away while it writes is still believed if the disk holds what was shown', async () => {
  const { agent } = await connect();
  const answer = agent.openDiff(world.file('a.txt'), 'x\n');
  await world.untilOpen();
  const told = world.vote('apply');
  await answer;
  world.put('a.txt', 'x\n');
  agent.vanish();
  await told;
  assert.equal(world.state().kind, 'applied');
});

test('a file whose editor has unsaved changes is not sent: the agent would write beneath them', async () => {
  const { agent } = await connect();
  void agent.openDiff(world.file('a.txt'), 'x\n');
  await world.untilOpen();
  const { workspace } = world.host;
  const read = workspace.read.bind(workspace);
  workspace.read = async () => Buffer.from(`${LINES}typed`);
  await world.rebaser.refresh(['p1']);
  await assert.rejects(world.vote('apply'), /changed after|unsaved changes/);
  workspace.read = read;
  assert.equal(world.state().kind, 'pending');
});

test('empty texts, paths outside and arguments that do not fit are refused with a sentence', async () => {
  const { agent } = await connect();
  assert.match((await agent.openDiff('/etc/passwd', 'x')).join(), /outside/i);
  assert.match(
    (await agent.call('openDiff', { tab_name: 't' })).join(),
    /old_file_path, new_file_path, new_file_contents/,
  );
  assert.match((await agent.call('nonsense')).join(), /no tool nonsense/);
  void agent.openDiff(world.file('a.txt'), '');
  await world.untilOpen();
  await assert.rejects(world.vote('apply'), /empty text/);
  assert.equal(world.state().kind, 'pending');
});

test('a message that is no JSON-RPC is answered with an error, and the connection goes on', async () => {
  const { agent } = await connect();
  agent.send('{"jsonrpc":');
  agent.send({ hello: 1 });
  await agent.answers.first(({ error }) => error?.code === -32700);
  assert.match((await agent.call('getWorkspaceFolders')).join(), /"success":true/);
});

test('only who has the token may connect, no web page and no other host', async () => {
  const { companion, token } = await start();
  const refused = (wrong: string, headers?: Record<string, string>): Promise<void> =>
    assert.rejects(ClaudeClient.to(companion.port, wrong, headers), /40[13]/);
  await refused('wrong');
  await refused('');
  await refused(token, { Origin: 'https://example.com' });
  await refused(token, { Host: 'example.com' });
  await (await ClaudeClient.to(companion.port, token)).end();
});

test('a message that is larger than any diff ends the connection', async () => {
  const { agent } = await connect();
  agent.send('x'.repeat(33 * 1024 * 1024));
  await agent.closed;
  assert.equal(world.store.openCount, 0);
});

test('the lock file is readable by the user alone, and tells what Claude Code looks for', async () => {
  const { companion } = await start();
  if (process.platform !== 'win32') assert.equal(statSync(lockOf(companion)).mode & 0o777, 0o600);
  const { pid, workspaceFolders, transport } = JSON.parse(readFileSync(lockOf(companion), 'utf8')) as Record<
    string,
    unknown
  >;
  assert.deepEqual([pid, workspaceFolders, transport], [process.pid, [world.folder], 'ws']);
  assert.deepEqual(companion.environment(), {
    CLAUDE_CODE_SSE_PORT: String(companion.port),
    ENABLE_IDE_INTEGRATION: 'true',
  });
});

test('what the agent asks of the editor besides is answered, and nothing is saved for it', async () => {
  const { agent } = await connect();
  const file = world.file('a.txt');
  const place = { line: 1, character: 0 };
  world.editor.editors = [{ file, isActive: true, isDirty: true, languageId: 'plaintext' }];
  world.editor.selected = { file, text: 'line 2', start: place, end: { line: 1, character: 6 } };
  world.editor.problems = [
    { file, message: 'odd', severity: 'Warning', source: 'lint', start: place, end: place },
  ];
  const json = async (name: string, args?: object): Promise<Record<string, unknown>> =>
    JSON.parse((await agent.call(name, args)).join()) as Record<string, unknown>;
  assert.equal((await json('getWorkspaceFolders'))['rootPath'], world.folder);
  assert.equal(((await json('getOpenEditors'))['tabs'] as { label: string }[])[0]?.label, 'a.txt');
  assert.equal((await json('getCurrentSelection'))['text'], 'line 2');
  assert.equal((await json('getLatestSelection'))['filePath'], file);
  assert.equal((await json('checkDocumentDirty', { filePath: file }))['isDirty'], true);
  assert.equal((await json('saveDocument', { filePath: file }))['success'], false);
  assert.equal(JSON.stringify(await json('getDiagnostics', {})).includes('"odd"'), true);
  assert.equal(JSON.stringify(await json('getDiagnostics', { uri: 'file:///elsewhere' })), '[]');
  assert.equal((await json('openFile', { filePath: file }))['success'], true);
  assert.deepEqual(world.editor.shown, [file]);
  assert.match((await agent.call('openFile', { filePath: '/etc/passwd' })).join(), /outside/i);
});

test('plain HTTP gets no answer from it', async () => {
  const { companion } = await start();
  assert.equal((await fetch(`http://127.0.0.1:${companion.port}/`)).status, 426);
  await assert.rejects(
    new Promise((_, reject) => new WebSocket(`ws://127.0.0.1:${companion.port}`).once('error', reject)),
    /401/,
  );
});
