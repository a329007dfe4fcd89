import { test } from 'node:test';
import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { commandLabel, shownCommand } from '../../../../src/agent/sandbox/commands/commandPlan.ts';
import {
  HEAD_CHARS,
  OutputBuffer,
  plainOutput,
  TAIL_CHARS,
} from '../../../../src/agent/sandbox/commands/outputBuffer.ts';

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
  assert.equal(plainOutput('\x1b[31'), '');
});

test('an escape sequence that does not end hides nothing', () => {
  for (const begin of [
    '\x1b]0;',
    '\x1bP',
    '\x1bX',
    '\x1b^',
    '\x1b_',
    '\x9d0;',
    '\x90',
    '\x1b[',
    '\x9b1;2;',
    '\x1b',
  ])
    for (const end of ['', '\x07', '\x1b\\'])
      assert.match(
        plainOutput(`before\n${begin}\nFAIL 3 tests\n${end}`),
        /^before\n.*\nFAIL 3 tests\n$/,
        JSON.stringify(begin),
      );
  assert.equal(plainOutput('a\x1b]0;never ended'), 'a0;never ended');
  const far = 'x'.repeat(5_000);
  assert.equal(plainOutput(`\x1b]0;FAIL ${far}\x07`), `0;FAIL ${far}`);
  assert.ok(plainOutput(`\x1b[${'1'.repeat(5_000)} FAIL`).endsWith('FAIL'));
});

/** Complete sequences, as programs write them. */
const sequences = fc.oneof(
  fc.constantFrom(
    '\x1b[0m',
    '\x1b[1;31m',
    '\x1b[2K',
    '\x1b[?25l',
    '\x1b[38;5;196m',
    '\x1b[10;20H',
    '\x9b31m',
  ),
  fc
    .tuple(
      fc.constantFrom('0;', '2;', '8;;https://a.example/'),
      fc.stringMatching(/^[a-z]{0,12}$/),
      fc.constantFrom('\x07', '\x1b\\', '\x9c'),
    )
    .map(([kind, text, end]) => `\x1b]${kind}${text}${end}`),
);

test('complete sequences are removed as Node removes them, however the output is split', () => {
  const text = fc.stringMatching(/^[a-zA-Z0-9 .:\n]{0,8}$/);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(text, sequences), { maxLength: 30 }),
      fc.array(fc.nat(200), { maxLength: 10 }),
      (parts, cuts) => {
        const whole = parts.join('');
        const buffer = new OutputBuffer();
        const places = [0, ...cuts.map(at => at % (whole.length + 1)), whole.length].toSorted(
          (a, b) => a - b,
        );
        places.forEach((at, n) => buffer.add(whole.slice(at, places[n + 1] ?? at)));
        assert.equal(buffer.text(), stripVTControlCharacters(whole));
      },
    ),
  );
});

test('no line of an output is hidden by others that are in it', () => {
  const noise = fc.array(
    fc.constantFrom('\x1b', ']', '[', 'P', '_', '\x9d', '\x9b', '0;', '31', 'm', '\x07', '\\', '\x9c', ' '),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(noise, noise, (before, after) => {
      const lines = plainOutput(`${before.join('')}\nFAIL 3 tests\n${after.join('')}`).split('\n');
      assert.equal(lines[1], 'FAIL 3 tests');
    }),
  );
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
