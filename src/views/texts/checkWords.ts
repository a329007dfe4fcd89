import * as l10n from '@vscode/l10n';
import type { CheckRow } from '../chat/viewItem.ts';
import { plural } from '../plainText.ts';

// The page imports this too, without Node's types: so these functions take the type that the page is sent, which a `CheckMark`
// fits.

/** A check mark as it is shown, here and on the page. */
export type ShownCheck = Omit<CheckRow, 'resultId' | 'changed'> & {
  readonly failures?: number | undefined;
  readonly changed?: { readonly first: readonly string[]; readonly count: number } | undefined;
};

/** `✔ test 12 s`; an outdated result says so in words, since not everyone can tell it by colour alone. */
export function checkText(check: ShownCheck, clean: (text: string) => string): string {
  const name = clean(check.name);
  const text = shortText(check, name, clean);
  if (check.state === 'running' || check.state === 'notTested') return text;
  if (!check.isCurrent) return l10n.t('{0} (out of date)', text);
  return check.isFlaky ? l10n.t('{0} (flaky)', text) : text;
}

function shortText(
  { state, failures = 0, changed, seconds, problems }: ShownCheck,
  name: string,
  clean: (text: string) => string,
): string {
  switch (state) {
    case 'running':
      return l10n.t('… {0}', name);
    case 'notTested':
      return l10n.t('– {0} not run yet', name);
    case 'passed':
      return l10n.t('✔ {0} {1} s', name, rounded(seconds));
    case 'asBefore':
      return plural(l10n.t('✘ {1}: 1 failure, as before|✘ {1}: {0} failures, as before'), failures, name);
    case 'changedFiles':
      return changed?.count === 1
        ? l10n.t('✘ {0} changed {1}', name, clean(lastPart(changed.first[0])))
        : l10n.t('✘ {0} changed {1} files', name, changed?.count ?? 0);
    case 'failed':
      return problems > 0
        ? plural(l10n.t('✘ {1} 1 problem|✘ {1} {0} problems'), problems, name)
        : l10n.t('✘ {0} failed', name);
    case 'timedOut':
      return l10n.t('✘ {0} timed out', name);
    case 'stopped':
      return l10n.t('– {0} stopped', name);
    case 'notRun':
      return l10n.t('– {0} could not run', name);
  }
}

/** The same as a sentence, for screen readers and tooltips. */
export function checkSentence(check: ShownCheck, clean: (text: string) => string): string {
  const name = clean(check.name);
  const outdated =
    check.isCurrent || check.state === 'notTested'
      ? ''
      : ` ${l10n.t('Something that it saw has changed since.')}`;
  const flaky = check.isFlaky ? ` ${l10n.t('It has both passed and failed on the same files.')}` : '';
  return sentence(check, name, clean) + outdated + flaky;
}

function sentence(
  { state, failures = 0, changed, seconds, problems }: ShownCheck,
  name: string,
  clean: (text: string) => string,
): string {
  switch (state) {
    case 'running':
      return l10n.t('The check {0} is running.', name);
    case 'notTested':
      return l10n.t('The check {0} has not run on this yet.', name);
    case 'passed':
      return l10n.t('The check {0} passed in {1} s.', name, rounded(seconds));
    case 'asBefore':
      return plural(
        l10n.t(
          'The check {1} fails in 1 test that fails without these changes, too. Every other test still passes.|The check {1} fails in {0} tests that fail without these changes, too. Every other test still passes.',
        ),
        failures,
        name,
      );
    case 'changedFiles': {
      const { first, count } = changed ?? { first: [], count: 0 };
      const names = first.map(clean).join(', ');
      const files = count > first.length ? l10n.t('{0} and {1} more', names, count - first.length) : names;
      return l10n.t(
        'The check {0} changed {1} itself, so that it passed proves nothing. Use a command that only reads, or let git ignore what it makes.',
        name,
        files,
      );
    }
    case 'failed':
      return problems > 0
        ? plural(
            l10n.t('The check {1} failed with 1 problem.|The check {1} failed with {0} problems.'),
            problems,
            name,
          )
        : l10n.t('The check {0} failed.', name);
    case 'timedOut':
      return l10n.t('The check {0} was ended after its time limit.', name);
    case 'stopped':
      return l10n.t('The check {0} was stopped.', name);
    case 'notRun':
      return l10n.t('The check {0} could not be run.', name);
  }
}

function lastPart(path = ''): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function rounded(seconds: number): number {
  return seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);
}

/** The checks in a row: `✔ test 12 s · ✘ types 3 problems`. */
export function checksText(checks: readonly ShownCheck[], clean: (text: string) => string): string {
  return inARow(checks)
    .map(check => checkText(check, clean))
    .join(' · ');
}

/** The checks, with those that have not run yet as one at the end that has all their names. */
export function inARow<Mark extends ShownCheck>(checks: readonly Mark[]): readonly Mark[] {
  const others = checks.filter(({ state }) => state !== 'notTested');
  const [first, ...more] = checks.filter(({ state }) => state === 'notTested');
  if (!first) return others;
  return [...others, { ...first, name: [first, ...more].map(({ name }) => name).join(', ') }];
}

/** Whether its result speaks against the preview. */
export function isRed({ state }: Pick<ShownCheck, 'state'>): boolean {
  return state === 'failed' || state === 'timedOut' || state === 'changedFiles';
}

/** The mark that matters most: first a problem, then a running check, an outdated result, and a failure as before. */
export function worstOf(checks: readonly ShownCheck[]): ShownCheck | undefined {
  const rank = ({ state, isCurrent }: ShownCheck): number => {
    if (state === 'running') return 1;
    const isGreen = state === 'passed' || state === 'asBefore';
    if (!isCurrent) return isGreen ? 3 : 2;
    return state === 'passed' ? 5 : isGreen ? 4 : 0;
  };
  return [...checks].sort((a, b) => rank(a) - rank(b))[0];
}
