import type { ContextUse } from '../../agent/session/context/contextKeeper.ts';
import { fill } from '../../agent/base/localiser.ts';
import type { ChatStatus } from './protocol.ts';
import type { TranscriptStrings } from './transcript/transcriptStrings.ts';

/** The share of the context window from which the ring warns, in percent. */
const NEARLY_FULL = 80;

/** What the ring shows, and says in its tooltip: how full the context window is, and who says so. */
export function contextRing(
  use: ContextUse,
  language: string,
  strings: TranscriptStrings,
): NonNullable<ChatStatus['context']> {
  const { tokens, window, isCounted, isWindowKnown } = use;
  const { format } = new Intl.NumberFormat(language);
  const percent = Math.min(100, Math.round((100 * tokens) / window));
  const sentences = [
    fill(strings.context, format(tokens), format(window), percent),
    isCounted ? strings.contextCounted : strings.contextEstimated,
    ...(isWindowKnown ? [] : [strings.contextAssumed]),
  ];
  return { percent, isNearlyFull: percent >= NEARLY_FULL, detail: sentences.join(' ') };
}
