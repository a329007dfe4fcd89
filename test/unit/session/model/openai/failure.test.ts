import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english, type Localiser } from '../../../../../src/agent/base/localiser.ts';
import type { ProviderFailure } from '../../../../../src/agent/session/model/chatProvider.ts';
import { failureOf, hostOf, redact } from '../../../../../src/agent/session/model/openai/failure.ts';
import {
  ConnectionFailure,
  HttpFailure,
  KnownFault,
  ReportedError,
} from '../../../../../src/agent/session/model/openai/faults.ts';

const context = {
  baseUrl: 'http://127.0.0.1:11434/v1',
  model: 'qwen3',
  hasKey: true,
  secrets: ['sk-secret-1'],
  l10n: english,
};
const ofStatus = (status: number, body = '', retryAfter?: number): ProviderFailure =>
  failureOf(new HttpFailure(status, body, retryAfter), context);

for (const [status, code] of [
  [301, 'notFound'],
  [400, 'badRequest'],
  [401, 'unauthorized'],
  [402, 'rateLimited'],
  [403, 'unauthorized'],
  [404, 'notFound'],
  [408, 'server'],
  [413, 'contextLength'],
  [422, 'badRequest'],
  [429, 'rateLimited'],
  [500, 'server'],
  [503, 'server'],
] as const) {
  test(`status ${status} is ${code}`, () => {
    const failure = ofStatus(status, '{"error":{"message":"Why it is so."}}');
    assert.equal(failure.code, code);
    assert.equal(failure.status, status);
    assert.match(failure.message, /127\.0\.0\.1:11434/);
    assert.match(failure.message, /It said: “Why it is so\.”$/);
    assert.match(failure.detail, /Why it is so/);
    assert.match(failure.detail, /qwen3/);
  });
}

for (const [what, body, words] of [
  ['an error text', '{"error":"Invalid tool_choice type"}', 'Invalid tool_choice type'],
  ['a message', '{"object":"error","message":"No such model"}', 'No such model'],
  [
    'validation details',
    '{"detail":[{"loc":["body"],"msg":"Extra inputs"},{"msg":"Twice"}]}',
    'Extra inputs; Twice',
  ],
  ['a list of errors', '[{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}}]', 'Bad'],
  ['plain text', 'upstream\n\n  is\tdown\u0007', 'upstream is down'],
] as const) {
  test(`the server's message is found in ${what}`, () => {
    assert.ok(ofStatus(400, body).message.endsWith(`It said: “${words}”`), ofStatus(400, body).message);
  });
}

test('a web page and an empty body are not quoted, and a long message is cut', () => {
  assert.doesNotMatch(ofStatus(502, '<html><body>Bad gateway</body></html>').message, /It said/);
  assert.doesNotMatch(ofStatus(502).message, /It said/);
  assert.ok(ofStatus(400, 'x'.repeat(100_000)).message.length < 500);
  assert.ok(ofStatus(400, 'x'.repeat(100_000)).detail.length < 5_000);
});

test('without a key the sentence says that one is required', () => {
  assert.match(ofStatus(401).message, /rejected the API key/);
  assert.match(
    failureOf(new HttpFailure(401, ''), { ...context, hasKey: false }).message,
    /requires an API key/,
  );
});

test('the sentence says how long to wait', () => {
  assert.match(ofStatus(429, '', 20).message, /Try again in 20 s\.$/);
  assert.match(ofStatus(429, '', 600).message, /Try again in about 10 minutes/);
  assert.match(ofStatus(429).message, /Try again a little later/);
});

function connectionError(code: string): ConnectionFailure {
  return new ConnectionFailure('Connection error.', {
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) }),
  });
}
for (const [code, words] of [
  ['ECONNREFUSED', /Nothing answers at 127\.0\.0\.1:11434/],
  ['ENOTFOUND', /could not be found/],
  ['EAI_AGAIN', /could not be found/],
  ['ETIMEDOUT', /did not answer in time/],
  ['UND_ERR_CONNECT_TIMEOUT', /did not answer in time/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate of 127\.0\.0\.1:11434 is not trusted/],
  ['CERT_HAS_EXPIRED', /certificate/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak https/],
  ['ECONNRESET', /connection to 127\.0\.0\.1:11434 failed \(ECONNRESET\)/],
] as const) {
  test(`${code} is unreachable, in words`, () => {
    const failure = failureOf(connectionError(code), context);
    assert.equal(failure.code, 'unreachable');
    assert.match(failure.message, words);
    assert.match(failure.detail, new RegExp(code));
  });
}

test('the code of a name with several addresses is found in the aggregate', () => {
  const inner = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  const cause = new TypeError('fetch failed', { cause: new AggregateError([inner]) });
  assert.match(failureOf(new ConnectionFailure('', { cause }), context).message, /Nothing answers/);
});

test('an error in a stream is classified by its status, else as the server’s', () => {
  assert.equal(
    failureOf(new ReportedError({ code: 429, message: 'slow down' }), context).code,
    'rateLimited',
  );
  const plain = failureOf(new ReportedError({ message: 'out of memory', code: 'oom' }), context);
  assert.equal(plain.code, 'server');
  assert.match(plain.message, /in the middle of its answer\. It said: “out of memory”/);
  assert.equal(failureOf(new ReportedError('plain words'), context).code, 'server');
});

test('broken answers and unknown errors', () => {
  assert.deepEqual(
    [failureOf(new KnownFault('broken', () => 'Sentence.'), context)].map(({ code, message }) => [
      code,
      message,
    ]),
    [['broken', 'Sentence.']],
  );
  assert.equal(failureOf(new KnownFault('noModel', () => 'No model.'), context).code, 'noModel');
  for (const odd of [new TypeError('terminated'), 'text', undefined, null]) {
    assert.equal(failureOf(odd, context).code, 'broken');
  }
});

test('secrets are hidden in every part and every form', () => {
  const secret = 'k"ey/with ä';
  const failure = failureOf(
    new HttpFailure(401, `plain ${secret} json ${JSON.stringify(secret)} url ${encodeURIComponent(secret)}`),
    {
      ...context,
      secrets: [secret],
    },
  );
  for (const part of [failure.message, failure.detail]) {
    assert.ok(
      !part.includes(secret) && !part.includes(encodeURIComponent(secret)) && !part.includes('k\\"ey'),
      part,
    );
  }
  assert.equal(redact('a sk-1-long and sk-1', ['sk-1', 'sk-1-long']), 'a *** and ***');
  assert.equal(redact('as it is', ['', 'is']), 'as it is');
});

test('a host never contains a user name or a password', () => {
  assert.equal(hostOf('https://user:pass@api.example/v1?key=x'), 'api.example:443');
  assert.equal(hostOf('http://h/v1'), 'h:80');
  assert.equal(hostOf('nonsense'), 'the server');
});

test('the sentence is in the language of the user, the detail for the log is not', () => {
  const upper: Localiser = { t: (message, ...args) => english.t(message, ...args).toUpperCase() };
  const there = { ...context, l10n: upper };
  for (const error of [
    new HttpFailure(401, ''),
    new HttpFailure(418, 'why'),
    connectionError('ECONNREFUSED'),
    new ReportedError('words'),
    new KnownFault('broken', l10n => l10n.t('Cut off.')),
    new KnownFault('noModel', l10n => l10n.t('No model.')),
    undefined,
  ]) {
    const { message, detail } = failureOf(error, there);
    assert.equal(message, failureOf(error, context).message.toUpperCase());
    assert.equal(detail, failureOf(error, context).detail);
  }
});
