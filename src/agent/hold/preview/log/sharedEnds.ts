/** How many bytes two contents have in common at their beginning and at their end, without overlap. */
export type Ends = readonly [start: number, end: number];

/** How many bytes are compared at once. */
const AT_ONCE = 4096;

export function sharedEnds(one: Uint8Array, other: Uint8Array): Ends {
  const [a, b] = [
    Buffer.from(one.buffer, one.byteOffset, one.length),
    Buffer.from(other.buffer, other.byteOffset, other.length),
  ];
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start + AT_ONCE <= most && a.compare(b, start, start + AT_ONCE, start, start + AT_ONCE) === 0)
    start += AT_ONCE;
  while (start < most && a[start] === b[start]) start++;
  const left = most - start;
  let end = 0;
  const isSame = (n: number): boolean =>
    a.compare(b, b.length - end - n, b.length - end, a.length - end - n, a.length - end) === 0;
  while (end + AT_ONCE <= left && isSame(AT_ONCE)) end += AT_ONCE;
  while (end < left && a[a.length - end - 1] === b[b.length - end - 1]) end++;
  return [start, end];
}
