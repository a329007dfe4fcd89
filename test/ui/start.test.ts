/** The walk of `npm start -- --once`, by which a newcomer sees the core story. */
import { test } from 'node:test';
import { limitMs } from '../../scripts/lib/limits.mjs';
import { takeWalk } from '../../scripts/lib/walk.mjs';

test('the walk through the tour and the core story comes to its end', { timeout: limitMs(400_000) }, () =>
  takeWalk(),
);
