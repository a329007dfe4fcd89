import * as vscode from 'vscode';
import { TooMuchError, type LeftOut, type LeftOutReason } from '../../../agent/hold/external/gathered.ts';
import { shownName } from '../../../agent/hold/external/fileNames.ts';
import { escapeInvisible, oneLine } from '../../plainText.ts';
import { showWarning } from '../../toast.ts';

/** How many paths a notification names. */
const NAMED = 3;

/**
 * Reports the files left out: a sentence that names the first, and a document with all on demand. Does nothing if there are none.
 */
export function reportLeftOut(
  leftOut: readonly LeftOut[],
  title = vscode.l10n.t('Not in the preview'),
): void {
  if (leftOut.length === 0) return;
  const named = leftOut
    .slice(0, NAMED)
    .map(({ path, why }) => `${oneLine(shownName(path))}: ${reasonText(why)}`);
  const rest = leftOut.length - named.length;
  const more = rest === 0 ? [] : [vscode.l10n.t('And {0} more.', rest)];
  const text = [`${title}:`, ...named, ...more].join(' ');
  const show = vscode.l10n.t('Show All');
  void showWarning(text, show).then(async clicked => {
    if (clicked !== show) return;
    const document = await vscode.workspace.openTextDocument({
      // Not `markdown`: the names come from others, and links in them could run commands.
      language: 'redline-document',
      content: leftOutText(leftOut, title),
    });
    await vscode.window.showTextDocument(document);
  });
}

/** Everything that was left out, as Markdown. */
function leftOutText(leftOut: readonly LeftOut[], title: string): string {
  const parts = leftOut.map(({ path, why, detail }) => {
    const line = `- ${oneLine(shownName(path), 1_000)}: ${reasonText(why)}`;
    if (detail === undefined) return line;
    const indented = escapeInvisible(detail).replace(/^/gm, '      ');
    return `${line}\n\n${indented}\n`;
  });
  return `# ${title}\n\n${parts.join('\n')}\n`;
}

/** Tells the user that there is too much to bring into review at once. @returns false for any other error */
export function reportTooMuch(error: unknown): boolean {
  if (!(error instanceof TooMuchError)) return false;
  void showWarning(
    vscode.l10n.t(
      'That is more than Redline brings into review at once: 2,000 files, or 50 MB. Nothing was proposed.',
    ),
  );
  return true;
}

/** Why something is not in the previews, for the user. */
export function reasonText(why: LeftOutReason): string {
  switch (why) {
    case 'binary':
      return vscode.l10n.t('not text, so Redline cannot show it.');
    case 'link':
      return vscode.l10n.t('a symbolic link, which Redline does not change.');
    case 'submodule':
      return vscode.l10n.t('a submodule.');
    case 'worktree':
      return vscode.l10n.t('a worktree: it stays in the view.');
    case 'outside':
      return vscode.l10n.t('outside the workspace folders.');
    case 'path':
      return vscode.l10n.t("one of git's own files, or not a name that can be used here.");
    case 'tooLarge':
      return vscode.l10n.t('larger than 5 MB.');
    case 'mode':
      return vscode.l10n.t('the change of its permissions is not carried over.');
    case 'converted':
      return vscode.l10n.t('git stores it in a different form from the one on disk.');
    case 'notAFile':
      return vscode.l10n.t('not a file.');
    case 'notFetched':
      return vscode.l10n.t('git has not fetched its content, and Redline fetches nothing.');
    case 'sparse':
      return vscode.l10n.t('git leaves it out of this working tree.');
    case 'unreadable':
      return vscode.l10n.t('cannot be read or changed here.');
    case 'hunks':
      return vscode.l10n.t('hunks of the patch fit nowhere, or in several places.');
    case 'missing':
      return vscode.l10n.t('there is no such file here.');
    case 'exists':
      return vscode.l10n.t('this file already exists here, with different content.');
    case 'differs':
      return vscode.l10n.t('the file here is not the one that the patch was made for.');
    case 'malformed':
      return vscode.l10n.t('this part of the patch is damaged.');
    case 'combined':
      return vscode.l10n.t('a combined diff of a merge, which cannot be applied.');
    case 'together':
      return vscode.l10n.t('it belongs to another part of the patch, which is left out.');
    case 'unsaved':
      return vscode.l10n.t('it has unsaved changes: save it first.');
    case 'staged':
      return vscode.l10n.t('what is staged in git differs from the file: commit or unstage it first.');
    case 'changed':
      return vscode.l10n.t('the applied lines, or lines next to them, have changed since.');
    case 'overlaps':
      return vscode.l10n.t('it touches changes that are neither staged nor committed.');
    case 'merging':
      return vscode.l10n.t('a merge is under way: resolve its conflicts first.');
  }
}
