import assert from 'node:assert/strict';
import {
  isText,
  sideOfText,
  type FileChange,
  type FileSide,
} from '../../src/agent/hold/preview/fileChange.ts';
import type { TextEncoding } from '../../src/agent/hold/text/encodings.ts';
import type { TextEdit } from '../../src/agent/hold/text/textEdit.ts';

/** File changes from plain texts, in UTF-8. */
export const modify = (
  path: string,
  before: string,
  after: string,
  edits?: readonly TextEdit[],
): FileChange => ({
  kind: 'modify',
  path,
  before: sideOfText(before),
  after: sideOfText(after),
  ...(edits ? { edits } : {}),
});

export const create = (path: string, after: string): FileChange => ({
  kind: 'create',
  path,
  before: null,
  after: sideOfText(after),
});

export const remove = (path: string, before: string): FileChange => ({
  kind: 'delete',
  path,
  before: sideOfText(before),
  after: null,
});

export const rename = (from: string, path: string, before: string, after = before): FileChange => ({
  kind: 'rename',
  path,
  from,
  before: sideOfText(before),
  after: sideOfText(after),
});

/** The text of a side, which must be one; `undefined` where there is no file. */
export function textIn<Side extends FileSide | null | undefined>(
  side: Side,
): string | (Side extends null | undefined ? undefined : never) {
  if (side) return isText(side) ? side.text : assert.fail('It is no text.');
  return undefined as Side extends null | undefined ? undefined : never;
}

/** The encoding of a side, which must be a text; `undefined` where there is no file. */
export function encodingIn(side: FileSide | null | undefined): TextEncoding | undefined {
  if (side) return isText(side) ? side.encoding : assert.fail('It is no text.');
  return undefined;
}
