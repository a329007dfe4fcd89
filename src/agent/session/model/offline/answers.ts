import { beginningOf } from '../../../base/cutText.ts';
import { countText, english, type Localiser } from '../../../base/localiser.ts';
import { fenceFor } from '../../../base/phrases.ts';
import type { ChatRequest, ProviderAnswer } from '../chatProvider.ts';
import type { SessionMessage, SteeringMessage, ToolResultMessage } from '../messages.ts';
import { refusalReasons, nextOfTour, voteOfTour } from './tour.ts';
import { parseSlashCommand, slashCommandHelp, TOUR } from './slashCommands.ts';

/** The most characters of a tool's output that the answer repeats. All of it is shown with the call. */
const MAX_REPEATED_CHARS = 2_000;

/** Words of the note that the model has not been shown a whole diff. */
const NOT_SHOWN = 'ou have not been shown all of';

/** The offline provider's answer to a request, in the user's language. */
export function answerTo(request: ChatRequest, l10n: Localiser = english): ProviderAnswer {
  const { toolChoice, messages } = request;
  const asked = messages.findLastIndex(message => message.role === 'user');
  const prompted = messages[asked];
  const isTour = prompted?.role === 'user' && prompted.text.trim() === TOUR;
  if ((toolChoice?.type === 'tool' && toolChoice.name === 'resolve') || isToLook(messages.at(-1))) {
    return callAnswer(messages, 'resolve', {
      action: 'apply',
      reason: isTour ? voteOfTour(messages, l10n) : l10n.t('Exactly the change you asked for.'),
    });
  }
  const ofTour =
    isTour && asked < messages.length - 1 ? nextOfTour(messages.slice(asked + 1), l10n) : undefined;
  if (ofTour) return answerWith(messages, ofTour.text, ofTour.calls);
  const sinceAnswer = messages.slice(messages.findLastIndex(message => message.role === 'assistant') + 1);
  const prompt = sinceAnswer.findLast(message => message.role === 'user');
  if (prompt) return answerPrompt(messages, prompt.text, l10n);
  const outcomes = sinceAnswer.filter(
    (message): message is SteeringMessage => message.role === 'steering' && message.kind === 'outcome',
  );
  const decided = new Set(outcomes.flatMap(({ previewIds }) => previewIds));
  const said = [
    ...sinceAnswer
      .filter(message => message.role === 'tool')
      .filter(({ pending = [] }) => pending.length === 0 || pending.some(id => !decided.has(id)))
      .map(result => aboutResult(result, l10n)),
    ...(outcomes.length > 0 ? [aboutOutcomes(outcomes, l10n)] : []),
  ];
  return textAnswer(said.length > 0 ? [...new Set(said)].join('\n\n') : l10n.t('Nothing to do.'));
}

/** Whether the message asks to look at a diff or shows one, so that the provider, which cannot read it, only votes again. */
function isToLook(last: SessionMessage | undefined): boolean {
  if (last?.role === 'steering') return last.kind === 'resolve-reminder' && last.text.includes(NOT_SHOWN);
  return last?.role === 'tool' && last.toolName === 'resolve' && last.content.includes(NOT_SHOWN);
}

/** The user's decisions, with the reasons in their own words. */
function aboutOutcomes(outcomes: readonly SteeringMessage[], l10n: Localiser): string {
  const count = (start: string): number =>
    new Set(outcomes.flatMap(message => idsAfter(start, message))).size;
  const [applied, discarded] = [count('The user applied '), count('The user discarded ')];
  const [reason] = outcomes.flatMap(({ text }) => refusalReasons(text));
  const decisions = [
    ...(applied === 0
      ? []
      : [countText(l10n.t('You applied 1 change.|You applied {0} changes.'), l10n)(applied)]),
    ...(discarded === 0
      ? []
      : [countText(l10n.t('You discarded 1 change.|You discarded {0} changes.'), l10n)(discarded)]),
  ];
  if (reason !== undefined) decisions.push(l10n.t('Understood: “{0}”. What is next?', reason));
  else decisions.push(decisions.length > 0 ? l10n.t('What is next?') : l10n.t('Understood. What is next?'));
  return decisions.join(' ');
}

