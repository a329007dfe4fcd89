import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Emitter } from '../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import type { SessionState } from '../../../../src/agent/session/conversation/storage/sessionEntry.ts';
import type { SessionMessage } from '../../../../src/agent/session/model/messages.ts';
import { isOpen, type Preview } from '../../../../src/agent/hold/preview/preview.ts';
import type { ModelAuthority } from '../../../../src/agent/hold/preview/resolveSettings.ts';
import { CommandRuns } from '../../../../src/agent/sandbox/commands/commandRuns.ts';
import type { ContextUse } from '../../../../src/agent/session/context/contextKeeper.ts';
import type { QueuedPrompt } from '../../../../src/agent/session/waiting/promptQueue.ts';
import type { SessionEvent } from '../../../../src/agent/session/events.ts';
import { ChatFeed } from '../../../../src/views/chat/chatFeed.ts';
import { hostMessage, type HostMessage, type ViewItem } from '../../../../src/views/chat/protocol.ts';
import { activityText } from '../../../../src/views/chat/words/statusWords.ts';
import { answered, asked, call, preview, wordsOf } from '../../../support/chatFixtures.ts';
import type { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import type { Session } from '../../../../src/agent/session/session.ts';

/** A feed on a session that the test plays by hand. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const events = new Emitter<SessionEvent>();
  const modeChanged = new Emitter<void>();
  const session = {
    id: 's1',
    state: 'idle' as SessionState,
    messages: [] as SessionMessage[],
    tree: {
      idAt: (position: number) => position,
      hasNothingForModel: false,
      get nextId(): number {
        return session.messages.length;
      },
    },
    planMode: false,
    contextUse: undefined as ContextUse | undefined,
    requests: { instructions: [] as { path: string; isCut: boolean }[] },
    onDidEmit: events.event,
    queue: { list: [] as readonly QueuedPrompt[] },
  };
  const previews: Preview[] = [];
  const mode = {
    value: 'recommend' as ModelAuthority,
    get: () => mode.value,
    onDidChange: modeChanged.event,
  };
  const toolsChanged = new Emitter<void>();
  const customTools = { withheld: [] as string[], onDidChange: toolsChanged.event };
  const commandRuns = new CommandRuns();
  const posted: HostMessage[] = [];
  const feed = new ChatFeed({
    session: session as unknown as Session,
    store: {
      all: () => previews,
      ledger: () => [],
      get open() {
        return previews.filter(isOpen);
      },
    } as unknown as PreviewStore,
    mode,
    customTools,
    commandRuns,
    model: () => ({ label: 'Offline', offline: true }),
    texts: undefined,
    logger: silentLogger,
    post: message => void posted.push(hostMessage.parse(message)),
  });
  t.after(() => feed.dispose());
  return {
    feed,
    session,
    previews,
    mode,
    modeChanged,
    customTools,
    commandRuns,
    toolsChanged,
    emit: (event: SessionEvent) => events.fire(event),
    say: (message: SessionMessage) => {
      session.messages.push(message);
      events.fire({ type: 'message_end', message });
    },
    /** Lets the gathering time pass and takes what was posted since the last call. */
    posts: () => {
      t.mock.timers.tick(50);
      return posted.splice(0);
    },
  };
}

const kinds = (items: readonly ViewItem[]): string[] => items.map(item => item.kind);

test('nothing is sent before a webview connects; then a snapshot and the waiting messages', t => {
  const { feed, say, posts } = setUp(t);
  say(asked('Hello'));
  feed.send({ type: 'focus' });
  assert.deepEqual(posts(), []);
  feed.connect();
  const [language, snapshot, focus, ...rest] = posts();
  assert.deepEqual(language, { type: 'language', texts: {} });
  assert.ok(snapshot?.type === 'snapshot');
  assert.deepEqual([kinds(snapshot.items), focus, rest], [['user'], { type: 'focus' }, []]);
});

test('a burst of events is one message', t => {
  const { feed, say, session, emit, posts } = setUp(t);
  feed.connect();
  posts();
  session.state = 'running';
  emit({ type: 'state_changed', state: 'running' });
  say(asked('Hello'));
  emit({ type: 'turn_start' });
  emit({ type: 'message_start' });
  for (const delta of ['Hel', 'lo ', 'to you']) emit({ type: 'message_update', delta });
  const [delta, ...rest] = posts();
  assert.ok(delta?.type === 'delta' && rest.length === 0);
  assert.deepEqual(kinds(delta.items), ['user', 'assistant']);
  assert.deepEqual([delta.status?.state, delta.status?.activity], ['running', undefined]);
});

