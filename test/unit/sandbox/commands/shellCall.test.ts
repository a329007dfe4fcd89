import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as path from 'node:path';
import {
  argumentsBeforeCommand,
  batchScripts,
  prepareCall,
  shellLine,
} from '../../../../src/agent/sandbox/commands/shellCall.ts';

const plan = (shell: string, command: string, args: readonly string[] = []) => ({
  command,
  shell,
  arguments: args,
  folder: '/',
  environment: {},
  timeLimit: 1,
});

test('POSIX shells and WSL get the text as it is, after the arguments of the profile', async () => {
  const text = "echo 'a' # b\n\techo c";
  for (const [shell, args, expected] of [
    ['/usr/bin/zsh', ['-l'], ['-l', '-c', text]],
    ['C:\\Program Files\\Git\\bin\\bash.exe', [], ['-c', text]],
    ['C:\\Windows\\System32\\wsl.exe', ['-d', 'Ubuntu'], ['-d', 'Ubuntu', '--exec', 'sh', '-c', text]],
  ] as const) {
    const call = await prepareCall(plan(shell, text, args));
    assert.deepEqual([call.args, call.isVerbatim], [expected, false]);
  }
  assert.equal(shellLine(plan('/usr/bin/zsh', text, ['-l'])), '/usr/bin/zsh -l -c');
});

test('PowerShell gets a script that writes UTF-8, is found by its quoted path, and ends with the code of its last statement', async () => {
  const call = await prepareCall(
    plan('C:\\Program Files\\PowerShell\\7\\pwsh.exe', 'ls\nnpm test', ['-NoLogo']),
  );
  assert.deepEqual(call.args.slice(0, 3), ['-NoLogo', '-NonInteractive', '-Command']);
  const [, file = ''] = /ReadAllText\('(.*run\.ps1)'\)/.exec(call.args[3] ?? '') ?? [];
  const lines = readFileSync(file, 'utf8').split('\n');
  assert.match(lines[0] ?? '', /OutputEncoding = New-Object Text.UTF8Encoding/);
  assert.deepEqual(lines.slice(1, -1), ['ls', 'npm test']);
  assert.match(lines.at(-1) ?? '', /exit \$LASTEXITCODE/);
  await call.remove();
  assert.equal(existsSync(path.dirname(file)), false);
});

test('cmd.exe is called with a batch file that switches to UTF-8 and runs every line', async () => {
  const call = await prepareCall(
    plan('C:\\Windows\\system32\\cmd.exe', 'echo Grün\nnpm ci\necho two', ['/v:on']),
  );
  assert.equal(call.isVerbatim, true);
  assert.deepEqual(call.args.slice(0, -1), ['/v:on', '/d', '/s', '/c']);
  const [, file = ''] = /^"call "(.*)""$/.exec(call.args.at(-1) ?? '') ?? [];
  assert.equal(
    readFileSync(file, 'utf8'),
    ['@echo off', 'chcp 65001 >nul', ...[1, 2, 3].map(i => `call "%~dp0${i}.cmd"`), ''].join('\r\n'),
  );
  assert.equal(readFileSync(path.join(path.dirname(file), '1.cmd'), 'utf8'), 'echo Grün\r\n');
  await call.remove();
});

test('lines of one statement stay together in a batch file, and so does a text that jumps', () => {
  const parts = (command: string): string[] =>
    Object.entries(batchScripts(command))
      .filter(([name]) => name !== 'run.cmd')
      .map(([, text]) => text.trimEnd().replaceAll('\r\n', '|'));
  assert.deepEqual(parts('npm ci\r\n\r\nnpm test'), ['npm ci', 'npm test']);
  assert.deepEqual(parts('if exist a (\n  echo x\n) else (\n  echo y\n)\necho z'), [
    'if exist a (|  echo x|) else (|  echo y|)',
    'echo z',
  ]);
  assert.deepEqual(parts('echo a ^\n  b\necho "(" ^(\necho c'), ['echo a ^|  b', 'echo "(" ^(', 'echo c']);
  for (const one of [
    'echo a\n:again\ngoto again',
    'call :sub\nexit /b 1\n:sub',
    'setlocal\nset A=1\necho %A%',
  ])
    assert.deepEqual(parts(one), [one.replaceAll('\n', '|')]);
});

test('arguments with which a shell would run something else are left out', () => {
  for (const [shell, given, kept] of [
    ['/bin/bash', ['--login', '-ic', 'tmux'], ['--login']],
    ['/bin/zsh', ['-l', '--no-rcs'], ['-l', '--no-rcs']],
    [
      'powershell.exe',
      ['-NoLogo', '-ExecutionPolicy', 'Bypass', '-NoExit', '-Command', 'x'],
      ['-NoLogo', '-ExecutionPolicy', 'Bypass'],
    ],
    ['cmd.exe', ['/v:on', '/k', 'vcvars64.bat'], ['/v:on']],
    ['wsl.exe', ['-d', 'Ubuntu', '--', 'fish'], ['-d', 'Ubuntu']],
  ] as const)
    assert.deepEqual(argumentsBeforeCommand(shell, given), kept);
});
