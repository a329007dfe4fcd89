import * as vscode from 'vscode';
import type { LoadProblem } from '../../agent/tools/custom/loadProblem.ts';
import { problemSentence } from './problemSentence.ts';

/** What is wrong with custom tools, in the Problems view. */
export class ToolProblems implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('redline-tools');

  /** Shows these and no others. */
  show(problems: readonly LoadProblem[]): void {
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const { file, line, column, fault } of problems) {
      const nameOf = (other: string): string => vscode.workspace.asRelativePath(other);
      const message = problemSentence(fault, vscode.l10n, nameOf);
      // To the end of the line: an editor underlines what is there.
      const range = new vscode.Range(line, column, line, Number.MAX_SAFE_INTEGER);
      const diagnostic = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Error);
      diagnostic.source = 'Redline';
      diagnostic.code = fault.kind;
      byFile.set(file, [...(byFile.get(file) ?? []), diagnostic]);
    }
    this.#collection.clear();
    for (const [file, diagnostics] of byFile) this.#collection.set(vscode.Uri.file(file), diagnostics);
  }

  dispose(): void {
    this.#collection.dispose();
  }
}
