import { messageOf, PathError, ToolError } from '../../agent/base/errors.ts';
import {
  BlockedPreviewError,
  JournalError,
  RefusedVoteError,
  StalePreviewError,
  UnsavedEditorError,
} from '../../agent/hold/preview/errors.ts';
import { countText, type Localiser } from '../../agent/base/localiser.ts';
import { shortList } from '../plainText.ts';

/** The most moved files that a sentence names. */
const MAX_MOVED = 3;

/** A sentence for the user about a known error, whose own message is written for the model; `undefined` for any other error. */
export function sentenceFor(error: unknown, l10n: Localiser): string | undefined {
  if (error instanceof StalePreviewError) {
    const changed = l10n.t(
      'Nothing was written: {0} changed after the preview was made. The preview is still pending.',
      shortList(error.paths),
    );
    const moved = [...error.moved].map(([from, to]) =>
      l10n.t('{0} was moved to {1}.', shortList([from]), shortList([to])),
    );
    return [changed, ...moved.slice(0, MAX_MOVED)].join(' ');
  }
  if (error instanceof JournalError) {
    const what = l10n.t(
      'Nothing was applied, because Redline cannot save to its storage. The preview is still pending.',
    );
    return `${what} ${storageAdvice(error.cause, l10n)}`;
  }
  if (error instanceof PathError) return pathSentence(error, l10n);
  if (error instanceof RefusedVoteError) return refusalSentence(error, l10n);
  if (error instanceof BlockedPreviewError)
    return countText(
      l10n.t(
        'This builds on another change, which must be applied first.|This builds on {0} other changes, which must be applied first.',
      ),
      l10n,
    )(error.blockers.length);
  if (error instanceof UnsavedEditorError)
    return l10n.t(
      'Nothing was written: {0} has unsaved changes in an editor that Redline cannot read. Save or revert them first.',
      shortList([error.path]),
    );
  if (error instanceof ToolError) return l10n.t('That did not work: {0}', error.fact);
  return undefined;
}

function refusalSentence({ code, paths }: RefusedVoteError, l10n: Localiser): string {
  switch (code) {
    case 'outdated':
      return l10n.t('This has changed since you saw it. Look at it again, then decide.');
    case 'unknown':
      return l10n.t('This is not pending any more.');
    case 'conflicts':
      return l10n.t('Conflicts are left in {0}. Settle them first.', shortList(paths));
    case 'elsewhere':
      return l10n.t(
        'Nothing was written: the folder of {0} is not open any more, or has another name.',
        shortList(paths),
      );
  }
}

/** Advice on an error of Redline's own storage. */
export function storageAdvice(error: unknown, l10n: Localiser): string {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return l10n.t('The disk is full: free some space.');
    case 'ENOENT':
      return l10n.t(
        'The storage was deleted: what it held is only in this window, until that closes or reloads.',
      );
    case 'EROFS':
      return l10n.t('The disk is read-only: make it writable.');
    case 'EACCES':
    case 'EPERM':
      return l10n.t("Redline may not write to VS Code's folder of stored data: check its permissions.");
    case 'ELOST':
      return l10n.t('A window on another machine has taken over the storage: reload this window.');
    default:
      return l10n.t('The operating system reports: {0}.', messageOf(error));
  }
}

function pathSentence({ code }: PathError, l10n: Localiser): string {
  switch (code) {
    case 'outside':
      return l10n.t('That path is outside the workspace.');
    case 'protected':
      return l10n.t('Redline does not touch files that belong to git itself.');
    case 'empty':
      return l10n.t('Not a file path.');
    case 'noWorkspace':
      return l10n.t('No folder is open. Open the folder that contains the file first.');
  }
}
