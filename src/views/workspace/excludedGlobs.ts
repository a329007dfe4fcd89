import * as vscode from 'vscode';

/** Globs that `files.exclude` and `search.exclude` hide from searches. */
export function excludedGlobs(folder: vscode.Uri): string[] {
  return ['files', 'search'].flatMap(section => {
    const globs = vscode.workspace
      .getConfiguration(section, folder)
      .get<Record<string, unknown>>('exclude', {});
    return Object.keys(globs).filter(glob => globs[glob] === true);
  });
}
