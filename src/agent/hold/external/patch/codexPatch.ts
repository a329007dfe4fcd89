import { messageOf } from '../../../base/errors.ts';
import type { PatchedFile, PatchHunk, PatchPart } from './patchParts.ts';

/** First line of a patch for Codex's `apply_patch` tool. No line of a hunk is like this. */
const BEGIN = /^\*\*\* Begin Patch\s*$/m;
const END = /^\*\*\* End Patch\s*$/m;
/** Header line of a file. */
const FILE = /^\*\*\* (?<what>Add|Update|Delete) File: (?<name>.*)$/;
/** Start of the next file. */
const NEXT_FILE = /^(?=\*\*\* (?:Add|Update|Delete) File: )/m;

export function hasCodexPatch(text: string): boolean {
  return BEGIN.test(text);
}

/** Files of patches in the Codex format, which has no line numbers. Several patches form a series. */
export function parseCodexPatch(text: string): readonly PatchPart[] {
  const [, ...patches] = text.replaceAll('\r\n', '\n').split(BEGIN);
  return patches.flatMap((patch, n) => {
    const [body = ''] = patch.split(END, 1);
    const [, ...files] = body.split(NEXT_FILE);
    return files.map((file, m) => {
      const part = partOf(file.split('\n'));
      return n > 0 && m === 0 && part.kind !== 'unusable' ? { ...part, isFirst: true } : part;
    });
  });
}

function partOf([heading = '', ...rest]: readonly string[]): PatchPart {
  const { what, name = '' } = FILE.exec(heading)?.groups ?? {};
  const lines = rest.at(-1) === '' ? rest.slice(0, -1) : rest;
  const plain = { from: [name], to: [name], isBinary: false } as const;
  try {
    switch (what) {
      case 'Add':
        return { ...plain, kind: 'create', hunks: addedHunks(lines) };
      case 'Delete':
        return { ...plain, kind: 'delete', hunks: [], isAnyContent: true };
      default:
        return updated(plain, lines);
    }
  } catch (error) {
    return { kind: 'unusable', heading, why: 'malformed', message: messageOf(error) };
  }
}

function addedHunks(lines: readonly string[]): readonly PatchHunk[] {
  const strange = lines.find(line => !line.startsWith('+'));
  if (strange !== undefined) throw new Error(`Not a line of a new file: ${strange}`);
  return lines.length === 0 ? [] : [{ oldStart: 1, lines }];
}

const MOVE = '*** Move to: ';

function updated(
  plain: Pick<PatchedFile, 'from' | 'to' | 'isBinary'>,
  lines: readonly string[],
): PatchedFile {
  const [first = '', ...others] = lines;
  if (!first.startsWith(MOVE)) return { ...plain, kind: 'modify', hunks: hunksIn(lines) };
  return { ...plain, kind: 'rename', to: [first.slice(MOVE.length)], hunks: hunksIn(others) };
}

function hunksIn(lines: readonly string[]): readonly PatchHunk[] {
  const hunks: PatchHunk[] = [];
  let below: string[] = [];
  let body: string[] = [];
  const end = (isLast = false): void => {
    if (body.length > 0) hunks.push({ below, lines: body, ...(isLast ? { isLast } : {}) });
    if (body.length > 0) [below, body] = [[], []];
  };
  for (const line of lines) {
    const [, heading] = /^@@ ?(.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      end();
      if (heading !== '') below.push(heading);
    } else if (line === '*** End of File') end(true);
    else if (line === '' || /^[ +-]/.test(line)) body.push(line === '' ? ' ' : line);
    else throw new Error(`Not a line of a hunk: ${line}`);
  }
  end();
  if (hunks.length === 0 && lines.length > 0) throw new Error('It has no lines.');
  return hunks;
}
