import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import { detailOf, PathError } from '../../../agent/base/errors.ts';
import { hunksOfChange } from '../../../agent/hold/preview/fileChange.ts';
import {
  PendingFiles,
  proposedLines,
  type ProposedChange,
} from '../../../agent/hold/preview/pendingFiles.ts';
import type { Agent } from '../../agent.ts';
import { inLens, makeCommand } from '../../commandRegistry.ts';
import { changeUri, parsePreviewUri, rowUri } from '../../workspace/previewUri.ts';
import { shownChange } from '../shownChange.ts';
import { plural } from '../../plainText.ts';

/** How long changes are collected before marks are drawn again, in milliseconds. */
const GATHER_MS = 150;

/** Up to this many files, VS Code gets an event for each; beyond it, one for all that it shows. */
const MAX_TOLD = 250;

/**
 * Marks files that pending previews change: by a badge in the explorer and on tabs, in the gutter and the overview ruler at the lines
 * that would change, and by one lens at the top. It looks only at the files that VS Code shows.
 */
export class FileMarks extends Owner implements vscode.FileDecorationProvider, vscode.CodeLensProvider {
  readonly #agent: Agent;
  readonly #pending: PendingFiles;
  readonly #gutter: vscode.TextEditorDecorationType;
  readonly #decorated = this.own(new vscode.EventEmitter<vscode.Uri[] | undefined>());
  readonly #lenses = this.own(new vscode.EventEmitter<void>());
  readonly #told = new Set<string>();
  /** The last read for the marks of an editor: a read that ends after a newer one began is out of date. */
  readonly #drawing = new WeakMap<vscode.TextEditor, readonly ProposedChange[]>();

  readonly onDidChangeFileDecorations = this.#decorated.event;
  readonly onDidChangeCodeLenses = this.#lenses.event;

  constructor(agent: Agent & { readonly extensionUri: vscode.Uri }) {
    super();
    this.#agent = agent;
    this.#pending = this.own(new PendingFiles(agent.store));
    this.#gutter = this.own(
      vscode.window.createTextEditorDecorationType({
        gutterIconPath: vscode.Uri.joinPath(agent.extensionUri, 'media', 'proposed.svg'),
        gutterIconSize: 'contain',
        overviewRulerColor: new vscode.ThemeColor('charts.purple'),
        overviewRulerLane: vscode.OverviewRulerLane.Center,
      }),
    );
    const draw = coalesce(() => this.#drawAll(), GATHER_MS);
    const tell = coalesce(() => this.#tell(), GATHER_MS);
    this.own({ dispose: draw.cancel });
    this.own({ dispose: tell.cancel });
    this.own(
      this.#pending.onDidChange(paths => {
        for (const path of paths) this.#told.add(path);
        tell();
        draw();
      }),
    );
    this.own(vscode.window.onDidChangeVisibleTextEditors(draw));
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.#changesOf(document.uri).length > 0) draw();
      }),
    );
    this.own(vscode.window.registerFileDecorationProvider(this));
    this.own(vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this));
    this.#drawAll();
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const proposed = this.#changesOf(uri);
    const { length } = proposed;
    if (length === 0) return this.#letterOf(uri);
    const text = plural(
      vscode.l10n.t('1 preview of Redline would change this|{0} previews of Redline would change this'),
      length,
    );
    // The sign of the card for a file that would be gone.
    const isGone = proposed.at(-1)?.change.kind === 'delete';
    const decoration = new vscode.FileDecoration(isGone ? '−' : '±', text);
    decoration.propagate = true;
    return decoration;
  }

  /** The source control letter on the document of a preview, in its tab and its row: the kind of change to the file. */
  #letterOf(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const address = parsePreviewUri(uri);
    const { store, files } = this.#agent;
    const kind = address && shownChange(store, files, address)?.change.kind;
    const { l10n, ThemeColor, FileDecoration } = vscode;
    switch (kind) {
      case 'create':
        return new FileDecoration(
          'A',
          l10n.t('new'),
          new ThemeColor('gitDecoration.addedResourceForeground'),
        );
      case 'delete':
        return new FileDecoration(
          'D',
          l10n.t('deleted'),
          new ThemeColor('gitDecoration.deletedResourceForeground'),
        );
      case 'rename':
        return new FileDecoration(
          'R',
          l10n.t('renamed'),
          new ThemeColor('gitDecoration.renamedResourceForeground'),
        );
      case 'modify':
      case undefined:
        return undefined;
    }
  }

  async provideCodeLenses({ uri }: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const proposed = this.#changesOf(uri);
    const [first] = proposed;
    if (!first) return [];
    const ids = [...new Set(proposed.map(({ preview }) => preview.id))];
    const title = await titleFor(proposed);
    const command =
      ids.length === 1
        ? makeCommand(title, 'redline.preview.open', first.preview.id, first.change.path)
        : makeCommand(title, 'redline.preview.openAll', ids);
    return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), inLens(command))];
  }

  override dispose(): void {
    for (const editor of vscode.window.visibleTextEditors) editor.setDecorations(this.#gutter, []);
    super.dispose();
  }

  #changesOf(uri: vscode.Uri): readonly ProposedChange[] {
    if (uri.scheme !== 'file' || this.#pending.isEmpty) return [];
    try {
      return this.#pending.at(this.#agent.workspace.pathOf(uri.fsPath));
    } catch (error) {
      if (error instanceof PathError) return []; // outside the open folders
      throw error;
    }
  }

  #tell(): void {
    const paths = [...this.#told];
    this.#told.clear();
    this.#decorated.fire(paths.length > MAX_TOLD ? undefined : paths.flatMap(path => this.#urisOf(path)));
    this.#lenses.fire();
  }

  /** The file itself, and the documents of its previews. A path whose folder is no longer open has no URI. */
  #urisOf(path: string): readonly vscode.Uri[] {
    const { files } = this.#agent;
    const documents = this.#pending
      .at(path)
      .flatMap(({ preview: { id }, change }) => [
        changeUri(id, change, change.after ? 'proposal' : 'deleted', files),
        rowUri(id, change, files),
      ]);
    try {
      return [files(path), ...documents];
    } catch (error) {
      if (error instanceof PathError) return [];
      throw error;
    }
  }

  #drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors)
      this.#draw(editor).catch((error: unknown) =>
        this.#agent.logger.error(`Marking lines with pending changes failed: ${detailOf(error)}`),
      );
  }

  async #draw(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    const proposed = [...this.#changesOf(document.uri)];
    this.#drawing.set(editor, proposed);
    const { version } = document;
    const text = document.getText();
    const lines = await Promise.all(proposed.map(({ change }) => proposedLines(change, text)));
    // If it has changed meanwhile, it is being drawn again.
    if (document.version !== version || this.#drawing.get(editor) !== proposed) return;
    const ranges = lines.flat().map(({ start, end }) => new vscode.Range(start, 0, end, 0));
    editor.setDecorations(this.#gutter, ranges);
  }
}

/** `4 proposed changes · Review` */
async function titleFor(proposed: readonly ProposedChange[]): Promise<string> {
  if (proposed.every(({ change }) => change.kind === 'delete'))
    return vscode.l10n.t('Proposed: delete this file · Review');
  const counts = await Promise.all(proposed.map(async ({ change }) => (await hunksOfChange(change)).length));
  const count = counts.reduce((sum, hunks) => sum + Math.max(1, hunks), 0);
  const text = vscode.l10n.t('1 proposed change · Review|{0} proposed changes · Review');
  return plural(text, count);
}
