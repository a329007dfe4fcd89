import type { Fault } from '../../../agent/session/model/languageModel/fault.ts';
import type { RequestSize } from '../../../agent/session/model/languageModel/port.ts';
import type { Localiser } from '../../../agent/base/localiser.ts';

/** A plain sentence for the user about a request to a language model of VS Code that failed. */
export function faultSentence(
  name: string,
  { kind, said }: Fault,
  size: RequestSize | undefined,
  l10n: Localiser,
): string {
  const quoted = said === '' ? '' : ` ${l10n.t('It said: “{0}”', said)}`;
  switch (kind) {
    case 'missing':
      return l10n.t(
        'VS Code does not offer the model {0} now. Sign in to its provider, or choose another model.',
        name,
      );
    case 'noPermission':
      return (
        l10n.t('Redline may not use {0}: you did not allow it, or your account does not include it.', name) +
        quoted
      );
    case 'blocked':
      return (
        l10n.t('{0} is not accepting requests from Redline at the moment. Try again later.', name) + quoted
      );
    case 'quota':
      return l10n.t('Your plan has no requests left for {0}.', name) + quoted;
    case 'rateLimited':
      return l10n.t('{0} is limiting requests. Try again a little later.', name) + quoted;
    case 'offTopic':
      return l10n.t('{0} did not answer because it considers the request unrelated to programming.', name);
    case 'filtered':
      return l10n.t('A content filter stopped the answer of {0}.', name) + quoted;
    case 'tooLong':
      return size
        ? l10n.t(
            'The conversation is too long for {0}: about {1} tokens of at most {2}. Start a new session, or go back to an earlier message.',
            name,
            String(size.tokens),
            String(size.limit),
          )
        : l10n.t(
            'The conversation is too long for {0}. Start a new session, or go back to an earlier message.',
            name,
          );
    case 'tooManyTools':
      return l10n.t('There are more tools than {0} accepts. Remove some custom tools.', name) + quoted;
    case 'noImages':
      return l10n.t(
        'Redline cannot send images to {0}. Choose a model from a server and continue, or revert to the prompt and remove the image.',
        name,
      );
    case 'cancelled':
      return l10n.t('The request to {0} was cancelled, but not by you.', name);
    case 'tooLarge':
      return l10n.t('The answer from {0} became too large and was stopped. None of it was used.', name);
    case 'malformed':
      return l10n.t(
        'The answer from {0} contains a tool call that cannot be read. None of it was used.',
        name,
      );
    case 'unknown':
      return l10n.t('{0} did not answer.', name) + quoted;
  }
}
