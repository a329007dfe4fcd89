import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { hunksOfChange, textOf, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Hunk } from '../../agent/hold/text/hunks.ts';
import type { Agent } from '../agent.ts';
import { inLens, makeCommand } from '../commandRegistry.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';
import type { Ctx } from '../ctx.ts';
import { oneLine } from '../plainText.ts';
import { showInfo } from '../toast.ts';
import type { LookedAt } from './lookedAt.ts';
import { tabTitle } from './titleNotes.ts';
import { changeUri, parsePreviewUri } from '../workspace/previewUri.ts';
import { shownChange } from './shownChange.ts';

/** Offers, above the first hunk, the difference between a changed revision and the version of the file that the user saw before. */
export class SinceLooked extends Owner implements vscode.CodeLensProvider {
  readonly #agent: Agent;
  readonly #looks: LookedAt;
  readonly #changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(agent: Agent, looks: LookedAt) {
    super();
    this.#agent = agent;
    this.#looks = looks;
    this.own(looks.onDidChange(() => this.#changed.fire()));
    this.own(agent.store.onDidRevise(() => this.#changed.fire()));
    this.own(vscode.languages.registerCodeLensProvider({ scheme: PREVIEW_SCHEME }, this));
  }

  async provideCodeLenses({ uri, lineCount }: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const address = parsePreviewUri(uri);
    const shown = address && shownChange(this.#agent.store, this.#agent.files, address);
    if (!shown || address.side !== 'proposal' || shown.preview.state.kind !== 'pending') return [];
    const { preview, change } = shown;
    const seen = this.#looks.seenBefore(preview, change);
    if (!seen || (await isWithin(change, seen))) return [];
    const first = change.before ? ((await hunksOfChange(change))[0]?.afterStart ?? 0) : 0;
    const line = Math.min(first, lineCount - 1);
    const title = vscode.l10n.t('Changed since you looked · Show Difference');
    const command = makeCommand(title, 'redline.preview.showSinceLooked', preview.id, change.path);
    return [new vscode.CodeLens(new vscode.Range(line, 0, line, 0), inLens(command))];
  }
}

/** Whether the user has seen every hunk of the change before, such as when a hunk was discarded and only the rest is left. */
async function isWithin(change: FileChange, seen: FileChange): Promise<boolean> {
  if (change.before?.hash !== seen.before?.hash) return false;
  const [hunks, known] = [await hunksOfChange(change), (await hunksOfChange(seen)).map(hunkKey)];
  return hunks.length > 0 && hunks.every(hunk => known.includes(hunkKey(hunk)));
}

function hunkKey({ beforeStart, before, after }: Hunk): string {
  return JSON.stringify([beforeStart, before, after]);
}

/** Opens the changes of a revision to a file since the user looked at it: of the named one, or the one shown. */
export async function showSinceLooked(ctx: Ctx, [id, path]: readonly unknown[]): Promise<void> {
  const { store, files, looks, texts } = ctx;
  const active = vscode.window.activeTextEditor;
  const address = active && parsePreviewUri(active.document.uri);
  const named = typeof id === 'string' ? store.get(id) : undefined;
  const shown = named ? undefined : address && shownChange(store, files, address);
  const preview = named ?? shown?.preview;
  const change = shown?.change ?? preview?.changes?.find(each => each.path === path);
  const before = preview && change && looks.seenBefore(preview, change);
  if (!before)
    return void showInfo(
      vscode.l10n.t('Nothing has changed here since you looked, as far as this window knows.'),
    );
  const name = change.path.slice(change.path.lastIndexOf('/') + 1);
  const seen = texts.hold(name, textOf(before.after));
  const title = tabTitle(vscode.l10n.t('{0} since you looked', oneLine(name)));
  await vscode.commands.executeCommand(
    'vscode.diff',
    seen,
    changeUri(preview.id, change, 'proposal', files),
    title,
    {
      preview: true,
    },
  );
}
