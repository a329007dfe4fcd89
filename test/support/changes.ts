import { sideOfText, type FileChange } from '../../src/agent/preview/fileChange.ts';
import type { TextEdit } from '../../src/agent/text/textEdit.ts';

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
