import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathError, ToolError, type PathErrorCode } from '../../../../src/agent/base/errors.ts';
import {
  BlockedPreviewError,
  JournalError,
  RefusedVoteError,
  StalePreviewError,
  UnsavedEditorError,
} from '../../../../src/agent/hold/preview/errors.ts';
import { fill } from '../../../../src/agent/base/localiser.ts';
import { sentenceFor } from '../../../../src/views/texts/errorSentence.ts';

const sentence = (error: unknown): string | undefined => sentenceFor(error, { t: fill });

test('each kind of refused path has its own sentence', () => {
  const codes: PathErrorCode[] = ['outside', 'protected', 'empty', 'noWorkspace'];
  const sentences = codes.map(code => sentence(new PathError(code, 'for the model')));
  assert.match(
    sentences.join('\n'),
    /outside the workspace[^]*git itself[^]*Not a file path[^]*No folder is open/,
  );
  assert.equal(new Set(sentences).size, codes.length);
});

test('a stale base names its files, any other known error shows its message, and an unknown one has no sentence', () => {
  assert.match(sentence(new StalePreviewError(['a.ts', 'b.ts'])) ?? '', /a\.ts, b\.ts changed/);
  const many = new StalePreviewError(Array.from({ length: 2_000 }, (_, n) => `f${n}.ts`));
  assert.match(sentence(many) ?? '', /: f0\.ts, f1\.ts, f2\.ts, f3\.ts, f4\.ts and 1995 more changed after/);
  assert.match(many.message, /, f18\.ts, f19\.ts and 1980 more changed after/, 'what the model is told');
  assert.equal(
    sentence(new ToolError('It is gone.', { advice: 'Read it.' })),
    'That did not work: It is gone.',
    'without what the model is to do',
  );
  assert.equal(sentence(new TypeError('x is not a function')), undefined);
});

test('a refused vote is told in words for people, without those for the model', () => {
  const refusals = (['outdated', 'unknown', 'conflicts', 'elsewhere'] as const).map(
    code => new RefusedVoteError(code, 'resolve it again, p1', ['a.ts']),
  );
  const all = [...refusals, new BlockedPreviewError('p2', ['p1']), new UnsavedEditorError('a.ts')].map(
    sentence,
  );
  assert.equal(new Set(all).size, all.length);
  for (const each of all)
    assert.doesNotMatch(each ?? 'That did not work', /revision|resolve|That did not work/);
});

test('a storage that cannot be written: nothing was applied, and what to do about it', () => {
  const errorOf = (code: string) => Object.assign(new Error(`${code}: text of the system`), { code });
  const told = (code: string): string => sentence(new JournalError(errorOf(code))) ?? '';
  for (const [code, advice] of [
    ['ENOSPC', /free some space/],
    ['EROFS', /make it writable/],
    ['EACCES', /check its permissions/],
    ['EIO', /EIO: text of the system/],
  ] as const) {
    assert.match(told(code), /^Nothing was applied, .* still pending\. /);
    assert.match(told(code), advice);
  }
});
