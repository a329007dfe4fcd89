import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftoversOf, taskkill } from '../../../../src/views/terminal/processTree.ts';

test('on Windows, the program of the system ends a process with its children, whatever the current folder holds', () => {
  assert.deepEqual(taskkill(42, { SystemRoot: 'D:\\Windows' }), [
    'D:\\Windows\\System32\\taskkill.exe',
    '/pid',
    '42',
    '/T',
    '/F',
  ]);
  assert.equal(taskkill(42, {})[0], 'C:\\Windows\\System32\\taskkill.exe');
});

test('only where the orphans of a process can be found are they said to be ended', () => {
  assert.equal(leftoversOf('linux'), 'ended');
  assert.equal(leftoversOf('darwin'), 'ended');
  assert.equal(leftoversOf('win32'), 'running');
});
