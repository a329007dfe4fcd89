import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenUse } from '../../../../src/views/chat/chatFeed.ts';
import { answered, asked, english } from '../../../support/chatFixtures.ts';

test('the sum of the session and the last counted request', () => {
  const used = (inputTokens: number, outputTokens: number) => ({
    ...answered('x'),
    usage: { inputTokens, outputTokens },
  });
  assert.deepEqual(
    tokenUse([asked('Hi'), used(1_000, 20), used(11_000, 300), answered('y')], 'en', english),
    {
      label: '12K tokens',
      detail: 'Tokens in this session: 12,000 in, 320 out. Last request: 11,000 in, 300 out.',
    },
  );
});

test('empty if the server counted nothing', () => {
  assert.deepEqual(tokenUse([asked('Hi'), answered('x')], 'en', english), { label: '', detail: '' });
});
