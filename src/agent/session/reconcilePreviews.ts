import type { SteeringMessage } from './model/messages.ts';
import { isOpen } from '../hold/preview/preview.ts';
import { untoldMessages } from './outcomes.ts';
import type { SessionContext } from './sessionOptions.ts';

/**
 * Makes inbox and tool choices agree with the previews that concern the conversation, after a stored conversation was opened and
 * after a revert. Drops messages and directives for other previews, then adds a reminder for each pending preview and a message for
 * everything that happened to them and that the trunk does not tell.
 */
export function reconcilePreviews({ conversation, store, inbox, choices }: SessionContext): void {
  const { tree, previews } = conversation();
  const said = tree.steeringFrom(0);
  const told = new Set(tree.messages.flatMap(message => ('tells' in message && message.tells) || []));
  inbox.keepOnly(id => previews.concerns(id), told);
  choices.directives.dropAbandoned();
  // Another branch may have shown the diffs.
  choices.resolver.clear();
  const lastWord = lastWordOn([...said, ...inbox.ofKind('notice')]);
  // A waiting reminder no longer asks about a preview that has since been left to the user.
  const waiting = inbox
    .ofKind('resolve-reminder')
    .flatMap(({ previewIds }) => previewIds)
    .filter(id => choices.directives.asks(id));
  previews.setReminders([...remindedIn(said), ...waiting]);
  for (const preview of store.all()) {
    const { id, origin } = preview;
    if (!isOpen(preview) || !previews.concerns(id)) continue;
    const word = lastWord.get(id);
    if (word === 'resolve-reminder') choices.directives.noteReminded(id);
    else if (word === undefined && origin?.asksModel && !waiting.includes(id))
      choices.directives.remind(preview);
  }
  for (const [message, fact] of untoldMessages([...said, ...inbox.messages], told, store, previews))
    inbox.addFact(message, fact);
}

/** The previews that the model was reminded of, in the order of the reminders. */
function remindedIn(said: readonly SteeringMessage[]): readonly string[] {
  return said.flatMap(({ kind, previewIds }) => (kind === 'resolve-reminder' ? previewIds : []));
}

/** The last message to the model about each preview: to resolve it, or to leave it to the user. */
function lastWordOn(said: readonly SteeringMessage[]): ReadonlyMap<string, 'resolve-reminder' | 'notice'> {
  const words = new Map<string, 'resolve-reminder' | 'notice'>();
  for (const { kind, previewIds } of said)
    if (kind === 'resolve-reminder' || kind === 'notice') for (const id of previewIds) words.set(id, kind);
  return words;
}
