import type { AttachmentRef } from './protocol.ts';

/** The most `@` words of a prompt that are looked at. */
const MAX_MENTIONS = 20;

/**
 * The files that a prompt may name: the words behind `@`, each as it stands and without the punctuation that may follow
 * it, with the lines behind a colon (`@src/a.ts:3-8`). Whether there is such a file is not known here.
 */
export function mentions(text: string): readonly (readonly AttachmentRef[])[] {
  const words = [...text.matchAll(/(?:^|[\s(])@([^\s@]+)/g)].map(([, word = '']) => word);
  return [...new Set(words)].slice(0, MAX_MENTIONS).map(word => {
    const bare = word.replace(/[.,;:!?)\]}'"]+$/, '');
    return [...new Set([word, bare])].filter(candidate => candidate !== '').flatMap(readings);
  });
}

/** The word as a path, and as a path with lines if it ends like one. */
function readings(word: string): AttachmentRef[] {
  const [, path, first, last] = /^(.+):(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  const startLine = Number(first);
  if (path === undefined || startLine < 1) return [{ path: word }];
  return [{ path: word }, { path, startLine, endLine: Math.max(startLine, Number(last ?? first)) }];
}
