import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultKind } from '../../../../../src/agent/session/model/languageModel/fault.ts';
import { fill } from '../../../../../src/agent/base/localiser.ts';
import { faultSentence } from '../../../../../src/views/chat/models/faultSentence.ts';

/** Every kind of fault, as the compiler checks. */
const KINDS: Readonly<Record<FaultKind, RegExp>> = {
  missing: /does not offer the model acme\/m now/,
  noPermission: /may not use acme\/m/,
  blocked: /is not accepting requests/,
  quota: /no requests left/,
  rateLimited: /limiting requests/,
  offTopic: /unrelated to programming/,
  filtered: /content filter/,
  tooLong: /too long for acme\/m/,
  tooManyTools: /more tools than acme\/m accepts/,
  noImages: /cannot send images to acme\/m/,
  cancelled: /cancelled, but not by you/,
  tooLarge: /became too large/,
  malformed: /cannot be read/,
  unknown: /did not answer/,
};

for (const [kind, expected] of Object.entries(KINDS) as [FaultKind, RegExp][])
  test(`a fault of the kind ${kind} has a sentence that is localised and names the model`, () => {
    const asked: string[] = [];
    const l10n = {
      t(text: string, ...values: string[]): string {
        asked.push(text);
        return fill(text, ...values);
      },
    };
    const sentence = faultSentence('acme/m', { kind, said: '', detail: 'secret detail' }, undefined, l10n);
    assert.match(sentence, expected);
    assert.deepEqual(asked.length, 1);
    assert.ok(
      sentence.includes('acme/m') && !sentence.includes('{') && !sentence.includes('secret'),
      sentence,
    );
  });

test('what was said is quoted, and the size of a request that is too long is told', () => {
  const l10n = { t: fill };
  const quoted = faultSentence('acme/m', { kind: 'unknown', said: 'Boom', detail: '' }, undefined, l10n);
  assert.equal(quoted, 'acme/m did not answer. It said: “Boom”');
  const fault = { kind: 'tooLong', said: '', detail: '' } as const;
  const sized = faultSentence('acme/m', fault, { tokens: 9_000, limit: 8_000 }, l10n);
  assert.match(sized, /about 9000 tokens of at most 8000/);
});
