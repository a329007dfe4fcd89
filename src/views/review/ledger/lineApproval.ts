import * as vscode from 'vscode';
import {
  originOfLine,
  type FoundOrigin,
  type UnknownOrigin,
} from '../../../agent/hold/preview/lineOrigins.ts';
import { titleOf } from '../../../agent/hold/preview/preview.ts';
import { previewView } from '../../../agent/hold/preview/previewView.ts';
import { Lineage } from '../../../agent/hold/preview/resolve/lineage.ts';
import { reasonGiven } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { execute } from '../../commandRegistry.ts';
import { PREVIEW_SCHEME } from '../../contributions.ts';
import type { Ctx } from '../../ctx.ts';
import { agentLabel, oneLine, plural, withoutIcons } from '../../plainText.ts';
import { showLine } from '../commands/showHunk.ts';
import { recommendationText } from '../../texts/previewWords.ts';
import { showInfo } from '../../toast.ts';
import { copyTrailers } from './ledgerPick.ts';
import { checksLine, momentText, outcomeTitle, placeOf } from './ledgerText.ts';

interface ApprovalItem extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

/** How many characters of a text a row shows. */
const MAX_CHARS = 400;

/** Shows who approved the line at the cursor, when and why, and offers actions on it. */
export async function whoApprovedLine(ctx: Ctx): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme === PREVIEW_SCHEME)
    return void showInfo(vscode.l10n.t('Put the cursor on a line of a file first.'));
  const { document } = editor;
  const { line } = editor.selection.active;
  const path = ctx.workspace.pathOf(document.uri.fsPath);
  const { workspace, store } = ctx;
  const origin = await originOfLine(store, { path, text: document.getText(), line }, ({ roots }, at) =>
    roots ? workspace.formerPlaces([at], roots).size === 0 : true,
  );
  const place = vscode.l10n.t('line {0} of {1}', line + 1, oneLine(path.slice(path.lastIndexOf('/') + 1)));
  if (!('preview' in origin)) return void showInfo(unknownText(origin, place));
  const title = vscode.l10n.t('Who approved {0}', place);
  const items = [...facts(origin), ...actions(ctx, origin)];
  const options = { title, matchOnDescription: true };
  await (await vscode.window.showQuickPick(items, options))?.run?.();
}

function unknownText(origin: UnknownOrigin, place: string): string {
  const { l10n } = vscode;
  switch (origin.kind) {
    case 'notByRedline':
      return l10n.t('No preview that this window knows of wrote {0}.', place);
    case 'tooDifferent':
      return l10n.t('The file has changed too much to tell who approved {0}.', place);
    case 'forgotten': {
      const sentence = l10n.t(
        'Nobody can tell who approved {1}: the text of 1 decision about this file is no longer kept. The ledger has the decision.|Nobody can tell who approved {1}: the texts of {0} decisions about this file are no longer kept. The ledger has the decisions.',
      );
      return plural(sentence, origin.entries.length, place);
    }
  }
}

function facts(origin: FoundOrigin): ApprovalItem[] {
  const { l10n } = vscode;
  const { entry, preview, kind } = origin;
  const agent = entry.agent ? [agentLabel(entry.agent)] : [];
  const why = reasonGiven(entry);
  const clean = (text: string): string => oneLine(text, MAX_CHARS);
  const row = (icon: string, text: string, about: string): ApprovalItem => ({
    label: `$(${icon}) ${withoutIcons(text, MAX_CHARS)}`,
    description: about,
  });
  return [
    kind === 'changedSince'
      ? row('edit', l10n.t('Changed since; this window knows of no decision about that'), '')
      : row('pass', l10n.t('The line is as it was approved'), ''),
    row('check', [outcomeTitle(entry), momentText(entry.at), ...placeOf(entry)].join(' · '), ''),
    row('git-commit', titleOf(preview), agent.join('')),
    ...(why === undefined ? [] : [row('comment', why, l10n.t('reason'))]),
    ...(entry.editedByUser ? [row('pencil', l10n.t('edited by you'), '')] : []),
    ...(entry.recommendation ? [row('lightbulb', recommendationText(entry.recommendation, clean), '')] : []),
    ...(entry.prompt === undefined ? [] : [row('comment-discussion', entry.prompt, l10n.t('prompt'))]),
    ...(entry.checks ? [row('beaker', checksLine(entry), l10n.t('checks'))] : []),
  ];
}

function actions(ctx: Ctx, { preview, entry, path, line }: FoundOrigin): ApprovalItem[] {
  const { l10n } = vscode;
  const { store } = ctx;
  const { remedy } = previewView(preview, new Lineage(store.all()).factsOf(preview));
  return [
    { label: l10n.t('Actions'), kind: vscode.QuickPickItemKind.Separator },
    {
      label: `$(diff) ${l10n.t('Show Diff')}`,
      run: async () => {
        await execute('redline.preview.open', preview.id, path);
        await showLine(ctx, { id: preview.id, path, line });
      },
    },
    ...(remedy?.type === 'undo'
      ? [
          {
            label: `$(history) ${l10n.t('Undo Apply')}`,
            run: () => execute('redline.preview.undo', remedy.id),
          },
        ]
      : []),
    { label: `$(copy) ${l10n.t('Copy as Commit Trailer')}`, run: () => copyTrailers({ preview, entry }) },
    { label: `$(book) ${l10n.t('Show Ledger')}`, run: () => execute('redline.showLedger') },
  ];
}
