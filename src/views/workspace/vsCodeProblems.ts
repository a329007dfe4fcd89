import * as vscode from 'vscode';
import { PREVIEW_SCHEME } from '../contributions.ts';
import { documentPath, proposalUri } from './previewUri.ts';
import type { Event } from '../../agent/base/event.ts';
import { withLineFeeds } from '../../agent/hold/text/lines.ts';
import { isWithin, type Problem, type Problems, type Severity } from '../../agent/session/tools/problems.ts';

export interface WorkspaceNames {
  /** The workspace path of an absolute path. @throws PathError if it is not in the workspace. */
  pathOf(input: string): string;
  uriOf(path: string): vscode.Uri;
}

/** The Problems of VS Code for files of the workspace. Hints, which the Problems view does not list, are left out. */
export class VsCodeProblems implements Problems, vscode.Disposable {
  readonly #names: WorkspaceNames;
  /** The version of each preview document that the last report is about. */
  readonly #checked = new WeakMap<vscode.TextDocument, number>();
  readonly #noting: vscode.Disposable;

  constructor(names: WorkspaceNames) {
    this.#names = names;
    this.#noting = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      for (const uri of uris) {
        if (uri.scheme !== PREVIEW_SCHEME) continue;
        const document = openDocument(uri.toString());
        if (document) this.#checked.set(document, document.version);
      }
    });
  }

  dispose(): void {
    this.#noting.dispose();
  }

  ofProposal(previewId: string, path: string, text: string): readonly Problem[] | undefined {
    const uri = proposalUri(
      previewId,
      documentPath(path, each => this.#names.uriOf(each)),
    );
    const document = openDocument(uri.toString());
    if (!document || this.#checked.get(document) !== document.version) return undefined;
    // VS Code gives all lines of a document the same ending.
    if (withLineFeeds(document.getText()) !== withLineFeeds(text)) return undefined;
    return vscode.languages.getDiagnostics(uri).flatMap(diagnostic => problemOf(path, diagnostic));
  }

  readonly onDidChange: Event<readonly string[]> = (listener, thisArgs, disposables) =>
    vscode.languages.onDidChangeDiagnostics(
      ({ uris }) =>
        listener.call(
          thisArgs,
          uris.flatMap(uri => pathOfUri(uri, this.#names) ?? []),
        ),
      undefined,
      disposables,
    );

  list(paths?: readonly string[]): readonly Problem[] {
    return vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
      if (diagnostics.length === 0) return [];
      const path = pathOfUri(uri, this.#names);
      if (path === undefined || paths?.some(asked => isWithin(path, asked)) === false) return [];
      return diagnostics.flatMap(diagnostic => problemOf(path, diagnostic));
    });
  }

  isOpen(path: string): boolean {
    return openDocument(this.#names.uriOf(path).toString()) !== undefined;
  }
}

/** The workspace path of a document; `undefined` outside the open folders, and for git's own files. */
export function pathOfUri(uri: vscode.Uri, names: WorkspaceNames): string | undefined {
  if (uri.scheme !== 'file') return undefined;
  try {
    return names.pathOf(uri.fsPath);
  } catch {
    return undefined;
  }
}

function openDocument(uri: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(document => document.uri.toString() === uri);
}

const SEVERITIES: Partial<Record<vscode.DiagnosticSeverity, Severity>> = {
  [vscode.DiagnosticSeverity.Error]: 'error',
  [vscode.DiagnosticSeverity.Warning]: 'warning',
  [vscode.DiagnosticSeverity.Information]: 'information',
};

function problemOf(path: string, diagnostic: vscode.Diagnostic): Problem[] {
  const severity = SEVERITIES[diagnostic.severity];
  if (!severity) return [];
  const { message, source, range } = diagnostic;
  const code =
    typeof diagnostic.code === 'object' ? String(diagnostic.code.value) : diagnostic.code?.toString();
  return [
    {
      path,
      severity,
      line: range.start.line + 1,
      column: range.start.character + 1,
      message,
      source,
      code,
    },
  ];
}
