import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../../../../../src/agent/base/localiser.ts';
import type { AssistantMessage, SessionMessage } from '../../../../../src/agent/session/model/messages.ts';
import { answerTo } from '../../../../../src/agent/session/model/offline/answers.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { offerToAskAgain, unansweredPrompt } =
  await import('../../../../../src/views/chat/models/selectModel.ts');

const said = (answer: Partial<AssistantMessage>): AssistantMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: [],
  stopReason: 'stop',
  ...answer,
});
const asked = (text: string): SessionMessage => ({ role: 'user', text });
/** A prompt, and what the offline provider says to it. */
const offline = (text: string): SessionMessage[] => [
  asked(text),
  said(answerTo({ messages: [asked(text)], tools: [] } as never, english)),
];

test('a prompt that only a model could have answered is known, and no other', () => {
  assert.equal(unansweredPrompt(offline('Round the totals.')), 'Round the totals.');
  assert.equal(
    unansweredPrompt([asked('Round them.'), said({ stopReason: 'error', errorCode: 'noModel' })]),
    'Round them.',
  );
  assert.equal(unansweredPrompt([]), undefined);
  assert.equal(unansweredPrompt(offline('/help')), undefined);
  assert.equal(unansweredPrompt([asked('Round them.'), said({ text: 'Done.' })]), undefined);
  assert.equal(
    unansweredPrompt([...offline('Round them.'), asked('Hello'), said({ text: 'Hi.' })]),
    undefined,
  );
});

test('a click on a question that is out of date sends nothing', async () => {
  const run: string[] = [];
  Object.assign(stub.commands, { executeCommand: (id: string) => Promise.resolve(void run.push(id)) });
  for (const [meanwhile, sent] of [
    [[], ['redline.session.retry']],
    [[asked('Hello'), said({ text: 'Hi.' })], []],
    [offline('Another one.'), []],
  ] as const) {
    const session = { state: 'idle', tree: { messages: offline('Round them.') } };
    Object.assign(stub.window, {
      showInformationMessage: (_text: string, button: string) => {
        session.tree.messages.push(...meanwhile);
        return Promise.resolve(button);
      },
    });
    await offerToAskAgain({ session, providers: { isOffline: false } } as never);
    assert.deepEqual(run.splice(0), sent);
  }
});
