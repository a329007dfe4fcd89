import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('each item counts as often as it is bought', () => {
  const tea = { name: 'tea', price: 300, quantity: 2 };
  const cup = { name: 'cup', price: 950, quantity: 1 };
  assert.equal(total([tea, cup]), 1550);
});