test('a card of what others proposed stays when it is decided, until another conversation is shown', t => {
  const { feed, previews, emit, posts, session } = setUp(t);
  const elsewhere = { origin: null };
  previews.push(preview({ id: 'p1', ...elsewhere }), preview({ id: 'p2', ...elsewhere }));
  feed.connect();
  posts();
  const by = { actor: 'human' as const, at: '2026-01-01T00:00:00.000Z', reason: '' };
  previews[0] = preview({ id: 'p1', ...elsewhere, state: { kind: 'applied', by } });
  emit({ type: 'turn_start' });
  feed.refresh();
  const [delta] = posts();
  assert.ok(delta?.type === 'delta');
  const [card, ...more] = delta.items;
  assert.ok(card?.kind === 'preview' && more.length === 0);
  assert.deepEqual([card.id, card.state.kind, wordsOf(card).state], ['p1', 'applied', 'Applied by you']);
  assert.equal(delta.order, undefined);
  session.id = 's2';
  feed.refresh();
  const [other] = posts();
  assert.ok(other?.type === 'snapshot');
  assert.deepEqual(
    other.items.map(({ key }) => key),
    ['elsewhere', 'p:p2'],
  );
});

test('while an answer streams, only its new text is sent', t => {
  const { feed, emit, say, posts } = setUp(t);
  feed.connect();
  emit({ type: 'message_start' });
  emit({ type: 'message_update', delta: 'Hel' });
  posts();
  emit({ type: 'message_update', delta: 'lo' });
  assert.deepEqual(posts(), [
    { type: 'delta', items: [], texts: [{ key: 'm0', append: 'lo', reasoning: '' }] },
  ]);
  say(answered('Hello'));
  const [end] = posts();
  assert.ok(end?.type === 'delta' && end.items[0]?.kind === 'assistant');
  assert.deepEqual([end.items[0].text, end.items[0].streaming, end.order], ['Hello', false, undefined]);
});

test('an answer that begins once more replaces what had arrived, also before that was shown', t => {
  const { feed, emit, posts } = setUp(t);
  feed.connect();
  emit({ type: 'message_update', delta: 'Ha' });
  posts();
  emit({ type: 'message_update', delta: 'lf' });
  emit({ type: 'message_start' });
  const [gone] = posts();
  assert.ok(gone?.type === 'delta');
  assert.deepEqual([gone.items, gone.texts, gone.order], [[], [], []]);
  emit({ type: 'message_update', delta: 'Whole' });
  const [next] = posts();
  assert.ok(next?.type === 'delta' && next.items[0]?.kind === 'assistant');
  assert.deepEqual([next.items[0].text, next.texts], ['Whole', []]);
});

test('text that arrives while everything is rebuilt, or before a webview connects, is sent once', t => {
  const { feed, session, emit, posts, mode, modeChanged } = setUp(t);
  const update = (delta: string): void => emit({ type: 'message_update', delta });
  session.state = 'running';
  update('a');
  feed.connect();
  const shown = new Map<string, string>();
  const follow = (): void => {
    for (const message of posts()) {
      if (message.type !== 'snapshot' && message.type !== 'delta') continue;
      for (const item of message.items) if (item.kind === 'assistant') shown.set(item.key, item.text);
      if (message.type !== 'delta') continue;
      for (const { key, append } of message.texts) shown.set(key, (shown.get(key) ?? '') + append);
    }
  };
  follow();
  update('b');
  follow();
  update('c');
  mode.value = 'apply';
  modeChanged.fire();
  follow();
  update('d');
  follow();
  feed.disconnect();
  update('e');
  feed.connect();
  update('f');
  follow();
  assert.deepEqual([...shown.values()], ['abcdef']);
});

test('what a running tool says of itself waits for more of it; the last of it is sent', t => {
  const { feed, say, session, emit, posts } = setUp(t);
  const search = call('c1', 'ast_grep', { pat: '$A' });
  session.state = 'running';
  say(answered('', search));
  feed.connect();
  emit({ type: 'tool_start', call: search });
  posts();
  for (const progress of ['1 match', '2 matches', '3 matches'])
    emit({ type: 'tool_update', call: search, progress });
  assert.deepEqual(posts(), []);
  for (let waited = 50; waited < 250; waited += 50) t.mock.timers.tick(50);
  const [delta, ...rest] = posts();
  assert.ok(delta?.type === 'delta' && rest.length === 0);
  assert.deepEqual(
    delta.items.map(item => item.kind === 'tool' && item.progress),
    ['3 matches'],
  );
});

test('events that change nothing on the screen send nothing', t => {
  const { feed, emit, say, posts } = setUp(t);
  feed.connect();
  posts();
  emit({ type: 'turn_start' });
  say({ role: 'steering', kind: 'resolve-reminder', text: 'Pending: p1', previewIds: ['p1'] });
  assert.deepEqual(posts(), []);
});

test('of all items, only a changed preview is sent', t => {
  const { feed, emit, say, previews, posts } = setUp(t);
  say(asked('Edit'));
  say(answered('', call('c1', 'edit_file', {})));
  previews.push(preview({ changes: null }));
  feed.connect();
  posts();
  const recommendation = { action: 'apply', reason: 'Tests pass.' } as const;
  const changed = preview({ changes: null, state: { kind: 'pending', stale: [], recommendation } });
  previews[0] = changed;
  emit({ type: 'preview_changed', preview: changed });
  const [delta] = posts();
  assert.ok(delta?.type === 'delta' && delta.order === undefined);
  assert.deepEqual(kinds(delta.items), ['preview']);
});

