import type { ChatProvider } from '../model/chatProvider.ts';

/** What may still turn out to be nothing but markers. */
const MAY_BE_MARKERS = /^(?:\s*\[n\d+\])*\s*(?:\[(?:n\d*)?)?$/;

/** The text without the markers that a model wrote before it because it saw them everywhere. */
export function withoutMarkers(text: string): string {
  return text.replace(/^(?:\s*\[n\d+\])+[ \t]*/, '');
}

/**
 * The same provider, whose answers do not begin with the markers of nodes: people see what was said, and the next request
 * stamps it once.
 * @param isMarked whether its requests have such markers; asked at each of them. If not, nothing is changed.
 */
export function withoutEcho(provider: ChatProvider, isMarked: () => boolean): ChatProvider {
  return {
    ...provider,

    async *stream(request, signal) {
      /** The beginning of the text, until it is known what of it was said. */
      let held: string | undefined = isMarked() ? '' : undefined;
      const mayEcho = held !== undefined;
      for await (const event of provider.stream(request, signal)) {
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
