import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutEditor, withVariables } from '../../../../src/agent/base/system/environment.ts';

const base = { Path: 'C:\\bin', HOME: '/home/ada' };

test('variables are added, replaced and taken away', () => {
  assert.deepEqual(withVariables(base, { HOME: null, ADDED: 'x', Path: '/bin', GONE: undefined }, 'linux'), {
    Path: '/bin',
    ADDED: 'x',
  });
  assert.deepEqual(base, { Path: 'C:\\bin', HOME: '/home/ada' });
});

test('on Windows a variable is replaced whatever the case of its name, elsewhere it is another one', () => {
  assert.deepEqual(withVariables(base, { path: 'D:\\bin' }, 'win32'), { path: 'D:\\bin', HOME: '/home/ada' });
  assert.deepEqual(withVariables(base, { PATH: null }, 'win32'), { HOME: '/home/ada' });
  assert.deepEqual(withVariables(base, { PATH: '/bin' }, 'darwin'), { ...base, PATH: '/bin' });
});

test('programs that are no part of VS Code get none of its own variables, and the NODE_OPTIONS of the user', () => {
  const theirs = {
    ELECTRON_RUN_AS_NODE: '1',
    VSCODE_PID: '1',
    NODE_OPTIONS: '--require x',
    SNAP_NAME: 'code',
  };
  assert.deepEqual(withoutEditor({ PATH: '/bin', SNAPPY: 'kept', ...theirs }), {
    PATH: '/bin',
    SNAPPY: 'kept',
  });
  assert.deepEqual(withoutEditor({ ...theirs, VSCODE_NODE_OPTIONS: '--no-warnings' }), {
    NODE_OPTIONS: '--no-warnings',
  });
});
