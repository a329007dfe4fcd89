import { beginningOf } from '../../../base/cutText.ts';
import { oneLine } from '../../../base/foreignText.ts';
import { fill, type Localiser } from '../../../base/localiser.ts';
import type { LedgerEntry } from '../../preview/ledger.ts';
import type { AppliedPreview } from '../../preview/lineOrigins.ts';
import { titleOf, type Preview } from '../../preview/preview.ts';
import { reasonGiven } from '../../preview/resolve/resolveTexts.ts';
import { isFromElsewhere } from '../stageGathered.ts';

/** How long a line of a message should be at most, in characters. */
const WIDTH = 72;

/** Default title of a commit: the title of the first preview, and the number of others. */
export function suggestedSubject(committed: readonly AppliedPreview[], l10n: Localiser): string {
  const [first, ...others] = committed;
  if (!first) return '';
  const title = plain(titleOf(first.preview));
  if (others.length === 0) return shortened(title, WIDTH);
  const more = l10n.t('{0} and {1} more');
  return fill(more, shortened(title, WIDTH - more.length), others.length);
}

/** The message of a commit: the subject, then the title and the reason of each preview that the subject does not have. */
export function commitMessage(subject: string, committed: readonly AppliedPreview[]): string {
  const head = plain(subject);
  const body =
    committed.length === 1
      ? committed.flatMap(({ preview, entry }) => {
          const title = plain(titleOf(preview));
          return [...(head === shortened(title, WIDTH) ? [] : [title]), ...reasonOf(entry)].map(each =>
            wrapped(each, ''),
          );
        })
      : [committed.map(({ preview, entry }) => itemOf(preview, entry)).join('\n')];
  return `${[head, ...body].filter(part => part !== '').join('\n\n')}\n`;
}

function itemOf(preview: Preview, entry: LedgerEntry): string {
  const why = reasonOf(entry);
  return wrapped([plain(titleOf(preview)), ...why].join(why.length > 0 ? ': ' : ''), '  ', '- ');
}

function reasonOf(entry: LedgerEntry): readonly string[] {
  const reason = plain(reasonGiven(entry) ?? '');
  return reason === '' ? [] : [reason];
}

/** Who took part in an applied change, and which checks had passed on it. */
export function trailersOf({
  preview: { origin },
  entry: { checks = [] },
}: AppliedPreview): readonly string[] {
  const isOfModel = origin && !isFromElsewhere(origin.sessionId);
  const { name, version } = origin?.agent ?? { name: 'Redline', version: '' };
  const agent = isOfModel ? plain(`${name} ${version}`) : '';
  const passed = checks.filter(({ outcome }) => outcome === 'passed').map(each => plain(each.name));
  return [
    'Reviewed-with: Redline',
    ...(agent === '' ? [] : [`Assisted-by: ${agent}`]),
    ...new Set(passed.filter(each => each !== '').map(each => `Checked-with: ${each}`)),
  ];
}

function plain(text: string): string {
  return oneLine(text, Infinity);
}

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${beginningOf(text, max - 1).trimEnd()}…`;
}

/** The text in lines, broken between words. */
function wrapped(text: string, indent: string, start = ''): string {
  const lines: string[] = [];
  let line = start;
  for (const word of text.split(' ')) {
    const isFirst = line === start || line === indent;
    if (isFirst) line += word;
    else if (line.length + 1 + word.length <= WIDTH) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join('\n');
}
