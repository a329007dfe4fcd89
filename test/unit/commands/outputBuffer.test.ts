import { test } from 'node:test';
import assert from 'node:assert/strict';
import { commandLabel, shownCommand } from '../../../src/agent/commands/commandPlan.ts';
import {
  HEAD_CHARS,
  OutputBuffer,
  plainOutput,
  TAIL_CHARS,
} from '../../../src/agent/commands/outputBuffer.ts';

test('of 100 MB the beginning and the end are kept, no more, and what is missing is said', () => {
  const buffer = new OutputBuffer();
  buffer.add('first\n');
  const chunk = `${'x'.repeat(65_535)}\n`;
  for (let i = 0; i < 1_600; i++) buffer.add(chunk);
  buffer.add('last\n');
  const text = buffer.text();
  assert.ok(text.startsWith('first\nxxx'));
  assert.ok(text.endsWith('x\nlast\n'));
  const left = 11 + 1_600 * 65_536 - HEAD_CHARS - TAIL_CHARS;
  assert.ok(text.includes(`\n[${left} characters of output are left out here]\n`));
  assert.ok(text.length < HEAD_CHARS + TAIL_CHARS + 100);
  assert.ok(buffer.end(50).endsWith('last\n'));
});

test('a short output is kept whole, however it arrives', () => {
  const buffer = new OutputBuffer();
  const whole = 'ab\n'.repeat((HEAD_CHARS + TAIL_CHARS) / 3);
  for (let at = 0; at < whole.length; at += 777) buffer.add(whole.slice(at, at + 777));
  assert.equal(buffer.text(), whole);
});

test('escape sequences, also split ones, and overwritten text are not part of the output', () => {
  const buffer = new OutputBuffer();
  for (const char of '\x1b]633;C\x07\x1b[1;31mred\x1b[0m\r\n10%\r\x1b[K100%\r\n\x1b(Bend\x07\b')
    buffer.add(char);
  assert.equal(buffer.text(), 'red\n100%\nend');
  assert.equal(plainOutput('a\x1b]0;never ended'), 'a');
  assert.equal(plainOutput('\x1b[31'), '');
});

test('a command is shown with escapes for what would hide something', () => {
  assert.equal(
    shownCommand('ls\x1b[2K\r rm\u202e x\u200b\u{e0041}\ud800'),
    'ls\\x1b[2K\\x0d rm\\u202e x\\u200b\\u{e0041}\\ud800',
  );
  assert.equal(shownCommand("echo 'ä 🙂'\n\tls"), "echo 'ä 🙂'\n\tls");
  assert.equal(commandLabel('a   \n\n  b\x07'), 'a b\\x07');
  assert.equal(commandLabel('x'.repeat(500)).length, 120);
});
