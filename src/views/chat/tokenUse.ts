import type { SessionMessage, TokenUsage } from '../../agent/model/messages.ts';
import { fill } from './protocol.ts';
import type { TranscriptStrings } from './strings.ts';

/** What the session and its last request used, as the server counted; empty where no server counted. */
export function tokenUse(
  messages: readonly SessionMessage[],
  language: string,
  strings: TranscriptStrings,
): { label: string; detail: string } {
  const counts = messages.flatMap(message =>
    message.role === 'assistant' && message.usage ? [message.usage] : [],
  );
  const last = counts.at(-1);
  if (!last) return { label: '', detail: '' };
  const sum = counts.reduce(plus);
  const short = new Intl.NumberFormat(language, { notation: 'compact' });
  const { format } = new Intl.NumberFormat(language);
  return {
    label: fill(strings.tokens, short.format(sum.inputTokens + sum.outputTokens)),
    detail: [
      fill(strings.sessionTokens, format(sum.inputTokens), format(sum.outputTokens)),
      fill(strings.lastTokens, format(last.inputTokens), format(last.outputTokens)),
    ].join(' '),
  };
}

function plus(a: TokenUsage, b: TokenUsage): TokenUsage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
}
