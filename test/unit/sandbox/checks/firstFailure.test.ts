import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult } from '../../../../src/agent/sandbox/checks/check.ts';
import { firstFailure } from '../../../../src/agent/sandbox/checks/firstFailure.ts';

test('a message that ends in a colon is shown with the lines below it', () => {
  const message = 'The input did not match the regular expression /b/. Input:';
  const result = {
    name: 'test',
    outcome: 'failed',
    problems: [{ path: 'a.test.ts', line: 3, column: 1, message, isWarning: false }],
    output: `not ok 1 - adds\n  ${message}\n\n  'the price is a'\n\n  at a.test.ts:3:1\n`,
  } as unknown as CheckResult;
  assert.equal(
    firstFailure([result]),
    `The first failure of test:\n\`\`\`\na.test.ts:3: ${message}\n\n  'the price is a'\n\n  at a.test.ts:3:1\n\`\`\``,
  );
});
