import { naturally } from '../../../agent/base/phrases.ts';
import type { AttachmentRef } from '../protocol.ts';

/** The most `@` words of a prompt that are considered. */
const MAX_MENTIONS = 20;

/**
 * The files that a prompt may name: for each word after `@`, the ways to read it, with and without trailing punctuation,
 * and with a line range after a colon (`@src/a.ts:3-8`). Whether such a file exists is not checked.
 */
export function mentions(text: string): readonly (readonly AttachmentRef[])[] {
  const words = [...text.matchAll(/(?:^|[\s(])@([^\s@]+)/g)].map(([, word = '']) => word);
  return [...new Set(words)].slice(0, MAX_MENTIONS).map(word => {
    const bare = word.replace(/(?<![.,;:!?)\]}'"])[.,;:!?)\]}'"]+$/, '');
    return [...new Set([word, bare])].filter(candidate => candidate !== '').flatMap(readings);
  });
}

/** The word as a path, and as a path with a line range if it ends in one. */
function readings(word: string): AttachmentRef[] {
  const [, path, first, last] = /^(.+):(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  const startLine = Number(first);
  if (path === undefined || startLine < 1) return [{ path: word }];
  return [{ path: word }, { path, startLine, endLine: Math.max(startLine, Number(last ?? first)) }];
}

/**
 * The paths that match the text after `@`, best first: those whose name starts with it, whose name contains it,
 * whose path contains it, and last those with its letters in order. Without a query, the first `limit` paths.
 */
export function rankFiles(paths: readonly string[], query: string, limit: number): string[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return paths.slice(0, limit);
  return paths
    .map(path => ({ path, rank: rankOf(path.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank < NO_MATCH)
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || naturally(a.path, b.path))
    .slice(0, limit)
    .map(({ path }) => path);
}

const NO_MATCH = 4;

function rankOf(path: string, wanted: string): number {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  return hasLettersInOrder(path, wanted) ? 3 : NO_MATCH;
}

function hasLettersInOrder(path: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = path.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
