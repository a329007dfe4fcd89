import * as vscode from 'vscode';
import { coalesce } from '../../../agent/base/async.ts';
import { Owner } from '../../../agent/base/disposable.ts';
import type { Checks } from '../../../agent/sandbox/checks/checks.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { changeUri, type FileUris } from '../../workspace/previewUri.ts';

const GATHER_MS = 200;

/** Shows the places that failed checks name as problems of the proposals, as long as the results are current. */
export class CheckDiagnostics extends Owner {
  readonly #checks: Checks;
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #shown = this.own(vscode.languages.createDiagnosticCollection('redline-checks'));

  constructor(checks: Checks, store: PreviewStore, files: FileUris) {
    super();
    this.#checks = checks;
    this.#store = store;
    this.#files = files;
    const update = coalesce(() => this.#update(), GATHER_MS);
    this.own({ dispose: update.cancel });
    this.own(checks.onDidChange(update));
  }

  #update(): void {
    const found = new Map<string, { readonly uri: vscode.Uri; readonly list: vscode.Diagnostic[] }>();
    const newest = new Map(
      this.#checks.results
        .filter(({ id }) => this.#checks.isCurrent(id))
        .map(result => [result.name, result]),
    );
    for (const result of newest.values()) {
      for (const problem of result.problems) {
        const uri = this.#uriOf(problem.path, Object.keys(result.previews));
        if (!uri) continue;
        const line = problem.line - 1;
        const range = new vscode.Range(line, problem.column - 1, line, Number.MAX_SAFE_INTEGER);
        const { Error, Warning } = vscode.DiagnosticSeverity;
        const one = new vscode.Diagnostic(range, problem.message, problem.isWarning ? Warning : Error);
        one.source = result.name;
        const key = uri.toString();
        const entry = found.get(key) ?? { uri, list: [] };
        entry.list.push(one);
        found.set(key, entry);
      }
    }
    this.#shown.clear();
    for (const { uri, list } of found.values()) this.#shown.set(uri, list);
  }

  /** The document that the check has read: that of the last pending preview that changes the file. */
  #uriOf(path: string, ids: readonly string[]): vscode.Uri | undefined {
    const last = ids
      .flatMap(id => this.#store.get(id) ?? [])
      .findLast(
        ({ state, changes }) => state.kind === 'pending' && changes?.some(change => change.path === path),
      );
    const change = last?.changes?.find(each => each.path === path);
    return last && change && change.kind !== 'delete'
      ? changeUri(last.id, change, 'proposal', this.#files)
      : undefined;
  }
}
