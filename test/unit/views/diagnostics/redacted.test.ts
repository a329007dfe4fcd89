import { test } from 'node:test';
import assert from 'node:assert/strict';
import { errorLines, redacted } from '../../../../src/views/diagnostics/redacted.ts';

const hidden = {
  secrets: ['hunter2hunter2'],
  folders: [
    ['/root', '~'],
    ['/home/ada/shop', '<folder 1>'],
    ['C:\\Users\\Ada Byron', '~'],
  ],
} as const;

const cases: readonly (readonly [what: string, text: string, expected: string])[] = [
  ['a known key', 'the key hunter2hunter2 is wrong', 'the key *** is wrong'],
  ['a key of a well-known form', 'Incorrect API key: sk-proj-0123456789abcdef.', 'Incorrect API key: ***'],
  ['a bearer token', '{"authorization":"Bearer abc.def"}', '{"authorization":"Bearer ***"}'],
  ['credentials in an address', 'http://ada:pw@host:1/v1', 'http://host:1/v1'],
  ['the query of an address', '"https://host/v1?key=abc&x=1"', '"https://host/v1?***"'],
  ['the folder inside the home folder', 'at /home/ada/shop/a.ts:1', 'at <folder 1>/a.ts:1'],
  ['the home folder', '/root/.vscode/x', '~/.vscode/x'],
  ['the home folder in JSON', '["C:\\\\Users\\\\Ada Byron\\\\t"]', '["~\\\\t"]'],
  ['the home folder with slashes', 'file:///C:/Users/Ada%20Byron/t', 'file:///~/t'],
  ['the home folder of someone else', '/Users/eve/x and C:\\Users\\eve\\x', '~/x and ~\\x'],
  [
    'nothing else',
    'p1 task-runner v1.2 https://host/v1 src/home/a.ts',
    'p1 task-runner v1.2 https://host/v1 src/home/a.ts',
  ],
];

for (const [what, text, expected] of cases)
  test(`redacted: ${what}`, () => assert.equal(redacted(text, hidden), expected));

test('an error is cut only after its keys are gone', () => {
  const [line = ''] = errorLines([`${'x'.repeat(1_994)}hunter2hunter2 and\nmore`], hidden);
  assert.equal(line, `- ${'x'.repeat(1_994)}*** an`);
});
