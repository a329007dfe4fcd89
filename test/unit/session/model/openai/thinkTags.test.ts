import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  splitAtClosingTag,
  ThinkTags,
  type SplitText,
} from '../../../../../src/agent/session/model/openai/thinkTags.ts';

/** Splits a text that arrives in these pieces. */
function split(pieces: readonly string[]): SplitText {
  const tags = new ThinkTags();
  const parts = [...pieces.map(piece => tags.push(piece)), tags.end()];
  return {
    text: parts.map(part => part.text).join(''),
    reasoning: parts.map(part => part.reasoning).join(''),
  };
}

for (const [what, text, expected] of [
  ['no tags', 'Hello', { text: 'Hello', reasoning: '' }],
  ['tags', '<think>\nHm.\n</think>\n\nYes', { text: 'Yes', reasoning: '\nHm.\n' }],
  ['blanks before them', '\n <think>Hm</think>Yes', { text: 'Yes', reasoning: 'Hm' }],
  ['other tags', '<thought>Hm</think></thought>Yes', { text: 'Yes', reasoning: 'Hm</think>' }],
  ['empty reasoning', '<think>\n\n</think>\n\nYes', { text: 'Yes', reasoning: '\n\n' }],
  ['no end', '<think>Hm </th', { text: '', reasoning: 'Hm </th' }],
  ['a second pair', '<think>a</think>b<think>c</think>', { text: 'b<think>c</think>', reasoning: 'a' }],
  ['tags in the text', 'Use <think>.', { text: 'Use <think>.', reasoning: '' }],
  ['the beginning of a tag only', '<thi', { text: '<thi', reasoning: '' }],
  ['blanks only', '\n\n', { text: '\n\n', reasoning: '' }],
] as const) {
  test(`${what}, in one piece and character by character`, () => {
    assert.deepEqual(split([text]), expected);
    assert.deepEqual(split([...text]), expected);
  });
}

test('how a text is cut into pieces makes no difference', () => {
  const piece = fc.constantFrom('<', 'think', '>', '</', '<think>', '</think>', '\n', ' ', 'a', '<thought>');
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      assert.deepEqual(split(pieces), split([pieces.join('')]));
    }),
  );
});

test('text without tags is passed on at once, and endless blanks are not held for ever', () => {
  const tags = new ThinkTags();
  assert.equal(tags.push('Hi').text, 'Hi');
  const blank = new ThinkTags();
  assert.equal(blank.push(' '.repeat(1_001)).text.length, 1_001);
});

test('a closing tag alone on its line ends reasoning whose beginning was not sent', () => {
  assert.deepEqual(splitAtClosingTag('Hm.\n</think>\n\nYes'), { text: 'Yes', reasoning: 'Hm.\n' });
  for (const text of ['The tag </think> ends it.', '<think>\n</think>\n', 'Yes'])
    assert.deepEqual(splitAtClosingTag(text), { text, reasoning: '' });
});
