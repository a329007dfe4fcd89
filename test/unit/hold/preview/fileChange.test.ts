import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sha256 } from '../../../../src/agent/base/hash.ts';
import {
  bytesOfSide,
  changeOf,
  sideOfBytes,
  sideOfText,
} from '../../../../src/agent/hold/preview/fileChange.ts';
import { stepsOf } from '../../../../src/agent/hold/preview/fileSteps.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';

test('a side keeps the exact bytes, mark and line endings included, and is known by their hash', () => {
  const bytes = Buffer.from('\ufeffone\r\ntwo', 'utf8');
  const side = sideOfBytes(bytes) ?? assert.fail();
  assert.equal(side.text, 'one\r\ntwo');
  assert.equal(side.hash, sha256(bytes));
  assert.deepEqual(Buffer.from(bytesOfSide(side)), bytes);
});

test('a side made of text is the side of its bytes', () => {
  const encoding = { name: 'utf16be', bom: true } as const;
  const side = sideOfText('aä', encoding);
  assert.deepEqual(sideOfBytes(bytesOfSide(side)), side);
  assert.notEqual(side.hash, sideOfText('aä').hash);
});

test('the text of a side is what its bytes say: half a surrogate pair cannot be stored in UTF-8', () => {
  const side = sideOfText('a\ud800');
  assert.equal(side.text, 'a\ufffd');
  assert.deepEqual(sideOfBytes(bytesOfSide(side)), side);
});

test('bytes that are not text make no side', () => {
  assert.equal(sideOfBytes(Uint8Array.of(0, 1)), undefined);
});

test('two sides make a modification, a creation, a deletion, or nothing', () => {
  const a = sideOfText('a');
  const b = sideOfText('b');
  assert.deepEqual(changeOf('f', a, b), modify('f', 'a', 'b'));
  assert.deepEqual(changeOf('f', null, b), create('f', 'b'));
  assert.deepEqual(changeOf('f', a, null), remove('f', 'a'));
  assert.equal(changeOf('f', a, sideOfText('a')), undefined);
  assert.equal(changeOf('f', null, null), undefined);
});

test('the same text in another encoding is a modification', () => {
  const change = changeOf('f', sideOfText('a'), sideOfText('a', { name: 'utf8', bom: true }));
  assert.equal(change?.kind, 'modify');
});

test('an empty file is not a missing one', () => {
  assert.deepEqual(changeOf('f', null, sideOfText('')), create('f', ''));
  assert.deepEqual(changeOf('f', sideOfText(''), null), remove('f', ''));
});

test('every kind of change is steps on single paths; a rename removes and creates', () => {
  const a = sideOfText('a');
  const b = sideOfText('b');
  assert.deepEqual(stepsOf(modify('f', 'a', 'b')), [{ path: 'f', before: a, after: b }]);
  assert.deepEqual(stepsOf(create('f', 'b')), [{ path: 'f', before: null, after: b }]);
  assert.deepEqual(stepsOf(remove('f', 'a')), [{ path: 'f', before: a, after: null }]);
  assert.deepEqual(stepsOf(rename('f', 'g', 'a', 'b')), [
    { path: 'f', before: a, after: null },
    { path: 'g', before: null, after: b },
  ]);
});
