import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Sentence } from '../../../agent/base/localiser.ts';
import { MAX_TOTAL_BYTES, TooMuchError } from '../../../agent/hold/external/gathered.ts';
import { parsePatch } from '../../../agent/hold/external/patch/parsePatch.ts';
import { patchProposal } from '../../../agent/hold/external/patch/patchProposal.ts';
import { decodeText } from '../../../agent/hold/text/encodings.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo, withCancel } from '../../toast.ts';
import { patchPlaces, rootOf } from './places.ts';
import { reportTooMuch } from './report.ts';
import { repositoryRoots } from './repositories.ts';
import type { Ctx } from '../../ctx.ts';
import { reviewGathered } from './reviewGathered.ts';

/** A patch and where it comes from. */
interface Patch {
  readonly name: Sentence;
  /** `undefined` if it is not text. */
  readonly text: string | undefined;
}

const CLIPBOARD = 'clipboard';

/**
 * Brings the changes of a patch into previews of the files here.
 * @param given a file, or `clipboard`; without one it asks.
 * @returns the ids of the previews.
 */
export async function reviewPatch(ctx: Ctx, given: unknown): Promise<readonly string[] | undefined> {
  const source = given instanceof vscode.Uri || given === CLIPBOARD ? given : await pick();
  if (source === undefined) return undefined;
  try {
    const { l10n } = vscode;
    const { name, text } = await readPatch(source);
    const parts = text === undefined ? [] : await parsePatch(text);
    if (parts.length === 0) {
      void showInfo(
        vscode.l10n.t(
          'Redline cannot read the {0}: it needs a unified diff, or a patch of Codex, as text.',
          oneLine(name(l10n)),
        ),
      );
      return undefined;
    }
    return await withCancel(vscode.l10n.t('Reading {0}', oneLine(name(l10n))), async signal => {
      const roots = await repositoryRoots(source === CLIPBOARD ? undefined : source);
      const places = patchPlaces(rootOf(parts, roots), ctx.workspace);
      const gathered = await patchProposal(parts, ctx.workspace, places);
      signal.throwIfAborted();
      return reviewGathered(ctx, { name, l10n, command: 'review_patch' }, gathered);
    });
  } catch (error) {
    if (reportTooMuch(error)) return undefined;
    throw error;
  }
}

/** Asks for a file or the clipboard. */
async function pick(): Promise<vscode.Uri | typeof CLIPBOARD | undefined> {
  const file = { label: `$(file) ${vscode.l10n.t('A patch file…')}`, isFile: true };
  const clipboard = { label: `$(clippy) ${vscode.l10n.t('The clipboard')}`, isFile: false };
  const picked = await vscode.window.showQuickPick([file, clipboard], {
    title: vscode.l10n.t('Review a patch'),
    placeHolder: vscode.l10n.t('Its changes become previews. No file is changed until you apply them.'),
  });
  if (!picked?.isFile) return picked && CLIPBOARD;
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Review a patch'),
    openLabel: vscode.l10n.t('Review'),
    filters: { [vscode.l10n.t('Patches')]: ['patch', 'diff'], [vscode.l10n.t('All files')]: ['*'] },
  });
  return chosen?.[0];
}

/** @throws TooMuchError for a patch of more than 50 MB. */
async function readPatch(source: vscode.Uri | typeof CLIPBOARD): Promise<Patch> {
  if (source === CLIPBOARD) {
    const text = await vscode.env.clipboard.readText();
    if (text.length > MAX_TOTAL_BYTES) throw new TooMuchError(`${text.length} characters`);
    return { name: l10n => l10n.t('patch on the clipboard'), text };
  }
  const { size } = await vscode.workspace.fs.stat(source);
  if (size > MAX_TOTAL_BYTES) throw new TooMuchError(`${size} bytes`);
  const bytes = await vscode.workspace.fs.readFile(source);
  return {
    name: l10n => l10n.t('patch {0}', path.posix.basename(source.path)),
    text: decodeText(bytes)?.text,
  };
}
