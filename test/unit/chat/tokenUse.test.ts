import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenUse } from '../../../src/views/chat/tokenUse.ts';
import { answered, asked, english } from './fixtures.ts';

test('the sum of the session and the last request that was counted', () => {
  const used = (inputTokens: number, outputTokens: number) => ({
    ...answered('x'),
    usage: { inputTokens, outputTokens },
  });
  assert.deepEqual(
    tokenUse([asked('Hi'), used(1_000, 20), used(11_000, 300), answered('y')], 'en', english),
    {
      label: '12K tokens',
      detail: 'This session: 12,000 tokens in, 320 out. Last request: 11,000 in, 300 out.',
    },
  );
});

test('nothing is said where nobody counted', () => {
  assert.deepEqual(tokenUse([asked('Hi'), answered('x')], 'en', english), { label: '', detail: '' });
});
