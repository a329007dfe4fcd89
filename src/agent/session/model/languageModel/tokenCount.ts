import { forEachLimited } from '../../../base/async.ts';
import { sha256 } from '../../../base/hash.ts';
import type { ToolSpec } from '../chatProvider.ts';
import type { LanguageModel, ModelMessage, ModelRequest } from './port.ts';

/** How many messages are counted at the same time. */
const MAX_PARALLEL = 8;

/**
 * Counts the tokens of requests with the model's own tokenizer, because its answers do not report them. A message is counted once:
 * the counts of the last request's messages are kept, by hash. Counts are estimates: a model's host may add to a request, and
 * images are not counted.
 */
export class TokenCounter {
  #counts = new Map<string, number>();

  /** The tokens of a request: its messages and tools. Rejects if the model cannot count. */
  async countRequest(model: LanguageModel, request: ModelRequest, signal: AbortSignal): Promise<number> {
    const counted = [...request.messages.map(withoutImages), ...request.tools.map(toolText)];
    const counts = new Map<string, number>();
    let sum = 0;
    await forEachLimited(counted, MAX_PARALLEL, async each => {
      const key = sha256(Buffer.from(JSON.stringify(each)));
      const count = this.#counts.get(key) ?? (await model.countTokens(each, signal));
      counts.set(key, count);
      sum += count;
    });
    this.#counts = counts;
    return sum;
  }

  /** The tokens of an answer. Rejects if the model cannot count. */
  countAnswer(model: LanguageModel, answer: ModelMessage, signal: AbortSignal): Promise<number> {
    return answer.parts.length === 0 ? Promise.resolve(0) : model.countTokens(answer, signal);
  }
}

function withoutImages({ role, parts }: ModelMessage): ModelMessage {
  return { role, parts: parts.filter(({ type }) => type !== 'image') };
}

function toolText({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({ name, description, parameters });
}