test('a new session is a new snapshot', t => {
  const { feed, emit, session, say, posts } = setUp(t);
  say(asked('Hello'));
  feed.connect();
  posts();
  session.id = 's2';
  session.messages = [];
  emit({ type: 'reset' });
  const [snapshot] = posts();
  assert.ok(snapshot?.type === 'snapshot' && snapshot.items.length === 0);
});

test('the prompts that wait are shown below the conversation, each with the id to take it back', t => {
  const { feed, say, session, emit, posts } = setUp(t);
  session.state = 'running';
  feed.connect();
  posts();
  const set = (...ids: string[]): void => {
    session.queue.list = ids.map(id => ({ id, text: 'Again', attachments: [] }));
    emit({ type: 'queue_changed' });
  };
  set('q2', 'q3');
  const [both] = posts();
  assert.ok(both?.type === 'delta');
  assert.deepEqual(
    both.items.map(item => item.kind === 'user' && [item.key, item.queued]),
    [
      ['q2', 'q2'],
      ['q3', 'q3'],
    ],
  );
  set('q3');
  say(asked('Again'));
  const [taken] = posts();
  assert.ok(taken?.type === 'delta');
  assert.deepEqual(taken.order, ['m0', 'q3']);
  set();
  const [gone] = posts();
  assert.ok(gone?.type === 'delta');
  assert.deepEqual(gone.order, ['m0']);
});

test('the status shows the mode and the instructions', t => {
  const { feed, session, previews, mode, modeChanged, posts } = setUp(t);
  feed.connect();
  posts();
  session.state = 'awaitingReview';
  previews.push(preview({ changes: null }), preview({ id: 'p2', changes: null }));
  mode.value = 'none';
  modeChanged.fire();
  session.requests.instructions = [
    { path: 'AGENTS.md', isCut: false },
    { path: 'a/CLAUDE.md', isCut: true },
  ];
  const [delta] = posts();
  assert.ok(delta?.type === 'delta');
  assert.deepEqual(delta.status, {
    state: 'awaitingReview',
    mode: 'none',
    planMode: false,
    offline: true,
    usage: undefined,
    context: undefined,
    model: 'Offline',
    instructions: session.requests.instructions,
    activity: undefined,
  });
});

test('nothing waits for the user once all is decided, while a command still runs', t => {
  const { feed, session, previews, modeChanged, posts } = setUp(t);
  const words = (): string => {
    modeChanged.fire();
    const [message] = posts();
    assert.ok(message?.type === 'delta' && message.status);
    return activityText(message.status);
  };
  feed.connect();
  posts();
  session.state = 'awaitingReview';
  const command = preview({ changes: null });
  previews.push(command);
  assert.equal(words(), 'Waiting for your review');
  previews.splice(0, 1, { ...command, state: { kind: 'applying', action: 'apply', actor: 'human' } });
  assert.equal(words(), 'Working…');
});

test('the status can be sent again, for a switch that moved before the mode was set', t => {
  const { feed, posts } = setUp(t);
  feed.sendStatus();
  assert.deepEqual(posts(), []);
  feed.connect();
  posts();
  feed.sendStatus();
  const [delta] = posts();
  assert.ok(delta?.type === 'delta' && delta.status?.mode === 'recommend');
});

test('nothing is sent while disconnected; reconnecting sends everything', t => {
  const { feed, say, posts } = setUp(t);
  feed.connect();
  posts();
  say(asked('Hello'));
  feed.disconnect();
  say(asked('Again'));
  assert.deepEqual(posts(), []);
  feed.connect();
  const [language, snapshot] = posts();
  assert.equal(language?.type, 'language');
  assert.ok(snapshot?.type === 'snapshot' && snapshot.items.length === 2);
});

test('tools that are not loaded without trust are shown, until they are loaded', t => {
  const { feed, customTools, toolsChanged, posts } = setUp(t);
  const kinds = (message: HostMessage | undefined): string[] =>
    message?.type === 'snapshot' || message?.type === 'delta' ? message.items.map(({ kind }) => kind) : [];
  feed.connect();
  assert.deepEqual(kinds(posts()[0]), []);
  customTools.withheld.push('/project/.redline/tools/a.ts');
  toolsChanged.fire();
  assert.deepEqual(kinds(posts()[0]), ['notice']);
  customTools.withheld.pop();
  toolsChanged.fire();
  const [gone] = posts();
  assert.deepEqual(gone?.type === 'delta' ? gone.order : undefined, []);
});

test('while a refused request waits to be sent again, the status tells for how long', t => {
  const { feed, session, emit, posts } = setUp(t);
  const statusOf = (): unknown => {
    const [delta] = posts();
    assert.ok(delta?.type === 'delta');
    return delta.status?.activity;
  };
  session.state = 'running';
  feed.connect();
  posts();
  emit({ type: 'turn_start' });
  emit({ type: 'retrying', delayMs: 1_900, code: 'rateLimited' });
  assert.deepEqual(statusOf(), { kind: 'retrying', code: 'rateLimited', seconds: 2 });
  emit({ type: 'message_update', delta: 'Hi' });
  assert.equal(statusOf(), undefined);
});
