import { posix } from 'node:path';
import * as vscode from 'vscode';
import { inTime, TimeSlice } from '../../agent/base/async.ts';
import { textOf, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import { titleOf, type Preview } from '../../agent/hold/preview/preview.ts';
import { oneLine } from '../plainText.ts';
import { NOTE, type PreviewTabs } from './previewTabs.ts';
import { hiddenDifferences, lastingDifferences } from './hiddenDifference.ts';
import { plural } from '../plainText.ts';

/** The title of a preview's tab. @param notes differences that the diff does not show */
export function tabTitle(name: string, notes: readonly string[] = [], mark = markOf(1)): string {
  return [`${name} (${mark})`, ...notes].join(NOTE);
}

/**
 * The title of a preview's multi-file diff: the stable API gives nothing else to recognise it by. Of several with one name, the
 * later ones have a number.
 */
export function multiDiffTitle(tabs: PreviewTabs, preview: Preview, notes: readonly string[]): string {
  const name = oneLine(titleOf(preview));
  return tabTitle(name, notes, markOf(tabs.numberOf(preview, name)));
}

/**
 * Comes after the name of a proposed image: VS Code names the diff of two images by their names, not by its title. It
 * chooses the editor for images by the end of the name.
 */
export function imageMark(tabs: PreviewTabs, preview: Preview, path: string): string {
  return ` (${markOf(tabs.numberOf(preview, posix.basename(path)))})${posix.extname(path)}`;
}

function markOf(number: number): string {
  return number === 1 ? 'Redline' : `Redline ${number}`;
}

// A title cannot be changed while its tab is open, but its preview can be edited or rebased. So facts that may change are worded
// for the moment when the tab was opened; the lenses always show the current state.

/** How long a diff waits for its title, in milliseconds. */
const PATIENCE = 500;

/** The notes in the title of a single file's diff. A note that takes too long to find is shown by the lens only. */
export async function titleNotes(
  change: FileChange,
  find = hiddenDifferences,
  patience = PATIENCE,
): Promise<readonly string[]> {
  // On its own, a deleted file is shown as it was.
  if (change.kind === 'delete') return [vscode.l10n.t('to be deleted')];
  const lasting = lastingDifferences(change);
  if (change.before?.hash === change.after?.hash) return lasting;
  const notes = await inTime(
    patience,
    () => find(change),
    () => [],
  );
  return [...lasting, ...whenOpened(notes.filter(note => !lasting.includes(note)))];
}

/** The most files, and characters of their texts, that are compared for the title of a multi-file diff. */
const MAX_COMPARED = { files: 100, chars: 2_000_000 };

/** How many files of a multi-file diff differ in ways that it does not show; its lenses name them for each file. */
export async function overviewNotes(
  changes: readonly FileChange[],
  find = hiddenDifferences,
  patience = PATIENCE,
): Promise<readonly string[]> {
  let files = 0;
  const count = async (): Promise<boolean> => {
    const slice = new TimeSlice();
    let chars = 0;
    for (const change of changes.slice(0, MAX_COMPARED.files)) {
      chars += textOf(change.before).length + textOf(change.after).length;
      if (chars > MAX_COMPARED.chars) return false;
      if ((await find(change)).length > 0) files++;
      await slice.turn();
    }
    return changes.length <= MAX_COMPARED.files;
  };
  const isWhole = await inTime(patience, count, () => false);
  return whenOpened(isWhole ? counted(files) : countedSoFar(files));
}

function counted(files: number): readonly string[] {
  if (files === 0) return [];
  const forms = vscode.l10n.t(
    '1 file with changes that the diff hides|{0} files with changes that the diff hides',
  );
  return [plural(forms, files)];
}

function countedSoFar(files: number): readonly string[] {
  if (files === 0) return [vscode.l10n.t('not all files checked for changes that the diff hides')];
  const forms = vscode.l10n.t(
    'at least 1 file with changes that the diff hides|at least {0} files with changes that the diff hides',
  );
  return [plural(forms, files)];
}

function whenOpened([first, ...others]: readonly string[]): readonly string[] {
  return first === undefined ? [] : [vscode.l10n.t('when opened: {0}', first), ...others];
}
