import { setImmediate } from 'node:timers/promises';
import { english } from '../../../base/localiser.ts';
import type { ChatProvider, ChatRequest, ProviderEvent } from '../chatProvider.ts';

/**
 * A provider that needs neither key nor network. It is not a language model: it turns slash commands into tool calls,
 * which run through the same loop as a model's, answers a forced `resolve` with apply, and explains what it can do.
 */
export function createOfflineProvider(l10n = english): ChatProvider {
  return {
    id: 'offline',
    label: l10n.t('Offline'),
    isVerbatim: true,
    async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
      if (signal.aborted) {
        yield { type: 'aborted' };
        return;
      }
      const { answerTo } = await import('./answers.ts');
      // Like a server's answer, it comes later: otherwise a whole turn would be one task and block the event loop.
      await setImmediate();
      const answer = answerTo(request, l10n);
      if (answer.text !== '') yield { type: 'text', delta: answer.text };
      yield { type: 'done', answer };
    },
  };
}
