import type { IncomingMessage } from 'node:http';
import { isDeeperThan } from '../../base/json.ts';

/** The largest message that is read, in bytes: several files of the largest size, and how JSON escapes them. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** The deepest nesting of lists and objects of a message. Arguments are checked again, with a sentence for the agent. */
const MAX_LEVELS = 1_000;

/** A body that is no message. */
export class BodyError extends Error {
  readonly status: number;

  /** @param status that of the HTTP answer. */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The JSON value in the body of a request.
 * @throws BodyError if it is too large, which is found out before all of it is read, or no JSON.
 */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new BodyError(400, 'The body is not valid JSON.');
  }
  if (isDeeperThan(MAX_LEVELS, value)) throw new BodyError(400, 'The message is nested too deeply.');
  return value;
}

function tooLarge(): BodyError {
  return new BodyError(
    413,
    `The message is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB. Propose fewer files at once.`,
  );
}
