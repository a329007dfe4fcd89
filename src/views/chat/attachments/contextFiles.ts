import * as vscode from 'vscode';
import type { Workspace } from '../../../agent/hold/preview/workspace.ts';
import { withoutIcons } from '../../plainText.ts';
import { attachmentName } from './attachmentRefs.ts';
import { type AttachmentRef } from '../protocol.ts';
import { mentions, rankFiles } from './fileMentions.ts';

/** The most files that are listed for suggestions. */
const MAX_FILES = 20_000;
/** The most suggestions after `@`. */
const MAX_SUGGESTED = 12;
/** How long a listing is reused, in milliseconds, since typing a name asks for it many times. */
const FRESH_MS = 10_000;

/** Finds files to attach to a prompt: the active file, its selection, and the files of the workspace. */
export class ContextFiles {
  readonly #workspace: Workspace;
  #listing: { readonly at: number; readonly paths: Promise<readonly string[]> } | undefined;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Workspace paths that match the query, best first; open files come before others. */
  async find(query: string): Promise<string[]> {
    return rankFiles(await this.#openFirst(), query, MAX_SUGGESTED);
  }

  /** The file in the active editor, or the lines selected in it; `undefined` if there are none. */
  async active(part: 'selection' | 'file'): Promise<AttachmentRef | undefined> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return undefined;
    const path = await this.pathOf(editor.document.uri);
    if (path === undefined) return undefined;
    if (part === 'file') return { path };
    const { selection } = editor;
    if (selection.isEmpty) return undefined;
    const { start, end } = selection;
    // A selection that ends before the first character of a line does not include that line.
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return { path, startLine: start.line + 1, endLine: last + 1 };
  }

  /** The workspace files that a text names after `@`, as the suggestion list would have attached them. */
  async named(text: string): Promise<AttachmentRef[]> {
    const found = mentions(text).map(async readings => {
      for (const ref of readings) {
        const path = await this.#existing(ref.path);
        if (path !== undefined) return [{ ...ref, path }];
      }
      return [];
    });
    return (await Promise.all(found)).flat();
  }

  async #existing(named: string): Promise<string | undefined> {
    const path = await this.#workspace.resolvePath(named).catch(() => undefined);
    if (path === undefined) return undefined;
    const bytes = await this.#workspace.read(path).catch(() => undefined);
    return bytes && path;
  }

  /** The workspace path of a file; `undefined` if it is not in the workspace. */
  async pathOf(uri: vscode.Uri): Promise<string | undefined> {
    if (uri.scheme !== 'file') return undefined;
    return this.#workspace.resolvePath(uri.fsPath).catch(() => undefined);
  }

  /** Lets the user choose; `undefined` if they cancel. */
  async pick(): Promise<AttachmentRef | undefined> {
    const picked = await vscode.window.showQuickPick(this.#choices(), {
      title: vscode.l10n.t('Attach to the Prompt'),
      placeHolder: vscode.l10n.t('The active file, its selection, or any file in the workspace'),
      matchOnDescription: true,
    });
    return picked?.ref;
  }

  async #choices(): Promise<(vscode.QuickPickItem & { ref?: AttachmentRef })[]> {
    const [file, selection, all] = await Promise.all([
      this.active('file'),
      this.active('selection'),
      this.#openFirst(),
    ]);
    const row = (ref: AttachmentRef, icon: string, label: string) => ({
      label: `$(${icon}) ${label}`,
      description: withoutIcons(attachmentName(ref)),
      ref,
    });
    return [
      ...(selection ? [row(selection, 'list-selection', vscode.l10n.t('Selection'))] : []),
      ...(file ? [row(file, 'file', vscode.l10n.t('Active File'))] : []),
      { label: vscode.l10n.t('Files'), kind: vscode.QuickPickItemKind.Separator },
      ...all.map(path => ({
        label: withoutIcons(path.slice(path.lastIndexOf('/') + 1)),
        description: path.includes('/') ? withoutIcons(path.slice(0, path.lastIndexOf('/'))) : '',
        ref: { path },
      })),
    ];
  }

  async #openFirst(): Promise<string[]> {
    return [...new Set([...(await this.#openFiles()), ...(await this.#all())])];
  }

  async #openFiles(): Promise<string[]> {
    const { all, activeTabGroup } = vscode.window.tabGroups;
    const tabs = [activeTabGroup.activeTab, ...all.flatMap(group => group.tabs)];
    const uris = tabs.flatMap(tab => (tab?.input instanceof vscode.TabInputText ? [tab.input.uri] : []));
    const paths = await Promise.all(uris.map(uri => this.pathOf(uri)));
    return paths.filter(path => path !== undefined);
  }

  #all(): Promise<readonly string[]> {
    if (!this.#listing || Date.now() - this.#listing.at > FRESH_MS) {
      const { signal } = new AbortController();
      const paths = this.#workspace.list('**/*', MAX_FILES, signal).then(listing => listing.paths);
      paths.catch(() => (this.#listing = undefined));
      this.#listing = { at: Date.now(), paths };
    }
    return this.#listing.paths;
  }
}
