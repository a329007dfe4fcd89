import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programCall, type ProgramCall } from '../../../../src/agent/base/system/programCall.ts';

const FILES = [
  'C:\\node\\npm',
  'C:\\node\\npm.cmd',
  'C:\\node\\node.exe',
  'C:\\w\\build.bat',
  'C:\\w\\git.exe',
];
const env = { Path: 'C:\\none;"C:\\node"', PATHEXT: '.COM;.EXE;.BAT;.CMD', SystemRoot: 'C:\\Windows' };

const call = (
  program: string,
  args: readonly string[] = [],
  platform: NodeJS.Platform = 'win32',
): ProgramCall => programCall(program, args, 'C:\\w', env, platform, file => FILES.includes(file));

const batch = (line: string): ProgramCall => ({
  program: 'C:\\Windows\\System32\\cmd.exe',
  args: ['/e:on', '/v:off', '/d', '/s', '/c', `"chcp 65001>nul&${line}"`],
  isVerbatim: true,
});

test('on Windows, a batch file is found by its name as other programs are, and run by cmd.exe with output in UTF-8', () => {
  assert.deepEqual(call('npm', ['ci']), batch('"C:\\node\\npm.cmd" "ci"'));
  assert.deepEqual(call('C:\\node\\npm.cmd'), batch('"C:\\node\\npm.cmd"'));
  assert.deepEqual(call('./build'), batch('"C:\\w\\build.bat"'));
});

test('other programs, names that are not found, and other systems are spawned as they are', () => {
  for (const program of ['node', 'node.exe', 'build', 'none.cmd', 'C:\\w\\git'])
    assert.deepEqual(call(program, ['a b']), { program, args: ['a b'], isVerbatim: false });
  assert.deepEqual(call('npm', ['"'], 'linux'), { program: 'npm', args: ['"'], isVerbatim: false });
});

test('an argument cannot end its quotation, and no variable in it is expanded', () => {
  const line = (argument: string): string =>
    call('npm', [argument]).args.at(-1)?.split('npm.cmd" ')[1]?.slice(0, -1) ?? '';
  assert.equal(line('a" & calc & "'), '"a"" & calc & """');
  assert.equal(line('C:\\dir\\'), '"C:\\dir\\\\"');
  assert.equal(line('\\"'), '"\\\\"""');
  assert.equal(line('100%PATH%'), '"100%%cd:~,%PATH%%cd:~,%"');
  assert.equal(line(''), '""');
  for (const several of ['a\nb', 'a\rb']) assert.throws(() => call('npm', [several]), /several lines/);
  assert.deepEqual(call('node', ['a\nb']).args, ['a\nb']);
});
