import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { themeCss, THEMES, VARIABLES } from '../../../../scripts/chat-page/themes.mjs';
import { hostMessage } from '../../../../src/views/chat/protocol.ts';
import { viewItem } from '../../../../src/views/chat/viewItem.ts';
import { chatScenes } from '../../../support/chatScenes.ts';

test('the page accepts every scene, and together they have every kind of item', () => {
  const kinds = Object.entries(chatScenes).flatMap(([name, scene]) => {
    const message = hostMessage.parse(scene());
    assert.ok(message.type === 'snapshot', name);
    return message.items.map(({ kind }) => kind);
  });
  const all = viewItem.def.options.flatMap(({ shape }) => [...shape.kind.def.values]);
  assert.deepEqual([...new Set(kinds)].sort(), all.sort());
});

test('the themes set every variable that the style sheet of the chat uses, and only those', () => {
  const css = readFileSync(path.resolve(import.meta.dirname, '../../../../media/chat.css'), 'utf8');
  const used = new Set([...css.matchAll(/--vscode-[\w-]+/g)].map(([name]) => name));
  assert.deepEqual([...VARIABLES].sort(), [...used].sort());
});

test('each theme has colours of its own', () => {
  const sheets = Object.keys(THEMES).map(theme => themeCss(theme));
  assert.equal(new Set(sheets).size, 4);
});
