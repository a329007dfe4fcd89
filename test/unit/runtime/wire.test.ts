import { test } from 'node:test';
import assert from 'node:assert/strict';
import { type LadderMemory } from '../../../src/agent/session/model/toolChoiceLadder.ts';
import { RESOLVE_REMINDER } from '../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { closeServerAfterEach, providerFor, serve } from '../../support/providerHarness.ts';
import type { SupportedChoices } from '../../support/scriptedChecks.ts';
import type { RecordedRequest, Reply, Script, ScriptedServer } from '../../support/scriptedServer.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../support/testSession.ts';

closeServerAfterEach();

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const edit = (path: 'a.txt' | 'b.txt'): Reply => {
  const [old = ''] = path;
  return { toolCalls: [{ name: 'edit_file', arguments: { path, edits: [{ old, new: 'new' }] } }] };
};
const resolve: Reply = { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'right' } }] };
const text: Reply = { text: 'Done.' };
/** Fills the place in a script of a request that the server refuses. */
const refused: Reply = { status: 500 };

interface Wire {
  readonly t: TestSession;
  readonly server: ScriptedServer;
  readonly memory: LadderMemory;
}

/** A session with a real client and a server that is strict but for the choices that it does not support. */
async function wire(
  script: Script,
  supported: SupportedChoices = {},
  { settings, ladderMemory = new Map(), ...others }: TestSessionOptions = {},
): Promise<Wire> {
  const server = await serve(script, supported);
  const provider = providerFor(server);
  const t = createTestSession({
    files,
    provider,
    ladderMemory,
    ...(settings ? { settings } : {}),
    ...others,
  });
  return { t, server, memory: ladderMemory };
}

/** `named`, `required` (of `resolve` alone) or `-` for each request. */
function choices({ server }: Wire): string {
  return server.requests.map(choiceOf).join(' ');
}

function choiceOf({ body }: RecordedRequest): string {
  const { tool_choice: choice, tools = [] } = body;
  const names = tools.map(tool => tool.function.name);
  if (choice === undefined) {
    assert.ok(names.length > 1, 'everything is offered where nothing is forced');
    return '-';
  }
  if (typeof choice === 'object') {
    assert.equal(choice.function.name, 'resolve');
    assert.ok(names.includes('resolve'));
    return 'named';
  }
  assert.deepEqual(names, ['resolve'], 'the only tool that can be called');
  return choice;
}

function assertClean({ server, t }: Wire): void {
  assert.deepEqual(server.violations, []);
  t.assertSound();
}

const remindersIn = ({ body }: RecordedRequest): number =>
  body.messages.filter(
    ({ role, content }) =>
      role === 'user' && typeof content === 'string' && content.startsWith(RESOLVE_REMINDER),
  ).length;

test('a named choice that is honoured: three requests', async () => {
  const wired = await wire([edit('a.txt'), resolve, text]);
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named -');
  assert.equal(wired.t.workspace.text('a.txt'), 'new');
  assertClean(wired);
});

test('a named choice that is refused: required at once, with only resolve on offer; the next preview starts there', async () => {
  const wired = await wire([edit('a.txt'), refused, resolve, edit('b.txt'), resolve, text], {
    namedChoice: 'reject400',
  });
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named required - required -');
  assert.deepEqual(wired.t.workspace.snapshot(), { 'a.txt': 'new', 'b.txt': 'new' });
  assert.ok(
    wired.t.answers().every(({ stopReason }) => stopReason !== 'error'),
    'the user saw nothing of it',
  );
  assertClean(wired);
});

test('a named choice that is accepted and ignored: required with the next request', async () => {
  const wired = await wire([edit('a.txt'), { text: 'What?' }, resolve, text], { namedChoice: 'ignore' });
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named required -');
  assert.equal(wired.t.workspace.text('a.txt'), 'new');
  assertClean(wired);
});

test('a named choice that is ignored for another call: that call is answered, and resolve is required next', async () => {
  const read: Reply = { toolCalls: [{ name: 'read_file', arguments: { path: 'b.txt' } }] };
  const wired = await wire([edit('a.txt'), read, resolve, text], { namedChoice: 'ignore' });
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named required -');
  assertClean(wired);
});

test('a server that is known to accept only required: three requests', async () => {
  const first = await wire([edit('a.txt'), refused, resolve, text], { namedChoice: 'reject400' });
  await first.t.session.prompt('Edit.');
  const { memory } = first;
  assertClean(first);
  const known: LadderMemory = { get: () => memory.get(providerIdOf(first)), set: () => assert.fail() };
  const wired = await wire(
    [edit('a.txt'), resolve, text],
    { namedChoice: 'reject400' },
    { ladderMemory: known },
  );
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- required -');
  assertClean(wired);
});

test('a server that accepts only auto: two refusals in one turn, then the text of the reminder', async () => {
  const wired = await wire([edit('a.txt'), refused, refused, resolve, edit('b.txt'), resolve, text], {
    namedChoice: 'reject400',
    required: 'reject400',
  });
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named required - - - -');
  assert.deepEqual(wired.t.workspace.snapshot(), { 'a.txt': 'new', 'b.txt': 'new' });
  assert.equal(wired.server.requests.length, 7);
  assertClean(wired);
});

