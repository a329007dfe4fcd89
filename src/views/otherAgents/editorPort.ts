import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { messageOf, ToolError } from '../../agent/base/errors.ts';
import { Emitter } from '../../agent/base/event.ts';
import type {
  EditorPort,
  EditorProblem,
  EditorSelection,
  OpenEditor,
} from '../../agent/clients/companions/companionHost.ts';

/** The most open editors, and the most problems, that are told. */
const MAX_EDITORS = 100;
const MAX_PROBLEMS = 200;
/** The longest selection that is told, in characters. */
const MAX_SELECTED = 16_384;

const SEVERITIES = ['Error', 'Warning', 'Info', 'Hint'] as const;

/** What agents in terminals may know of this window: files of the workspace only. */
export class VsCodeEditorPort implements EditorPort, vscode.Disposable {
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new Emitter<void>());
  readonly onDidChange = this.#changed.event;

  constructor() {
    const fire = (): void => this.#changed.fire();
    this.#owned.add(vscode.window.onDidChangeActiveTextEditor(fire));
    this.#owned.add(vscode.window.onDidChangeTextEditorSelection(fire));
    this.#owned.add(vscode.window.tabGroups.onDidChangeTabs(fire));
  }

  get isTrusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  openEditors(): readonly OpenEditor[] {
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    const languages = new Map(
      vscode.workspace.textDocuments.map(({ uri, languageId }) => [uri.toString(), languageId]),
    );
    const editors = new Map<string, OpenEditor>();
    for (const { input, isDirty } of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
      if (!(input instanceof vscode.TabInputText) || !isInWorkspace(input.uri)) continue;
      const key = input.uri.toString();
      const languageId = languages.get(key) ?? 'plaintext';
      editors.set(key, { file: input.uri.fsPath, isActive: key === active, isDirty, languageId });
    }
    return [...editors.values()].slice(0, MAX_EDITORS);
  }

  selection(): EditorSelection | undefined {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !isInWorkspace(editor.document.uri)) return undefined;
    const { start, end } = editor.selection;
    const text = editor.document.getText(editor.selection).slice(0, MAX_SELECTED);
    return { file: editor.document.uri.fsPath, text, start: placeOf(start), end: placeOf(end) };
  }

  problems(file?: string): readonly EditorProblem[] {
    const found: EditorProblem[] = [];
    for (const [uri, diagnostics] of vscode.languages.getDiagnostics()) {
      if (!isInWorkspace(uri) || (file !== undefined && uri.fsPath !== file)) continue;
      for (const { message, severity, source = '', range } of diagnostics) {
        if (found.length >= MAX_PROBLEMS) return found;
        found.push({
          file: uri.fsPath,
          message,
          severity: SEVERITIES[severity] ?? 'Hint',
          source,
          start: placeOf(range.start),
          end: placeOf(range.end),
        });
      }
    }
    return found;
  }

  async show(file: string): Promise<void> {
    try {
      await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: true, preserveFocus: true });
    } catch (error) {
      throw new ToolError(`${file} cannot be shown: ${messageOf(error)}`);
    }
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

function isInWorkspace(uri: vscode.Uri): boolean {
  return uri.scheme === 'file' && vscode.workspace.getWorkspaceFolder(uri) !== undefined;
}

function placeOf({ line, character }: vscode.Position): { line: number; character: number } {
  return { line, character };
}
