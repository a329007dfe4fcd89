import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatHtml } from '../../../../src/views/chat/chatHtml.ts';
import { webviewMessage } from '../../../../src/views/chat/protocol.ts';

for (const [name, message] of Object.entries({
  'no object': 'ready',
  'an unknown type': { type: 'eval', code: '1' },
  'an invalid id': { type: 'resolve', id: '../p1', revision: 1, action: 'apply' },
  'a vote without a revision': { type: 'resolve', id: 'p1', action: 'apply' },
  'a revision that is no number': { type: 'resolve', id: 'p1', revision: '1', action: 'apply' },
  'another action': { type: 'resolve', id: 'p1', revision: 1, action: 'delete' },
  'an unknown mode': { type: 'setMode', mode: 'root' },
  'a command by name': { type: 'action', name: 'workbench.action.quit' },
  'an empty prompt': { type: 'prompt', text: '' },
  'a prompt of two megabytes': { type: 'prompt', text: 'x'.repeat(2_000_000) },
})) {
  test(`the host ignores ${name}`, () => {
    assert.equal(webviewMessage.safeParse(message).success, false);
  });
}

test('a vote names the revision that was seen', () => {
  const vote = { type: 'resolve', id: 'p3', revision: 2, action: 'discard', reason: 'No.' };
  assert.deepEqual(webviewMessage.parse(vote), vote);
});

test('the page allows its own script and style, and nothing else', () => {
  const html = chatHtml({
    cspSource: 'https://file.example',
    nonce: 'abc123',
    scriptUri: 'https://file.example/dist/chat.js?a&"b',
    styleUris: ['https://file.example/media/chat.css'],
    language: 'en',
    title: 'Chat <1>',
  });
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  assert.deepEqual(policy.split('; ').sort(), [
    "default-src 'none'",
    'font-src https://file.example',
    'img-src https://file.example',
    "script-src 'nonce-abc123'",
    'style-src https://file.example',
  ]);
  assert.doesNotMatch(html, /unsafe|style="|onload|<script>/);
  assert.match(html, /src="https:\/\/file\.example\/dist\/chat\.js\?a&amp;&quot;b"/);
});
