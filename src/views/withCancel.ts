import * as vscode from 'vscode';

/** Runs long work with a notification that can cancel it, and that shows how far it is or what it says. */
export function withCancel<T>(
  title: string,
  work: (
    signal: AbortSignal,
    report: (done: number, all: number) => void,
    say: (message: string) => void,
  ) => Promise<T>,
): Thenable<T> {
  const { Notification: location } = vscode.ProgressLocation;
  return vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    let shown = 0;
    const report = (done: number, all: number): void => {
      const percent = Math.floor((100 * done) / all);
      if (percent > shown) progress.report({ increment: percent - shown });
      shown = Math.max(shown, percent);
    };
    return work(abort.signal, report, message => progress.report({ message }));
  });
}
