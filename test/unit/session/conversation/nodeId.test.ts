import { test } from 'node:test';
import assert from 'node:assert/strict';
import { parseNodeId, renderNodeId } from '../../../../src/agent/session/conversation/nodeId.ts';

test('a node is rendered with an n before its number', () => {
  assert.equal(renderNodeId(12), 'n12');
});

test('"n12" and "12" name the node 12', () => {
  assert.deepEqual(['n12', '12', 'n0', '0', '007'].map(parseNodeId), [12, 12, 0, 0, 7]);
});

test('digits only: anything else is not a node id', () => {
  const others = [
    '',
    'n',
    'x12',
    'N12',
    'nn12',
    'n-1',
    '-1',
    '1.5',
    '1e3',
    ' 12',
    '12 ',
    '１２',
    '9'.repeat(20),
  ];
  assert.deepEqual(
    others.map(parseNodeId),
    others.map(() => undefined),
  );
});
