import { safeName } from '../../../base/safeName.ts';
import type { CheckFact } from '../ledger.ts';
import { plural } from '../../../base/phrases.ts';
import { namesOf } from '../preview.ts';
import type { Unproved } from './proof.ts';

/** Tells the model that its vote was not carried out because the checks do not prove it. */
export function unprovedText({ why, checks, on, alone, failure }: Unproved): string {
  const isOne = on.length === 1;
  const kept = `${namesOf(on)} ${isOne ? 'was' : 'were'} not applied. Your vote is kept as a recommendation, and the user decides.`;
  switch (why) {
    case 'failed': {
      const failed = checks
        .filter(({ outcome }) => outcome !== 'passed' && outcome !== 'asBefore')
        .map(checkFactText);
      const it = isOne ? 'it' : 'them';
      return `${kept} Not every check passes with ${it}: ${failed.join(', ')}.${aloneText(alone)} Stage a fix: your next vote to apply applies ${it}, too, if the checks pass. Call run_checks to see more of the output.${failure === undefined ? '' : `\n${failure}`}`;
    }
    case 'changed':
      return `${kept} Files changed while the checks ran, or have unsaved changes, so the results do not cover what would be written.`;
    case 'waits':
      return `${kept} The checks have not run yet; your next vote to apply includes ${isOne ? 'it' : 'them'}.`;
    case 'noChecks':
      return `${kept} The user has set no check that concerns ${isOne ? 'its' : 'their'} files.`;
    case 'cannotRun':
      return `${kept} The checks cannot run by themselves here: the user must run them.`;
  }
}

function aloneText(alone: Unproved['alone']): string {
  const parts = alone.map(part => part.map(({ id }) => id).join(' with '));
  return parts.length === 0 ? '' : ` The checks pass with ${parts.map(part => `${part} alone`).join(', ')}.`;
}

/** How a check ended: `test failed (exit code 1)`. */
export function checkFactText({ name: given, outcome, exitCode, failures = 0, changed }: CheckFact): string {
  const name = safeName(given);
  switch (outcome) {
    case 'passed':
      return `${name} passed`;
    case 'asBefore':
      return `${name} has the same ${plural(failures, 'failure')} as without the previews`;
    case 'changedFiles':
      return `${name} changed ${changedText(changed)} itself, so its passing proves nothing`;
    case 'failed':
      return `${name} failed${exitCode === undefined ? '' : ` (exit code ${exitCode})`}`;
    case 'timedOut':
      return `${name} was ended after its time limit`;
    case 'stopped':
      return `${name} was stopped`;
    case 'notRun':
      return `${name} could not be run`;
  }
}

function changedText({ first, count }: NonNullable<CheckFact['changed']> = { first: [], count: 0 }): string {
  const names = first.map(name => JSON.stringify(name).slice(1, -1));
  if (count > first.length) return `${names.join(', ')} and ${count - first.length} more`;
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(part => part !== '').join(' and ');
}
