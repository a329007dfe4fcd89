import type { Localiser } from '../../../base/localiser.ts';
import type { SessionMessage, ToolResultMessage } from '../messages.ts';
import { TOUR_FILE } from './slashCommands.ts';

const FAULT = 'sum += item.price;';
const EDITS = [
  { old: FAULT, new: 'sum += item.price * item.quantity;' },
  { old: '`Total: ${', new: '`Grand total: ${' },
];

/** The tour's next text and call. */
export interface TourStep {
  readonly text: string;
  readonly calls: readonly {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
  }[];
}

/**
 * The next step of the tour: it plays an agent that reads a file, runs the test, proposes a fix with a second hunk that nobody
 * asked for, runs the test again, and hears the user's decision.
 * @param messages since the prompt.
 * @returns `undefined` where the tour has nothing of its own to say.
 */
export function nextOfTour(messages: readonly SessionMessage[], l10n: Localiser): TourStep | undefined {
  const results = messages.filter((message): message is ToolResultMessage => message.role === 'tool');
  const last = (name: string): ToolResultMessage | undefined =>
    results.findLast(({ toolName }) => toolName === name);
  const edited = last('edit_file');
  // The call is refused where there is no check to run.
  const canRun = last('run_checks')?.isError !== true;
  const run = canRun ? last('run_checks') : undefined;
  const runChecks = canRun ? [{ name: 'run_checks', arguments: {} }] : [];
  if (!edited) {
    const read = last('read_file');
    if (!read || read.isError || !read.content.includes(FAULT))
      return say(
        l10n.t(
          'This is not the small project of the tour, or it has already been fixed. *Redline: Open the Tour* in the command palette opens a fresh one.',
        ),
      );
    if (canRun && !run)
      return { text: l10n.t('I have read the code. Now I will run its test.'), calls: runChecks };
    const found = l10n.t('The total ignores the quantity. I propose a fix.');
    return {
      text: run ? `${resultText(run, l10n)} ${found}` : found,
      calls: [{ name: 'edit_file', arguments: { path: TOUR_FILE, edits: EDITS } }, ...runChecks],
    };
  }
  if (edited.isError) return undefined;
  const outcomes = sinceAnswer(messages).flatMap(message =>
    message.role === 'steering' && message.kind === 'outcome' ? [message.text] : [],
  );
  if (outcomes.length > 0) return say(outcomeText(outcomes, l10n));
  if (results.some(({ toolName, content }) => toolName === 'resolve' && content.startsWith('Applied')))
    return undefined;
  return say(
    [
      run ? resultText(run, l10n) : undefined,
      l10n.t('Nothing on disk has changed.'),
      l10n.t(
        'My second hunk renames the total on the receipt, which nobody asked for. Right-click it and choose *Discard Hunk with Reason…*: I am told your reason. Then apply the rest.',
      ),
    ]
      .filter(part => part !== undefined)
      .join(' '),
  );
}

/** The tour's reason for applying its proposal. */
export function voteOfTour(messages: readonly SessionMessage[], l10n: Localiser): string {
  const run = messages.findLast(message => message.role === 'tool' && message.toolName === 'run_checks');
  return run?.role === 'tool' && hasPassed(run)
    ? l10n.t('The test passes with it.')
    : l10n.t('The total now includes each item’s quantity.');
}

function outcomeText(outcomes: readonly string[], l10n: Localiser): string {
  const [reason] = outcomes.flatMap(refusalReasons);
  const heard = reason === undefined ? [] : [l10n.t('Understood: “{0}”. I leave that as it is.', reason)];
  if (outcomes.some(text => /^The user applied /m.test(text)))
    return [
      ...heard,
      l10n.t(
        'Now {0} holds what you applied, and nothing else. *Show Ledger* tells who decided what, and why. That was the tour: connect your agent or a model, and ask in your own words.',
        `\`${TOUR_FILE}\``,
      ),
    ].join(' ');
  const waits = outcomes.some(text => text.includes('\nThe refused part:\n'));
  return [
    ...heard,
    waits ? l10n.t('The other hunk still waits for you: apply it.') : l10n.t('The file is as it was.'),
  ].join(' ');
}

function resultText(run: ToolResultMessage, l10n: Localiser): string {
  if (hasPassed(run)) return l10n.t('The test passes.');
  return hasRun(run)
    ? l10n.t('The test does not pass.')
    : l10n.t(
        'The test did not run by itself: its command is not approved yet, or there is no isolated sandbox here. *Run Checks* on its card asks you, or says why it cannot.',
      );
}

function hasRun({ content, isError }: ToolResultMessage): boolean {
  return !isError && !content.startsWith('No check ran.');
}

/** A check that has not passed is followed by its output. */
function hasPassed(run: ToolResultMessage): boolean {
  const [, ...lines] = run.content.split('\n');
  return hasRun(run) && lines.every(line => / passed, [\d.]+ s\.$| did not run: /.test(line));
}

function sinceAnswer(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function say(text: string): TourStep {
  return { text, calls: [] };
}

/**
 * The reasons that the user typed for the discards in an outcome, each on one line and without a full stop, to be quoted.
 * @param outcome as a model is told it
 */
export function refusalReasons(outcome: string): readonly string[] {
  return [...outcome.matchAll(/^The user discarded .* not a failure\. Reason: "([^]*?)"$/gm)].map(
    ([, reason = '']) =>
      reason.replace(/\s+/g, ' ').replace(/\. ?$/, '').replaceAll('“', '‘').replaceAll('”', '’').trim(),
  );
}
