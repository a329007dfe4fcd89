import type { Localiser } from '../../agent/base/localiser.ts';
import type { OfflineTexts } from '../../agent/model/offline/answers.ts';
import type { SlashCommandInfo } from '../../agent/model/offline/slashCommands.ts';
import { countText } from '../texts/countText.ts';

/** What the offline provider says, in the user's language. */
export function offlineTexts(l10n: Localiser): OfflineTexts {
  return {
    label: l10n.t('Offline'),
    reason: l10n.t('Exactly the change you asked for.'),
    ready: l10n.t('The preview is ready: look at the diff, then apply or discard it.'),
    understood: l10n.t('Understood. What is next?'),
    nothingToDo: l10n.t('Nothing to do.'),
    commands: l10n.t('The commands:'),
    noModel: l10n.t('I am the offline provider, not a language model. I can run these commands:'),
    connect: l10n.t('Connect a model to ask in your own words.'),
    onlyInChat: l10n.t('That command works only when you type it in the Redline chat.'),
    needsForm: usage => l10n.t('That command needs the form {0}.', usage),
    notFound: file => l10n.t("Couldn't find that text in {0}.", file),
    failed: (tool, problem) => l10n.t('{0} failed: {1}', tool, problem),
    rest: countText(
      l10n.t(
        'The rest (1 character) is shown with the call above.|The rest ({0} characters) is shown with the call above.',
      ),
      l10n,
    ),
    about: commandAbout(l10n),
  };
}

/** What slash commands do, in the user's language. */
export function commandAbout(l10n: Localiser): (command: SlashCommandInfo) => string {
  const texts: Readonly<Record<string, string>> = {
    '/edit': l10n.t('propose to replace text that occurs exactly once'),
    '/write': l10n.t('propose the full content of a file'),
    '/replace': l10n.t(
      'propose a structural replacement; `$A` matches any one node, `$$$A` any number of nodes',
    ),
    '/delete': l10n.t('propose to delete a file'),
    '/rename': l10n.t('propose to rename or move a file'),
    '/run': l10n.t('propose to run a command in a terminal'),
    '/apply': l10n.t('apply the preview with this id, else the one that is shown, else the first in order'),
    '/discard': l10n.t('discard a preview; the model is told the reason'),
    '/discard-all': l10n.t('discard all pending previews'),
    '/revert': l10n.t(
      'revert the conversation to a node such as `n12` and tell the model what to remember; the category is `failure`, `tangent`, `completion` or `step-summary`',
    ),
    '/tools': l10n.t('list the tools of the agent'),
    '/call': l10n.t('call a tool with arguments as one JSON object'),
    '/help': l10n.t('list these commands'),
  };
  return ({ name, about }) => texts[name] ?? about;
}
