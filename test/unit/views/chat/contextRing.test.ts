import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextRing } from '../../../../src/views/chat/contextRing.ts';
import { english } from '../../../support/chatFixtures.ts';

test('the ring tells the numbers, and that the server counted them', () => {
  const use = { tokens: 5_213, window: 8_192, isCounted: true, isWindowKnown: true };
  assert.deepEqual(contextRing(use, 'en', english), {
    percent: 64,
    isNearlyFull: false,
    detail:
      'Context window: 5,213 of 8,192 tokens (64%). Counted by the server for the last request and its answer.',
  });
});

test('an estimate and an assumed window are called so', () => {
  const use = { tokens: 120_000, window: 128_000, isCounted: false, isWindowKnown: false };
  const { percent, isNearlyFull, detail } = contextRing(use, 'de', english);
  assert.deepEqual([percent, isNearlyFull], [94, true]);
  assert.match(detail, /120\.000 of 128\.000 tokens \(94%\)\. An estimate for the next request/);
  assert.match(detail, /The size of the window is assumed/);
});

test('a conversation that is over the window fills the ring, no more', () => {
  const use = { tokens: 9_000, window: 8_192, isCounted: true, isWindowKnown: true };
  assert.equal(contextRing(use, 'en', english).percent, 100);
});
