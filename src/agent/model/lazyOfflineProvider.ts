import type { ChatProvider } from './chatProvider.ts';

/** `createOfflineProvider` whose code is loaded with the first request: activation does not pay for it. */
export function createLazyOfflineProvider(): ChatProvider {
  let provider: ChatProvider | undefined;
  return {
    id: 'offline',
    label: 'Offline',
    isVerbatim: true,
    async *stream(request, signal) {
      const { createOfflineProvider } = await import('./offlineProvider.ts');
      yield* (provider ??= createOfflineProvider()).stream(request, signal);
    },
  };
}
