import { createHash } from 'node:crypto';

/** The sha-256 of exact bytes, in lower-case hex. */
export type Sha256 = string;

export function sha256(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex');
}
