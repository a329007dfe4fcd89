import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  failureCodeOf,
  faultOf,
  UnusableAnswer,
  type FaultKind,
} from '../../../../../src/agent/session/model/languageModel/fault.ts';

/** An error as VS Code's API throws it: the class is not ours, so only its fields count. */
const errorOf = (message: string, fields: { name?: string; code?: string; cause?: unknown } = {}): Error =>
  Object.assign(new Error(message), fields);

const ofLanguageModels = (code: string, message = code): Error =>
  errorOf(message, { name: 'LanguageModelError', code });

const CASES: readonly (readonly [what: string, error: unknown, kind: FaultKind, code: string])[] = [
  ['no permission', ofLanguageModels('NoPermissions'), 'noPermission', 'forbidden'],
  ['blocked', ofLanguageModels('Blocked'), 'blocked', 'rateLimited'],
  ['a model that is gone', ofLanguageModels('NotFound'), 'missing', 'notFound'],
  ['a used-up quota', errorOf('', { name: 'ChatQuotaExceeded' }), 'quota', 'rateLimited'],
  ['a rate limit', errorOf('Slow down', { name: 'ChatRateLimited' }), 'rateLimited', 'rateLimited'],
  [
    'a request that was cancelled elsewhere',
    errorOf('Canceled', { name: 'Canceled' }),
    'cancelled',
    'broken',
  ],
  [
    'an off-topic cause of an unknown error',
    errorOf('x', { name: 'LanguageModelError', code: 'Unknown', cause: new Error('off_topic') }),
    'offTopic',
    'badRequest',
  ],
  ['a content filter', errorOf('Response got filtered: content_filter'), 'filtered', 'badRequest'],
  ['a conversation that is too long', errorOf('Message exceeds token limit.'), 'tooLong', 'contextLength'],
  [
    'the same in other words',
    errorOf('prompt is too long: 9 tokens > 8 maximum'),
    'tooLong',
    'contextLength',
  ],
  [
    'the same as Copilot says it',
    errorOf('Request Failed: 400 {"error":{"message":"prompt token count of 9 exceeds the limit of 8"}}'),
    'tooLong',
    'contextLength',
  ],
  [
    'the same as a server says it, passed on by an extension',
    errorOf('The input token count (9) exceeds the maximum number of tokens allowed (8).'),
    'tooLong',
    'contextLength',
  ],
  ['too many tools', errorOf('Cannot have more than 128 tools per request.'), 'tooManyTools', 'badRequest'],
  ['a quota in the text', errorOf('You exceeded your current quota'), 'quota', 'rateLimited'],
  ['a rate limit in the text', errorOf('Too Many Requests'), 'rateLimited', 'rateLimited'],
  ['a code that is not known', ofLanguageModels('Unknown', 'Boom'), 'unknown', 'server'],
  ['a name of the prototype', errorOf('x', { code: 'constructor', name: 'toString' }), 'unknown', 'server'],
  ['an answer that is too large', new UnusableAnswer('tooLarge', 'x'), 'tooLarge', 'broken'],
  ['an answer that cannot be read', new UnusableAnswer('malformed', 'x'), 'malformed', 'broken'],
  ['a text', 'no', 'unknown', 'server'],
  ['nothing', undefined, 'unknown', 'server'],
];

for (const [what, error, kind, code] of CASES)
  test(`${what} is a fault of the kind ${kind}`, () => {
    const fault = faultOf(error);
    assert.equal(fault.kind, kind);
    assert.equal(failureCodeOf(fault.kind), code);
  });

test('what was said is quoted on one line and in bounds; the log gets the causes', () => {
  const cause = new Error('upstream\u0007 said\n\n no');
  const fault = faultOf(errorOf('', { cause }));
  assert.equal(fault.said, 'upstream said no');
  assert.match(fault.detail, /caused by Error: upstream/);
  assert.equal(faultOf(new Error('x'.repeat(10_000))).said.length, 300);
  assert.ok(faultOf(new Error('x'.repeat(100_000))).detail.length <= 4_000);
});

test('causes that lead in a circle end', () => {
  const one = errorOf('one');
  one.cause = errorOf('two', { cause: one });
  assert.equal(faultOf(one).kind, 'unknown');
});
