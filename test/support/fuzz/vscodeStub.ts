import * as fs from 'node:fs';
import { registerHooks } from 'node:module';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import { GlobAutomaton } from '../../../src/agent/hold/text/globAutomaton.ts';

/**
 * As much of the module `vscode` as the workspace, the text search and the storage need, for plain Node: real files below one
 * folder, no open editors, default settings. What a test needs of `window` it assigns there. After {@link useVscodeStub}, modules of `src/views` that import `vscode` get this file.
 */
export class Uri {
  readonly scheme = 'file';
  readonly path: string;

  constructor(uriPath: string) {
    this.path = uriPath;
  }

  static file(fsPath: string): Uri {
    return new Uri(fsPath);
  }

  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(path.posix.join(base.path, ...parts));
  }

  static from({ path: uriPath }: { readonly path: string }): Uri {
    return new Uri(uriPath);
  }

  get fsPath(): string {
    return this.path;
  }

  with({ path: uriPath = this.path }: { readonly path?: string }): Uri {
    return new Uri(uriPath);
  }

  toString(): string {
    return pathToFileURL(this.path).href;
  }
}

export class RelativePattern {
  readonly base: Uri;
  readonly pattern: string;

  constructor(base: Uri, pattern: string) {
    this.base = base;
    this.pattern = pattern;
  }
}

export class CancellationTokenSource {
  readonly token = { isCancellationRequested: false };

  cancel(): void {
    this.token.isCancellationRequested = true;
  }

  dispose(): void {
    this.cancel();
  }
}

export class ThemeIcon {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }
}

export class ThemeColor {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }
}

export class TreeItem {
  readonly label: string;
  readonly collapsibleState: number;

  constructor(label: string, collapsibleState = 0) {
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };

export class EventEmitter<T> {
  readonly #listeners: ((value: T) => void)[] = [];

  readonly event = (listener: (value: T) => void): { dispose: () => void } => {
    this.#listeners.push(listener);
    return { dispose: () => undefined };
  };

  fire(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }

  dispose(): void {
    this.#listeners.length = 0;
  }
}

export const ViewColumn = { Beside: -2 };

/** No tab of a test has an input of these. */
export class TabInputTextDiff {}
export class TabInputNotebookDiff {}
export class TabInputText {}
export class TabInputCustom {}

export class Location {}

export const OverviewRulerLane = { Center: 2 };

export const Disposable = { from: (): object => ({ dispose: () => undefined }) };

export const lm = {
  registerTool: (): object => ({ dispose: () => undefined }),
  registerMcpServerDefinitionProvider: (): object => ({ dispose: () => undefined }),
};

export const languages = { registerCodeLensProvider: (): object => ({ dispose: () => undefined }) };

export const QuickPickItemKind = { Separator: -1, Default: 0 };

export const ProgressLocation = { Notification: 15 };

export class MarkdownString {
  isTrusted: unknown;
  value = '';

  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

export class Range {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };

  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = { line: startLine, character: startCharacter };
    this.end = { line: endLine, character: endCharacter };
  }
}

export const CommentMode = { Editing: 0, Preview: 1 };

export const CommentThreadState = { Unresolved: 0, Resolved: 1 };

export const CommentThreadCollapsibleState = { Collapsed: 0, Expanded: 1 };

/** Keeps the threads that are made. */
export const comments = {
  createCommentController: () => ({
    createCommentThread: (uri: Uri, range: Range, given: readonly unknown[]): object => ({
      uri,
      range,
      comments: given,
      dispose: () => undefined,
    }),
    dispose: () => undefined,
  }),
};

export const StatusBarAlignment = { Left: 1, Right: 2 };

export const env = { appRoot: '/nowhere', language: 'en' };

/** English, as it is without a translation. Without values, VS Code leaves the placeholders. */
export const l10n = {
  t: (message: string, ...args: readonly (string | number)[]): string =>
    args.length === 0
      ? message
      : message.replace(/\{(\d+)\}/g, (place, n: string) => String(args[Number(n)] ?? place)),
};

export const commands = { executeCommand: (_id: string): Promise<unknown> => Promise.resolve() };

export const window = { tabGroups: { all: [] } };

export const workspace = {
  textDocuments: [],
  notebookDocuments: [],
  getConfiguration: () => ({
    get: (_name: string, byDefault: unknown) => byDefault,
    inspect: () => undefined,
  }),
  onDidChangeConfiguration: () => ({ dispose: () => undefined }),
  getWorkspaceFolder: () => undefined,
  findFiles: ({ base, pattern }: RelativePattern, _exclude: undefined, limit: number): Promise<Uri[]> =>
    Promise.resolve(findFiles(base.fsPath, pattern, limit).map(file => Uri.file(file))),
};

/** All files below a folder that a glob matches. Links are followed, but each folder is visited once. */
function findFiles(folder: string, glob: string, limit: number): string[] {
  const automaton = new GlobAutomaton([glob]);
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (at: string): void => {
    const real = fs.realpathSync.native(at);
    if (seen.has(real)) return;
    seen.add(real);
    for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
      const file = path.join(at, entry.name);
      const stats = statsOf(file);
      if (stats?.isDirectory()) visit(file);
      else if (stats?.isFile() && found.length < limit && automaton.matches(path.relative(folder, file)))
        found.push(file);
    }
  };
  visit(folder);
  return found;
}

/** From now on, `import 'vscode'` gives this module. */
export function useVscodeStub(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'vscode' ? { url: import.meta.url, shortCircuit: true } : next(specifier, context),
  });
}

/** `undefined` for a link that leads nowhere or in a circle. */
function statsOf(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file);
  } catch {
    return undefined;
  }
}
