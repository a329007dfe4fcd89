import type { BigIntStats } from 'node:fs';

/**
 * What all names of a file have in common, and no other file has: those by links, hard links and in another spelling.
 * `undefined` where the system does not identify files.
 */
export function fileIdOf({ dev, ino }: BigIntStats): string | undefined {
  return ino === 0n ? undefined : `${dev}:${ino}`;
}
