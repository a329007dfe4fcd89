import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { hostConsent } from '../../../src/views/agentTools.ts';
import { Questions } from '../../../src/views/questions.ts';
import { HostConsents } from '../../../src/views/web/hostConsents.ts';

suite('which hosts the agent may read from', () => {
  const { showInformationMessage } = vscode.window;
  const never = new AbortController().signal;
  let stored: unknown;
  /** The hosts and addresses that the user was asked about. */
  let asked: string[];
  /** What the user clicks. */
  let answer: 'once' | 'session' | 'always' | 'no';
  let questions: Questions;
  let sessionId: string;
  let consents: HostConsents;

  const memory: vscode.Memento = {
    keys: () => [],
    get: () => stored as never,
    update: async (_, value: unknown) => void (stored = value),
  };
  const made = (): HostConsents => {
    questions = new Questions();
    return new HostConsents(memory, questions, () => sessionId);
  };
  /** The user answers as soon as the question is there. */
  const answering = (): HostConsents => {
    const all = made();
    questions.onDidChange(() => {
      const { open } = questions;
      if (open?.about !== 'host') return;
      asked.push(`${open.host} ${open.url}`);
      questions.answer(open.id, answer);
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
    answer = 'no';
    assert.deepEqual([await ask('b.example'), await ask('c.example')], [true, false]);
    sessionId = 's2';
    assert.equal(await ask('b.example'), false, 'another conversation');

    answer = 'always';
    assert.equal(await ask('d.example'), true);
    answer = 'no';
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
    const host = (): string | undefined =>
      questions.open?.about === 'host' ? questions.open.host : undefined;
    const late = questions.open?.id ?? 0;
    assert.equal(host(), 'a.example');
    stopped.abort();
    questions.answer(late, 'always');
    assert.equal(await first, false);
    assert.equal(stored, undefined);
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(host(), 'b.example');
    questions.answer(late, 'always');
    assert.equal(host(), 'b.example', 'the answer to another question');
    questions.answer(questions.open?.id ?? 0, 'once');
    assert.equal(await second, true);
    assert.equal(questions.open, undefined);
  });

  test('hosts of the settings are known by their name, whatever its case', () => {
    const settings = { fetchHosts: [' Docs.Example.com '] };
    const consent = hostConsent(() => Promise.resolve(consents), settings);
    assert.deepEqual(
      ['docs.example.com', 'example.com'].map(host => consent.isNamed(host)),
      [true, false],
    );
  });
});
