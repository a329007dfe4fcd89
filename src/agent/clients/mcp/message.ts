import type { IncomingMessage } from 'node:http';
import { isDeeperThan, isRecord, parsedJson } from '../../base/json.ts';
import { decoded } from '../../session/tools/repairArguments.ts';

/**
 * The largest message that is read, in bytes: room for the largest file with JSON's escapes. Reading a message blocks the window
 * for about a tenth of a second per MB.
 */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
export const TOO_LARGE = `The message is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB. Propose fewer files at once.`;
/** The deepest nesting of lists and objects of a message. Arguments are checked again, with a sentence for the agent. */
const MAX_LEVELS = 1_000;

/** A body that is not a message. */
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
 * @throws BodyError if it is not JSON, or too large; a body that is too large is not read to its end.
 */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length']) > MAX_MESSAGE_BYTES) throw new BodyError(413, TOO_LARGE);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_MESSAGE_BYTES) throw new BodyError(413, TOO_LARGE);
    chunks.push(chunk);
  }
  return parseMessage(Buffer.concat(chunks));
}

/**
 * The message, or the list of them, in these bytes.
 * @throws BodyError if it is no JSON, no object, or nested too deeply.
 */
export function parseMessage(bytes: Buffer): unknown {
  const value = parsedJson(bytes.toString('utf8'));
  if (value === undefined) throw new BodyError(400, 'The body is not valid JSON.');
  if (isDeeperThan(MAX_LEVELS, value)) throw new BodyError(400, 'The message is nested too deeply.');
  if (Array.isArray(value)) return value.map(repaired);
  if (!isRecord(value)) throw new BodyError(400, 'A message is an object.');
  return repaired(value);
}

/**
 * The message, with its arguments repaired if the agent passed on its model's mistake: `null` or an empty list for no arguments, or
 * all of them as JSON in a string. Mistakes within them are repaired where the tool runs.
 */
function repaired(message: unknown): unknown {
  if (!isRecord(message) || message['method'] !== 'tools/call' || !isRecord(message['params']))
    return message;
  const { arguments: given, ...params } = message['params'];
  const args = decoded(given, isRecord);
  return {
    ...message,
    params: isNothing(args) ? params : { ...params, arguments: args },
  };
}

function isNothing(args: unknown): boolean {
  return args === null || args === undefined || (Array.isArray(args) && args.length === 0);
}
