import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { HostConsents, type Allowed } from '../../../src/views/web/hostConsents.ts';

suite('which hosts the agent may read from', () => {
  const { showInformationMessage } = vscode.window;
  const never = new AbortController().signal;
  let stored: unknown;
  /** The hosts and addresses that the user was asked about. */
  let asked: string[];
  /** What the user clicks. */
  let answer: Allowed;
  let sessionId: string;
  let consents: HostConsents;

  const memory: vscode.Memento = {
    keys: () => [],
    get: () => stored as never,
    update: async (_, value: unknown) => void (stored = value),
  };
  const made = (): HostConsents =>
    new HostConsents(memory, { fetchHosts: [' Docs.Example.com '] }, () => sessionId);
  /** The user answers as soon as the question is there. */
  const answering = (): HostConsents => {
    const all = made();
    all.onDidChange(() => {
      const { question } = all;
      if (!question) return;
      asked.push(`${question.host} ${question.url}`);
      all.answer(question.id, answer);
    });
    return all;
  };
  const ask = (host: string): Promise<boolean> => consents.ask(host, `https://${host}/page`, never);

  setup(() => {
    stored = undefined;
    asked = [];
    sessionId = 's1';
    consents = answering();
    Object.assign(vscode.window, { showInformationMessage: async () => undefined });
  });
  teardown(() => void Object.assign(vscode.window, { showInformationMessage }));

  test('an answer holds once, in the session or in the workspace, for that host alone', async () => {
    answer = 'once';
    assert.deepEqual([await ask('a.example'), await ask('a.example')], [true, true]);
    assert.deepEqual(asked, ['a.example https://a.example/page', 'a.example https://a.example/page']);

    answer = 'session';
    assert.equal(await ask('b.example'), true);
    answer = undefined;
    assert.deepEqual([await ask('b.example'), await ask('c.example')], [true, false]);
    sessionId = 's2';
    assert.equal(await ask('b.example'), false, 'another conversation');

    answer = 'always';
    assert.equal(await ask('d.example'), true);
    answer = undefined;
    consents = answering();
    assert.deepEqual([await ask('d.example'), await ask('b.example')], [true, false], 'after a reload');
    await consents.forget();
    assert.equal(await ask('d.example'), false);
  });

  test('one question is open at a time; Stop takes it away, and a click that comes too late allows nothing', async () => {
    consents = made();
    const stopped = new AbortController();
    const first = consents.ask('a.example', 'https://a.example/', stopped.signal);
    const second = ask('b.example');
    await new Promise(resolve => setImmediate(resolve));
    const late = consents.question?.id ?? 0;
    assert.equal(consents.question?.host, 'a.example');
    stopped.abort();
    consents.answer(late, 'always');
    assert.equal(await first, false);
    assert.equal(stored, undefined);
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(consents.question?.host, 'b.example');
    consents.answer(late, 'always');
    assert.equal(consents.question?.host, 'b.example', 'the answer to another question');
    consents.answer(consents.question?.id ?? 0, 'once');
    assert.equal(await second, true);
    assert.equal(consents.question, undefined);
  });

  test('hosts of the settings are known by their name, whatever its case', () => {
    assert.deepEqual(
      ['docs.example.com', 'example.com'].map(host => consents.isNamed(host)),
      [true, false],
    );
  });
});
