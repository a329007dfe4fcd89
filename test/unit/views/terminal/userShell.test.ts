import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userShell } from '../../../../src/views/terminal/userShell.ts';

test('the shell is the one that VS Code tells, else that of the environment, else that of the system', () => {
  assert.equal(userShell('/bin/zsh', { SHELL: '/bin/bash' }, 'linux'), '/bin/zsh');
  assert.equal(userShell('', { SHELL: '/bin/bash' }, 'linux'), '/bin/bash');
  assert.equal(userShell('', { SHELL: '' }, 'darwin'), '/bin/sh');
  assert.equal(userShell('', {}, 'linux'), '/bin/sh');
  assert.equal(userShell('', { ComSpec: 'C:\\cmd.exe', SHELL: '/bin/bash' }, 'win32'), 'C:\\cmd.exe');
  assert.equal(userShell('', {}, 'win32'), 'cmd.exe');
});
