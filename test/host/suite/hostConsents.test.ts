import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { HostConsents } from '../../../src/views/web/hostConsents.ts';

suite('which hosts the agent may read from', () => {
  const { showWarningMessage, showInformationMessage } = vscode.window;
  const never = new AbortController().signal;
  let stored: unknown;
  let asked: string[];
  /** What the user clicks; `undefined` closes the question. */
  let answer: string | undefined;
  let sessionId: string;
  let consents: HostConsents;

  const memory: vscode.Memento = {
    keys: () => [],
    get: () => stored as never,
    update: async (_, value: unknown) => void (stored = value),
  };
  const made = (): HostConsents =>
    new HostConsents(memory, { fetchHosts: [' Docs.Example.com '] }, () => sessionId);
  const ask = (host: string): Promise<boolean> => consents.ask(host, `https://${host}/page`, never);

  setup(() => {
    stored = undefined;
    asked = [];
    sessionId = 's1';
    consents = made();
    Object.assign(vscode.window, {
      showWarningMessage: async (text: string) => {
        asked.push(text);
        return answer;
      },
      showInformationMessage: async () => undefined,
    });
  });
  teardown(() => void Object.assign(vscode.window, { showWarningMessage, showInformationMessage }));

  test('an answer holds once, in the session or in the workspace, for that host alone', async () => {
    answer = 'Once';
    assert.deepEqual([await ask('a.example'), await ask('a.example')], [true, true]);
    assert.equal(asked.length, 2);
    assert.match(asked[0] ?? '', /wants to read from a\.example\./);

    answer = 'In This Session';
    assert.equal(await ask('b.example'), true);
    answer = undefined;
    assert.deepEqual([await ask('b.example'), await ask('c.example')], [true, false]);
    sessionId = 's2';
    assert.equal(await ask('b.example'), false, 'another conversation');

    answer = 'Always in This Workspace';
    assert.equal(await ask('d.example'), true);
    answer = undefined;
    consents = made();
    assert.deepEqual([await ask('d.example'), await ask('b.example')], [true, false], 'after a reload');
    await consents.forget();
    assert.equal(await ask('d.example'), false);
  });

  test('one question is open at a time, and an answer that comes too late allows nothing', async () => {
    const clicks: ((button: string) => void)[] = [];
    Object.assign(vscode.window, {
      showWarningMessage: (text: string) => {
        asked.push(text);
        return new Promise<string>(resolve => clicks.push(resolve));
      },
    });
    const stopped = new AbortController();
    const first = consents.ask('a.example', 'https://a.example/', stopped.signal);
    const second = ask('b.example');
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(asked.length, 1);
    stopped.abort();
    clicks[0]?.('Always in This Workspace');
    assert.equal(await first, false);
    assert.equal(stored, undefined);
    await new Promise(resolve => setImmediate(resolve));
    clicks[1]?.('Once');
    assert.equal(await second, true);
  });

  test('hosts of the settings are known by their name, whatever its case', () => {
    assert.deepEqual(
      ['docs.example.com', 'example.com'].map(host => consents.isNamed(host)),
      [true, false],
    );
  });
});
