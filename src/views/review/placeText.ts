import * as vscode from 'vscode';
import type { Agent } from '../agent.ts';
import { oneLine } from '../plainText.ts';
import { parsePreviewUri } from './previewUri.ts';
import { hunkAt, hunksOnce, type ReviewPlaces } from './reviewPlaces.ts';
import { shownChange } from './shownChange.ts';

/** Where the cursor of a preview editor is in the review: `Hunk 3 of 14 · cart.ts 2 of 8`; empty if nothing is to be decided there. */
export async function placeText(
  { store, files }: Agent,
  places: ReviewPlaces,
  { document, selection }: vscode.TextEditor,
): Promise<string> {
  const address = parsePreviewUri(document.uri);
  const shown = address && shownChange(store, files, address);
  if (!address || shown?.preview.state.kind !== 'pending') return '';
  const { preview, change } = shown;
  const hunk = Math.max(0, hunkAt(await hunksOnce(change), address.side, selection.active.line));
  const place = places.of(preview, change, hunk);
  if (!place) return '';
  const { l10n } = vscode;
  const name = oneLine(change.path.slice(change.path.lastIndexOf('/') + 1), 40);
  const atHunk = l10n.t('Hunk {0} of {1}', place.hunk, place.hunks);
  return place.files < 2 ? atHunk : `${atHunk} · ${l10n.t('{0} {1} of {2}', name, place.file, place.files)}`;
}
