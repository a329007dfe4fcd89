import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import type { Session } from '../../../../../src/agent/session/session.ts';
import { Questions } from '../../../../../src/views/questions.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { Gate } from '../../../../support/gate.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { createTestSession } from '../../../../support/testSession.ts';

stub.useVscodeStub();
const { RequestHandler } = await import('../../../../../src/views/chat/nativeChat/requestHandler.ts');

const never = new Emitter<never>().event;

for (const [when, act] of Object.entries<(session: Session) => unknown>({
  'the user begins another session': session => session.new(),
  'the user stops': session => session.stop(),
}))
  test(`a prompt of VS Code's own chat goes back to the user if ${when} while its files are read`, async () => {
    const gate = new Gate();
    const workspace = new MemoryWorkspace({ 'a.txt': 'A\n' });
    const read = workspace.read.bind(workspace);
    workspace.read = file => gate.pass().then(() => read(file));
    const t = createTestSession({ script: [{ text: 'Hi.' }], workspace });
    const handler = new RequestHandler({
      session: t.session,
      store: t.store,
      workspace,
      tools: t.tools,
      logger: silentLogger,
      questions: new Questions(),
      onWillPrompt: () => undefined,
      model: () => ({ label: 'model', offline: false }),
    } as never);
    const references = [{ id: 'a', value: stub.Uri.file('/workspace/a.txt') }];
    const stream = { markdown: () => undefined, progress: () => undefined, button: () => undefined };
    const handling = handler.handle({ prompt: 'And this?', references } as never, stream as never, {
      isCancellationRequested: false,
      onCancellationRequested: never,
    });
    await gate.reached;
    await act(t.session);
    gate.open();
    await handling;
    assert.deepEqual([t.session.messages, t.requests.length], [[], 0]);
    const returned = t.events.flatMap(event => (event.type === 'prompts_returned' ? event.prompts : []));
    assert.deepEqual(
      returned.map(({ text }) => text),
      ['And this?'],
    );
  });
