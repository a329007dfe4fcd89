import * as l10n from '@vscode/l10n';
import type { ChatStatus } from '../protocol.ts';

/** The current activity in words; empty if there is none. */
export function activityText({ state, planMode, activity }: ChatStatus): string {
  switch (state) {
    case 'idle':
      if (planMode) return l10n.t('Plan mode: the model only reads until you approve its plan.');
      return activity?.kind === 'reviewed' ? activity.text : '';
    case 'awaitingReview':
      return activity?.kind === 'applying' ? l10n.t('Working…') : l10n.t('Waiting for your review');
    case 'running':
      if (activity?.kind === 'asking') return l10n.t('Waiting for your answer');
      if (activity?.kind === 'summarizing') return l10n.t('Summarizing earlier messages…');
      return l10n.t('Working…');
  }
}

export function retryText(code: 'rateLimited' | 'server', seconds: number): string {
  return code === 'rateLimited'
    ? l10n.t('Rate limited, trying again in {0} s', seconds)
    : l10n.t('The server is busy, trying again in {0} s', seconds);
}

/** `To-do: 1 of 3 done · Rename the class`, with the step that is being done, else the next one. */
export function todoText(items: NonNullable<ChatStatus['todo']>): string {
  const done = items.filter(({ state }) => state === 'done').length;
  const head = l10n.t('To-do: {0} of {1} done', done, items.length);
  const next = items.find(({ state }) => state === 'doing') ?? items.find(({ state }) => state === 'open');
  return next ? l10n.t('{0} · {1}', head, next.text) : head;
}

export function todoStateText(state: NonNullable<ChatStatus['todo']>[number]['state']): string {
  switch (state) {
    case 'open':
      return l10n.t('to do');
    case 'doing':
      return l10n.t('in progress');
    case 'done':
      return l10n.t('done');
  }
}

/** `Instructions: AGENTS.md`; empty without any. */
export function instructionsText(instructions: ChatStatus['instructions']): string {
  const names = instructions.map(({ path, isCut }) => (isCut ? l10n.t('{0} (beginning only)', path) : path));
  return names.length === 0 ? '' : l10n.t('Instructions: {0}', names.join(', '));
}

/** @param language BCP 47, for numbers */
export function contextText(
  { tokens, window, isCounted, isWindowKnown }: NonNullable<ChatStatus['context']>,
  language: string,
): string {
  const { format } = new Intl.NumberFormat(language);
  const percent = percentOf({ tokens, window });
  const sentences = [
    l10n.t('Context window: {0} of {1} tokens ({2}%).', format(tokens), format(window), percent),
    isCounted
      ? l10n.t('Counted by the server for the last request and its answer.')
      : l10n.t('An estimate for the next request: the server has not counted it.'),
  ];
  if (!isWindowKnown)
    sentences.push(
      l10n.t(
        'The size of the window is assumed, because the server does not report it. Set it in redline.openai.contextWindow.',
      ),
    );
  return sentences.join(' ');
}

/** How full the context window is. */
export function percentOf({ tokens, window }: { readonly tokens: number; readonly window: number }): number {
  return Math.min(100, Math.round((100 * tokens) / window));
}

type Usage = NonNullable<ChatStatus['usage']>;

/** `12K tokens` @param language BCP 47, for numbers */
export function usageLabel({ session }: Usage, language: string): string {
  const { format } = new Intl.NumberFormat(language, { notation: 'compact' });
  return l10n.t('{0} tokens', format(session.inputTokens + session.outputTokens));
}

/** @param language BCP 47, for numbers */
export function usageDetail({ session, last }: Usage, language: string): string {
  const { format } = new Intl.NumberFormat(language);
  const inSession = [format(session.inputTokens), format(session.outputTokens)] as const;
  const inLast = [format(last.inputTokens), format(last.outputTokens)] as const;
  return [
    l10n.t('Tokens in this session: {0} in, {1} out.', ...inSession),
    l10n.t('Last request: {0} in, {1} out.', ...inLast),
  ].join(' ');
}
