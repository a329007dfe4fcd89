import type { ChatProvider } from '../model/chatProvider.ts';

/** Text so far that may still turn out to be nothing but markers. */
const MAY_BE_MARKERS = /^(?:\s*\[n\d+\])*\s*(?:\[(?:n\d*)?)?$/;

/** The text without leading node markers, which a model imitates because it sees them before every message. */
export function withoutMarkers(text: string): string {
  return text.replace(/^(?:\s*\[n\d+\])+[ \t]*/, '');
}

/**
 * Wraps a provider so that its answers do not begin with node markers: the user does not see them, and the next request
 * does not repeat them.
 * @param isMarked whether the messages of the request have markers; called for each request. If not, nothing is
 *   stripped.
 */
export function withoutEchoedMarkers(provider: ChatProvider, isMarked: () => boolean): ChatProvider {
  return {
    ...provider,

    async *stream(request, signal, onSent) {
      /** The beginning of the text while it may be an echoed marker; `undefined` once that is decided. */
      let held: string | undefined = isMarked() ? '' : undefined;
      const mayEcho = held !== undefined;
      for await (const event of provider.stream(request, signal, onSent)) {
        if (event.type === 'text' && held !== undefined) {
          held += event.delta;
          if (MAY_BE_MARKERS.test(held)) continue;
          yield { type: 'text', delta: withoutMarkers(held) };
          held = undefined;
        } else if (event.type === 'done' && mayEcho) {
          yield { ...event, answer: { ...event.answer, text: withoutMarkers(event.answer.text) } };
        } else {
          yield event;
        }
      }
    },
  };
}