test('auto only, and a model that ignores the reminder: it is repeated at the end', async () => {
  const wired = await wire(
    [edit('a.txt'), { text: 'Hm.' }, resolve, text],
    {},
    { ladderMemory: { get: () => 'auto', set: () => undefined } },
  );
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- - - -');
  assert.deepEqual(wired.server.requests.map(remindersIn), [0, 1, 2, 2]);
  const last = wired.server.requests[2]?.body.messages.at(-1)?.content;
  assert.ok(typeof last === 'string' && last.startsWith('<system-reminder>'));
  assert.equal(wired.t.workspace.text('a.txt'), 'new');
  assertClean(wired);
});

for (const [server, status, message] of [
  ['DeepSeek', 400, 'deepseek-reasoner does not support this tool_choice'],
  ['Claude', 400, 'Thinking may not be enabled when tool_choice forces tool use.'],
  ['Kimi', 400, "tool_choice 'specified' is incompatible with thinking enabled"],
  ['OpenRouter', 404, "No endpoints found that support the provided 'tool_choice' value."],
] as const) {
  test(`forcing that is refused while thinking, in the words of ${server}: the reminder alone, five requests`, async () => {
    const wired = await wire(({ body }, n) => {
      if (body.tool_choice !== undefined) return { status, body: { error: { message } } };
      return n === 0 ? edit('a.txt') : n === 3 ? resolve : text;
    });
    await wired.t.session.prompt('Edit.');
    assert.equal(choices(wired), '- named required - -');
    assert.equal(wired.memory.get(providerIdOf(wired)), 'auto');
    assert.equal(wired.t.workspace.text('a.txt'), 'new');
    assertClean(wired);
  });
}

test('a refusal for another reason is shown to the user, teaches nothing, and the request is not sent again', async () => {
  const wired = await wire(({ body }) =>
    body.tool_choice ? { status: 400, body: { error: { message: 'context too long' } } } : edit('a.txt'),
  );
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named');
  assert.match(wired.t.answers().at(-1)?.error ?? '', /context too long/);
  assert.equal(wired.memory.get(providerIdOf(wired)), undefined);
  assertClean(wired);
});

test('a model that never resolves: three forced turns in three ways, then the preview is left to the user', async () => {
  const wired = await wire((_request, n) => (n === 0 ? edit('a.txt') : { text: 'No.' }), {
    namedChoice: 'ignore',
    required: 'ignore',
  });
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named required -');
  assert.equal(wired.t.session.state, 'awaitingReview');
  assert.match(wired.t.steering().at(-1)?.text ?? '', /It is now left to the user\.$/);
  await wired.t.session.prompt('And now?');
  assert.equal(choices(wired), '- named required - -', 'and never again');
  assert.equal(wired.t.workspace.text('a.txt'), 'a');
  assertClean(wired);
});

test('in Review a recommendation is the answer: three requests, nothing is forced twice', async () => {
  const wired = await wire([edit('a.txt'), resolve, text], {}, { settings: { modelAuthority: 'recommend' } });
  await wired.t.session.prompt('Edit.');
  assert.equal(choices(wired), '- named -');
  assert.equal(wired.t.workspace.text('a.txt'), 'a');
  assertClean(wired);
});

/** What follows the messages in a body. */
function partsOf({ raw }: RecordedRequest): { readonly head: string; readonly tail: string } {
  const at = raw.lastIndexOf('],"stream":true');
  assert.ok(at > 0, raw);
  return { head: raw.slice(0, at), tail: raw.slice(at) };
}

function onlyAppends(before: RecordedRequest, after: RecordedRequest): boolean {
  const [a, b] = [partsOf(before), partsOf(after)];
  return b.tail === a.tail && b.head.startsWith(`${a.head},`);
}

test('off: the request of a turn is the previous one with more messages, byte for byte', async () => {
  const read: Reply = { toolCalls: [{ name: 'read_file', arguments: { path: 'b.txt' } }] };
  const script = [read, edit('a.txt'), resolve, edit('b.txt'), resolve, text, text];
  for (const modelAuthority of ['apply', 'recommend'] as const) {
    const wired = await wire(script, {}, { settings: { forcing: 'off', modelAuthority } });
    await wired.t.session.prompt('Edit both.');
    await wired.t.session.prompt('And then?');
    const { requests } = wired.server;
    assert.equal(requests.length, 7);
    assert.match(partsOf(requests[0] ?? assert.fail()).tail, /"tools":\[/);
    for (const [n, request] of requests.slice(1).entries()) {
      assert.ok(onlyAppends(requests[n] ?? assert.fail(), request), `request ${n + 1} only appends`);
    }
    assertClean(wired);
  }
});

test('forced, by contrast, changes the request: the comparison can fail', async () => {
  const { t, server } = await wire([edit('a.txt'), resolve, text]);
  await t.session.prompt('Edit.');
  const [first, second] = server.requests;
  assert.ok(first && second);
  assert.equal(onlyAppends(first, second), false);
});

function providerIdOf({ server }: Wire): string {
  return providerFor(server).id;
}

test('reverts not enabled: each request is byte for byte the same as without the tool', async () => {
  const script: Script = [edit('a.txt'), resolve, { text: '[n4] Done.' }, edit('b.txt'), resolve, text];
  const raw = async (options: TestSessionOptions): Promise<string[]> => {
    const w = await wire(script, {}, options);
    await w.t.session.prompt('One.');
    await w.t.session.prompt('[n0] Two.');
    assertClean(w);
    return w.server.requests.map(request => request.raw);
  };
  const without = await raw({ hasRevertTool: false });
  const off = await raw({ settings: { revertEnabled: false } });
  const on = await raw({ settings: { revertEnabled: true } });
  assert.equal(without.length, script.length);
  assert.deepEqual(off, without);
  assert.ok(on.every((request, at) => request !== without[at]));
});
