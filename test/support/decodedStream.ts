import { Stream } from 'openai/streaming';
import { AnswerBody } from '../../src/agent/session/model/openai/answerBody.ts';

/** The chunks of an event stream whose bytes arrive in pieces of `size`, as the SDK hands them out. */
export async function decode(
  bytes: Uint8Array,
  size: number,
  maxChars: number,
): Promise<{ chunks: unknown[]; sawDone: boolean }> {
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const answer = new AnswerBody({ maxChars, idleMs: 60_000 });
  const response = answer.normalize(new Response(ReadableStream.from(pieces())));
  const chunks: unknown[] = [];
  for await (const chunk of Stream.fromSSEResponse(response, new AbortController())) chunks.push(chunk);
  return { chunks, sawDone: answer.sawDone };
}
