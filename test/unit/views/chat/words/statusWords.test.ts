import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenUse } from '../../../../../src/views/chat/chatFeed.ts';
import {
  contextText,
  instructionsText,
  percentOf,
  todoText,
  usageDetail,
  usageLabel,
} from '../../../../../src/views/chat/words/statusWords.ts';
import { answered, asked } from '../../../../support/chatFixtures.ts';

test('the ring tells the numbers, and that the server counted them', () => {
  const use = { tokens: 5_213, window: 8_192, isCounted: true, isWindowKnown: true };
  assert.equal(percentOf(use), 64);
  assert.equal(
    contextText(use, 'en'),
    'Context window: 5,213 of 8,192 tokens (64%). Counted by the server for the last request and its answer.',
  );
});

test('an estimate and an assumed window are called so', () => {
  const text = contextText(
    { tokens: 120_000, window: 128_000, isCounted: false, isWindowKnown: false },
    'de',
  );
  assert.match(text, /120\.000 of 128\.000 tokens \(94%\)\. An estimate for the next request/);
  assert.match(text, /The size of the window is assumed/);
});

test('a conversation that is over the window fills the ring, no more', () => {
  assert.equal(percentOf({ tokens: 9_000, window: 8_192 }), 100);
});

test('the tokens of the session are summed up, and those of the last counted request told', () => {
  const used = (inputTokens: number, outputTokens: number) => ({
    ...answered('x'),
    usage: { inputTokens, outputTokens },
  });
  const usage = tokenUse([asked('Hi'), used(1_000, 20), used(11_000, 300), answered('y')]);
  assert.ok(usage);
  assert.equal(usageLabel(usage, 'en'), '12K tokens');
  assert.equal(
    usageDetail(usage, 'en'),
    'Tokens in this session: 12,000 in, 320 out. Last request: 11,000 in, 300 out.',
  );
  assert.equal(tokenUse([asked('Hi'), answered('x')]), undefined);
});

test('the to-do list says how far it is, and the step that is being done, else the next one', () => {
  const item = (text: string, state: 'open' | 'doing' | 'done') => ({ text, state });
  assert.equal(
    todoText([item('A', 'done'), item('B', 'open'), item('C', 'doing')]),
    'To-do: 1 of 3 done · C',
  );
  assert.equal(todoText([item('A', 'done'), item('B', 'open')]), 'To-do: 1 of 2 done · B');
  assert.equal(todoText([item('A', 'done')]), 'To-do: 1 of 1 done');
});

test('instructions are named, with those of which only the beginning was sent', () => {
  const instructions = [
    { path: 'AGENTS.md', isCut: false },
    { path: 'a/CLAUDE.md', isCut: true },
  ];
  assert.equal(instructionsText(instructions), 'Instructions: AGENTS.md, a/CLAUDE.md (beginning only)');
  assert.equal(instructionsText([]), '');
});
