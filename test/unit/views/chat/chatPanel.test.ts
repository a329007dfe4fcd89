import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Emitter } from '../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { CommandRuns } from '../../../../src/agent/sandbox/commands/commandRuns.ts';
import type { Session } from '../../../../src/agent/session/session.ts';
import { Questions } from '../../../../src/views/questions.ts';
import type { HostMessage, WebviewMessage } from '../../../../src/views/chat/protocol.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { Gate } from '../../../support/gate.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { createTestSession, type TestSessionOptions } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { ChatPanel } = await import('../../../../src/views/chat/chatPanel.ts');

const never = new Emitter<never>().event;

/** The panel of a session, whose page the test plays. */
function given(t: TestContext, options: TestSessionOptions) {
  const played = createTestSession(options);
  const { session, store, workspace, tools } = played;
  /** The commands that were run. */
  const runs: string[] = [];
  const panel = new ChatPanel({
    session,
    store,
    workspace,
    tools,
    logger: silentLogger,
    extensionUri: stub.Uri.file('/ext'),
    commandRuns: new CommandRuns(),
    questions: new Questions(),
    images: { folder: '/images', pathOf: () => undefined },
    customTools: { withheld: [], problems: [], onDidChange: never },
    mode: { get: () => 'recommend', onDidChange: never },
    model: () => ({ label: 'model', offline: false }),
    review: { list: () => [], inOrder: (all: unknown) => all, onDidChange: never },
    reviewDone: { line: '', onDidChange: never },
    onWillPrompt: () => undefined,
    execute: (id: string) => Promise.resolve(void runs.push(id)),
  } as never);
  t.after(() => panel.dispose());
  const page = new Emitter<WebviewMessage>();
  const posted = new Emitter<HostMessage>();
  const nextPost = <T extends HostMessage['type']>(type: T): Promise<HostMessage & { type: T }> =>
    new Promise(resolve => {
      const listening = posted.event(message => {
        if (message.type !== type) return;
        listening.dispose();
        resolve(message as HostMessage & { type: T });
      });
    });
  const webview = {
    asWebviewUri: (uri: unknown) => uri,
    cspSource: '',
    onDidReceiveMessage: page.event,
    postMessage: (message: HostMessage) => posted.fire(message),
  };
  const view = { webview, visible: true, onDidChangeVisibility: never, onDidDispose: never };
  return {
    ...played,
    runs,
    nextPost,
    say: (message: WebviewMessage) => page.fire(message),
    /** Opens the panel. @returns what it shows */
    open: async () => {
      await panel.resolveWebviewView(view as never);
      const shown = nextPost('snapshot');
      page.fire({ type: 'ready' });
      return shown;
    },
  };
}

test('what is clicked on the page of a conversation is not done in one that was opened meanwhile', async t => {
  const { session, open, say, runs } = given(t, {});
  const { session: left } = await open();
  await session.new();
  const click = (of: string): void => {
    for (const message of [{ type: 'retry' }, { type: 'continue' }, { type: 'revert', node: 0 }] as const)
      say({ ...message, session: of });
    say({ type: 'propose', session: of, path: 'a.ts', code: 'a' });
    say({ type: 'setPlanMode', session: of, on: true });
  };
  click(left);
  assert.deepEqual([runs, session.planMode], [[], false]);
  click(session.id);
  const all = [
    'redline.session.retry',
    'redline.session.continue',
    'redline.session.revert',
    'redline.chat.proposeCode',
  ];
  assert.deepEqual([runs, session.planMode], [all, true]);
});

for (const [why, { before, after }] of Object.entries<{
  [when in 'before' | 'after']?: (session: Session) => unknown;
}>({
  'the user stops while its files are read': { after: session => session.stop() },
  'the user begins another conversation while its files are read': { after: session => session.new() },
  'the user has just begun another conversation': { before: session => session.new() },
}))
  test(`a prompt goes back into the input if ${why}`, async t => {
    const gate = new Gate();
    const workspace = new MemoryWorkspace({ 'a.txt': 'A\n' });
    const read = workspace.read.bind(workspace);
    workspace.read = file => gate.pass().then(() => read(file));
    const { session, requests, nextEvent, open, say, nextPost } = given(t, {
      script: [{ text: 'Hi.', hang: true }],
      workspace,
    });
    const prompted = session.prompt('Hello.');
    await nextEvent(event => event.type === 'message_update');
    await open();
    const begun = before?.(session);
    say({ type: 'prompt', text: 'And this?', attachments: [{ path: 'a.txt', startLine: 1, endLine: 1 }] });
    await gate.reached;
    await Promise.all([prompted, begun, after?.(session)]);
    gate.open();
    assert.deepEqual(await nextPost('putBack'), {
      type: 'putBack',
      text: 'And this?',
      refs: [{ path: 'a.txt', startLine: 1, endLine: 1 }],
    });
    assert.equal(requests.length, 1);
  });

test('a panel that is first opened in the middle of an answer shows all of it', async t => {
  const { session, nextEvent, open } = given(t, { script: [{ text: 'It begins.', hang: true }] });
  const prompted = session.prompt('Hello.');
  await nextEvent(event => event.type === 'message_update');
  const { items } = await open();
  assert.deepEqual(
    items.map(item => [item.kind, 'text' in item && item.text]),
    [
      ['user', 'Hello.'],
      ['assistant', 'It begins.'],
    ],
  );
  session.stop();
  await prompted;
});
