import { isToolError, PathError, StalePreviewError } from '../agent/base/errors.ts';

/** The part of `vscode.l10n` that is needed here. */
export interface SentenceLocaliser {
  t(message: string, ...args: string[]): string;
}

/** A known error as a sentence for a person; the error's own text is written for the model. */
export function sentenceFor(error: unknown, l10n: SentenceLocaliser): string | undefined {
  if (error instanceof StalePreviewError) {
    return l10n.t(
      'Nothing was written: {0} changed after the preview was made. The preview is still pending.',
      error.paths.join(', '),
    );
  }
  if (error instanceof PathError) return pathSentence(error, l10n);
  if (isToolError(error)) return l10n.t('Nothing was resolved: {0}', error.message);
  return undefined;
}

function pathSentence({ code }: PathError, l10n: SentenceLocaliser): string {
  switch (code) {
    case 'outside':
      return l10n.t('That path is not inside the workspace.');
    case 'protected':
      return l10n.t('That path belongs to git itself and is not touched.');
    case 'empty':
      return l10n.t('That is no path of a file.');
    case 'noWorkspace':
      return l10n.t('No folder is open: open the folder with the file first.');
  }
}
