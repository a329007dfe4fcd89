import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PromptRecall } from '../../../../../../src/views/chat/webview/prompt/promptRecall.ts';

test('goes back through all prompts and forward again, past the newest to an empty input', () => {
  const recall = new PromptRecall();
  const prompts = ['one', 'two', 'two', 'three'];
  let typed = '';
  const press = (by: -1 | 1): string | undefined => {
    const shown = recall.step(by, typed, prompts);
    typed = shown ?? typed;
    return shown;
  };
  assert.deepEqual([press(-1), press(-1), press(-1), press(-1)], ['three', 'two', 'one', undefined]);
  assert.deepEqual([press(1), press(1), press(1), press(1)], ['two', 'three', '', undefined]);
  assert.equal(press(-1), 'three');
});

test('what was typed or changed is never replaced', () => {
  const recall = new PromptRecall();
  assert.equal(recall.step(-1, 'mine', ['one']), undefined);
  assert.equal(recall.step(-1, '', ['one']), 'one');
  assert.equal(recall.step(-1, 'one!', ['zero', 'one']), undefined);
  assert.equal(recall.step(-1, '', []), undefined);
});
