import type { WebviewMessage } from '../protocol.ts';

declare function acquireVsCodeApi(): {
  postMessage(message: WebviewMessage): void;
  getState(): unknown;
  setState(state: unknown): void;
};

/** The page's only connection to the extension. */
const vscode = acquireVsCodeApi();

export function post(message: WebviewMessage): void {
  vscode.postMessage(message);
}

/** Last value passed to {@link keep}, also after the page was loaded again. */
export function kept(): unknown {
  return vscode.getState();
}

export function keep(state: unknown): void {
  vscode.setState(state);
}