/** The previews that sentences with this beginning are about: joined messages are about other previews, too. */
function idsAfter(start: string, { text, previewIds }: SteeringMessage): readonly string[] {
  const lines = text.split('\n').filter(line => line.startsWith(start));
  const named = previewIds.filter(id => lines.some(line => line.startsWith(`${start}${id} `)));
  return lines.length > 0 && named.length === 0 ? previewIds : [...new Set(named)];
}

function answerPrompt(messages: readonly SessionMessage[], prompt: string, l10n: Localiser): ProviderAnswer {
  const command = parseSlashCommand(prompt);
  switch (command?.kind) {
    case 'call':
      return callAnswer(messages, command.call.tool, command.call.arguments);
    case 'malformed':
      return textAnswer(l10n.t('That command needs the form {0}.', `\`${command.usage}\``));
    case 'help':
      return textAnswer(`${l10n.t('The commands:')}\n\n${slashCommandHelp(l10n)}`);
    case undefined:
      return textAnswer(needsModelText(l10n));
    default: // the commands that the chat itself carries out
      return textAnswer(l10n.t('That command works only when you type it in the Redline chat.'));
  }
}

/** The answer to a prompt in the user's own words, which needs a model. */
export function needsModelText(l10n: Localiser): string {
  return [
    l10n.t('I am the offline provider, not a language model. I can run these commands:'),
    slashCommandHelp(l10n),
    l10n.t('Connect a model to ask in your own words.'),
  ].join('\n\n');
}

/** The error of `edit_file` for a text that it cannot find: its file, and the nearest lines if there are any. */
const NOT_FOUND = /^old was not found in ([^\n]+?)\. (?:The nearest lines are:\n([^]*)\n[^\n]*$)?/;

function aboutResult(result: ToolResultMessage, l10n: Localiser): string {
  if (result.isError) {
    const [, file, nearest] = NOT_FOUND.exec(result.content) ?? [];
    if (file !== undefined)
      return `${l10n.t('Could not find that text in {0}.', `\`${file}\``)}${nearest ? `\n\n${quoted(nearest, l10n)}` : ''}`;
    return l10n.t('{0} failed: {1}', `\`${result.toolName}\``, result.content);
  }
  if (result.pending) return l10n.t('The preview is ready: look at it, then decide.');
  const isSentence = result.toolName === 'resolve' || !result.content.includes('\n');
  return isSentence ? result.content : quoted(result.content, l10n);
}

/** The output in a fenced block, shortened if it is long. */
function quoted(output: string, l10n: Localiser): string {
  const shown = beginningOf(output, MAX_REPEATED_CHARS);
  const fence = fenceFor(shown);
  const block = `${fence}\n${shown}\n${fence}`;
  if (output.length === shown.length) return block;
  const forms = l10n.t(
    'The rest (1 character) is shown with the call above.|The rest ({0} characters) is shown with the call above.',
  );
  return `${block}\n\n${countText(forms, l10n)(output.length - shown.length)}`;
}

function textAnswer(text: string): ProviderAnswer {
  return { text, toolCalls: [], stopReason: 'stop' };
}

function callAnswer(
  messages: readonly SessionMessage[],
  name: string,
  args: Record<string, unknown>,
): ProviderAnswer {
  return answerWith(messages, '', [{ name, arguments: args }]);
}

/** An answer with calls, whose ids are unique in the conversation. */
function answerWith(
  messages: readonly SessionMessage[],
  text: string,
  calls: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[],
): ProviderAnswer {
  const before = messages.reduce(
    (sum, message) => sum + (message.role === 'assistant' ? message.toolCalls.length : 0),
    0,
  );
  return {
    text,
    toolCalls: calls.map(({ name, arguments: args }, index) => ({
      id: `offline_${before + index + 1}`,
      name,
      arguments: JSON.stringify(args),
    })),
    stopReason: calls.length > 0 ? 'toolCalls' : 'stop',
  };
}
