import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  PathError,
  StalePreviewError,
  ToolError,
  type PathErrorCode,
} from '../../../src/agent/base/errors.ts';
import { fill } from '../../../src/views/chat/protocol.ts';
import { sentenceFor } from '../../../src/views/errorSentence.ts';

const sentence = (error: unknown): string | undefined => sentenceFor(error, { t: fill });

test('each kind of refused path has a sentence of its own', () => {
  const codes: PathErrorCode[] = ['outside', 'protected', 'empty', 'noWorkspace'];
  const sentences = codes.map(code => sentence(new PathError(code, 'for the model')));
  assert.match(
    sentences.join('\n'),
    /not inside the workspace[^]*git itself[^]*no path of a file[^]*No folder is open/,
  );
  assert.equal(new Set(sentences).size, codes.length);
});

test('a stale base names its files, another known error says what it says, and an unknown one nothing', () => {
  assert.match(sentence(new StalePreviewError(['a.ts', 'b.ts'])) ?? '', /a\.ts, b\.ts changed/);
  assert.equal(sentence(new ToolError('Read it.')), 'Nothing was resolved: Read it.');
  assert.equal(sentence(new TypeError('x is not a function')), undefined);
});
