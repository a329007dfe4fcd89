import type { WebviewMessage } from '../protocol.ts';

declare function acquireVsCodeApi(): {
  postMessage(message: WebviewMessage): void;
  getState(): unknown;
  setState(state: unknown): void;
};

/** The page's only connection to the extension. */
const vscode = acquireVsCodeApi();

/** The id of the conversation that the page shows. */
let session = '';

export function setSession(id: string): void {
  session = id;
}

export function sessionId(): string {
  return session;
}

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
