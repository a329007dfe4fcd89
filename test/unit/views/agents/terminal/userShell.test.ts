import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userShell, type ShellSettings } from '../../../../../src/views/agents/terminal/userShell.ts';

const shellOf = (
  settings: Readonly<Record<string, unknown>>,
  given: Partial<ShellSettings> = {},
): ReturnType<typeof userShell> =>
  userShell({
    platform: 'linux',
    env: { SHELL: '/bin/sh', HOME: '/home/ada' },
    told: '/bin/zsh',
    folder: '/shop',
    setting: name => settings[name],
    own: name => settings[name],
    ...given,
  });

test('the shell is the one that VS Code tells, else that of the environment, else that of the system', () => {
  const shell = (told: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string =>
    shellOf({}, { told, env, platform }).shell;
  assert.equal(shell('/bin/zsh', { SHELL: '/bin/bash' }, 'linux'), '/bin/zsh');
  assert.equal(shell('', { SHELL: '/bin/bash' }, 'linux'), '/bin/bash');
  assert.equal(shell('', { SHELL: '' }, 'darwin'), '/bin/sh');
  assert.equal(shell('', {}, 'linux'), '/bin/sh');
  assert.equal(shell('', { ComSpec: 'C:\\cmd.exe', SHELL: '/bin/bash' }, 'win32'), 'C:\\cmd.exe');
  assert.equal(shell('', {}, 'win32'), 'cmd.exe');
});

test('the default profile gives its arguments and variables, which go before those of all terminals', () => {
  const settings = {
    'defaultProfile.linux': 'mine',
    'profiles.linux': { mine: { path: 'zsh', args: ['-l', '-c', 'tmux'], env: { A: 'mine', GONE: null } } },
    'env.linux': {
      A: 'all',
      B: '${env:HOME}/${workspaceFolder}${pathSeparator}',
      C: '${command:secret}',
      D: 1,
    },
  };
  assert.deepEqual(shellOf(settings), {
    shell: '/bin/zsh',
    arguments: ['-l'],
    environment: { A: 'mine', B: '/home/ada//shop/', GONE: null },
  });
  assert.deepEqual(shellOf({ ...settings, 'defaultProfile.linux': null }).arguments, []);
});

test('the profile for automation goes before it, with the first of its programs that exists', () => {
  const settings = {
    'defaultProfile.linux': 'mine',
    'profiles.linux': { mine: { path: '/bin/bash', args: ['-l'] } },
    'automationProfile.linux': { path: ['/no/such/shell', '${env:BIN}/sh'], args: ['-e'] },
  };
  const env = { BIN: '/bin' };
  assert.deepEqual(shellOf(settings, { env }), { shell: '/bin/sh', arguments: ['-e'], environment: {} });
  const gone = { ...settings, 'automationProfile.linux': { path: '/no/such/shell', args: ['-e'] } };
  assert.deepEqual(shellOf(gone), { shell: '/bin/bash', arguments: ['-l'], environment: {} });
});

test('an agent, or what starts one in a view, is not taken for the shell; nor are the arguments of its profile', () => {
  const plain = { shell: '/bin/bash', arguments: [], environment: {} };
  const env = { SHELL: '/bin/bash' };
  for (const told of ['/usr/bin/claude', '/opt/Codex.exe', '/opt/redline/redline-run.cjs', '/usr/bin/node'])
    assert.deepEqual(shellOf({}, { told, env }), plain, told);
  assert.equal(shellOf({}, { told: '', env: { SHELL: '/usr/local/bin/redline-run' } }).shell, '/bin/sh');
  const agent = { path: ['claude', '/bin/sh'], args: ['--resume'], env: { A: '1' } };
  const asDefault = { 'defaultProfile.linux': 'agent', 'profiles.linux': { agent } };
  assert.deepEqual(shellOf(asDefault, { told: '/usr/bin/claude', env }), plain);
  const forAutomation = {
    'automationProfile.linux': { path: process.execPath, args: ['redline-run.cjs'] },
    'defaultProfile.linux': 'mine',
    'profiles.linux': { mine: { path: '/bin/sh', args: ['-e'] } },
  };
  assert.deepEqual(shellOf(forAutomation), { shell: '/bin/sh', arguments: ['-e'], environment: {} });
});

test('on Windows, the arguments may be one text', () => {
  const settings = {
    'defaultProfile.windows': 'Git',
    'profiles.windows': { Git: { source: 'Git Bash', args: '--login "--rcfile" "C:\\my rc"' } },
  };
  const told = 'C:\\Program Files\\Git\\bin\\bash.exe';
  assert.deepEqual(shellOf(settings, { platform: 'win32', told }), {
    shell: told,
    arguments: ['--login', '--rcfile', 'C:\\my rc'],
    environment: {},
  });
});

test('a workspace brings variables and a choice among profiles, but no profile, and nothing that runs something else', () => {
  const own = {
    'env.linux': { NODE_OPTIONS: '--mine', A: 'mine' },
    'profiles.linux': { safe: { path: '/bin/sh', args: ['-e'], env: { BASH_ENV: '/home/ada/env' } } },
  };
  const loaders = 'LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV ZDOTDIR NODE_OPTIONS PYTHONSTARTUP';
  const more =
    'PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS GIT_SSH_COMMAND GIT_CONFIG_COUNT XDG_CONFIG_HOME HOME node_options';
  const evil = Object.fromEntries(`${loaders} ${more}`.split(' ').map(name => [name, '/shop/evil']));
  const brought = {
    'env.linux': { ...evil, A: 'theirs', PATH: '/shop/bin', PYTHONPATH: 'src' },
    'defaultProfile.linux': 'safe',
    'automationProfile.linux': { path: '/bin/bash', args: ['/shop/evil'] },
    'profiles.linux': { safe: { path: '/bin/bash', env: evil } },
  };
  const given = { own: (name: string) => (own as Readonly<Record<string, unknown>>)[name] };
  assert.deepEqual(shellOf(brought, given), {
    shell: '/bin/sh',
    arguments: ['-e'],
    environment: {
      A: 'theirs',
      PATH: '/shop/bin',
      PYTHONPATH: 'src',
      NODE_OPTIONS: '--mine',
      BASH_ENV: '/home/ada/env',
    },
  });
});
