import * as l10n from '@vscode/l10n';
import type { Risk } from '../../agent/hold/preview/reading/risks.ts';
import { plural, shortList } from '../plainText.ts';

/** A risk as a sentence. @param clean makes foreign text fit where it is shown */
export function riskText(risk: Risk, clean: (text: string) => string): string {
  const path = 'path' in risk ? clean(risk.path) : '';
  switch (risk.kind) {
    case 'runsFromNetwork':
      return l10n.t('It runs what it loads from the network.');
    case 'deletesFiles':
      return l10n.t('It deletes files.');
    case 'large':
      return plural(l10n.t('It changes 1 line.|It changes {0} lines.'), risk.lines);
    case 'secret':
      return l10n.t('Line {0} of {1} looks like it holds a secret.', risk.line, path);
    case 'repository':
      return l10n.t(
        '{0} can make its folder a git repository, and git runs programs that its configuration names.',
        path,
      );
    case 'deletes':
      return l10n.t('It deletes {0}.', path);
    case 'imported':
      return l10n.t('{0} is still imported by {1}.', path, namesText(risk.by, clean));
    case 'tests':
      return l10n.t('{0} tests less: {1}.', path, fewerText(risk));
    case 'exports':
      return [
        ...(risk.gone.length > 0
          ? [l10n.t('{0} no longer exports {1}.', path, namesText(risk.gone, clean))]
          : []),
        ...(risk.changed.length > 0
          ? [
              l10n.t(
                '{0} changes the declaration of {1}, which it exports.',
                path,
                namesText(risk.changed, clean),
              ),
            ]
          : []),
      ].join(' ');
    case 'configuration':
      return l10n.t('{0} says how the project is built, checked or run.', path);
    case 'outsidePlan':
      return l10n.t('The plan that you approved does not name {0}.', path);
  }
}

/** The kinds of risks in a few words, each once, for a row: `exports · weaker tests`. */
export function riskMark(risks: readonly Risk[]): string {
  return [...new Set(risks.map(markOf))].join(' · ');
}

/** Like {@link riskMark}, for places with room to name a file that still imports a deleted one: `still imported by src/cart.ts`. */
export function riskNote(risks: readonly Risk[], clean: (text: string) => string): string {
  const noteOf = (risk: Risk): string => {
    if (risk.kind !== 'imported') return markOf(risk);
    const [first = '', ...others] = risk.by;
    return others.length === 0
      ? l10n.t('still imported by {0}', clean(first))
      : l10n.t('still imported by {0} and {1} more', clean(first), others.length);
  };
  return [...new Set(risks.map(noteOf))].join(' · ');
}

function markOf(risk: Risk): string {
  switch (risk.kind) {
    case 'runsFromNetwork':
      return l10n.t('runs code from the network');
    case 'deletesFiles':
      return l10n.t('deletes files');
    case 'secret':
      return l10n.t('a secret?');
    case 'repository':
      return l10n.t('git repository');
    case 'deletes':
      return l10n.t('deletes a file');
    case 'imported':
      return l10n.t('still imported');
    case 'tests':
      return l10n.t('weaker tests');
    case 'exports':
      return l10n.t('changed exports');
    case 'configuration':
      return l10n.t('configuration');
    case 'outsidePlan':
      return l10n.t('outside the plan');
    case 'large':
      return plural(l10n.t('1 line|{0} lines'), risk.lines);
  }
}

function fewerText({ dropped, skipped, assertions }: Extract<Risk, { kind: 'tests' }>): string {
  return [
    ...(dropped > 0 ? [plural(l10n.t('1 test is gone|{0} tests are gone'), dropped)] : []),
    ...(skipped > 0 ? [plural(l10n.t('1 new mark skips tests|{0} new marks skip tests'), skipped)] : []),
    ...(assertions > 0 ? [plural(l10n.t('1 assertion is gone|{0} assertions are gone'), assertions)] : []),
  ].join(', ');
}

function namesText(names: readonly string[], clean: (text: string) => string): string {
  return shortList(names.map(name => clean(name)));
}
