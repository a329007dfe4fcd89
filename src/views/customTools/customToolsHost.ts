import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import type { Logger } from '../../agent/base/logger.ts';
import type { Invoker } from '../../agent/hold/preview/resolve/invoker.ts';
import type { Session } from '../../agent/session/session.ts';
import { CustomTools } from '../../agent/session/tools/custom/customTools.ts';
import type { LoadProblem } from '../../agent/session/tools/custom/loading/loadProblem.ts';
import type { ToolPlace } from '../../agent/session/tools/custom/loading/toolFiles.ts';
import type { ToolHost } from '../../agent/session/tools/custom/pi.ts';
import type { CustomToolUi } from '../../../examples/tools/redline.d.ts';
import type { ToolRegistry } from '../../agent/session/tools/registry.ts';
import { escapeInvisible, withoutIcons } from '../plainText.ts';
import { confirm, showError, showInfo, showWarning } from '../toast.ts';
import { FolderWatch } from './folderWatch.ts';
import { problemSentence } from './problemSentence.ts';

export interface CustomToolsParts {
  readonly registry: ToolRegistry;
  readonly invoker: Invoker;
  readonly session: () => Session;
  /** See `ToolHost.resolvePath`. */
  readonly resolvePath: (input: string) => string;
  readonly places: () => readonly ToolPlace[];
  /** Called when something in a place may have changed. */
  readonly onDiskChange: () => void;
  readonly logger: Logger;
}

/** Connects custom tools to VS Code: dialogs, the Problems view, file watching, uncaught errors. */
export function createCustomTools(parts: CustomToolsParts): {
  readonly tools: CustomTools;
  readonly disposable: vscode.Disposable;
} {
  const { registry, invoker, resolvePath, places, logger } = parts;
  const owned = new DisposableStore();
  const session = parts.session();
  const host: ToolHost = {
    ui: createToolUi(),
    hasUI: true,
    logger,
    session: () => ({ id: session.id, stage: action => session.stage(action).preview }),
    resolvePath,
  };
  const tools = owned.add(
    new CustomTools({
      registry,
      places,
      loader: async onProblem => {
        const { ToolLoader } = await import('../../agent/session/tools/custom/loading/toolLoader.ts');
        return new ToolLoader({ host, onProblem });
      },
      sessionId: () => session.id,
      expire: id => invoker.expire(id),
      logger,
    }),
  );
  const folders = owned.add(new FolderWatch(parts.onDiskChange));
  owned.add(tools.onDidChange(() => folders.watch(tools.folders)));
  const diagnostics = owned.add(vscode.languages.createDiagnosticCollection('redline-tools'));
  owned.add(tools.onDidChange(() => showProblems(diagnostics, tools.problems)));
  owned.add(reportUncaughtErrors(tools));
  let previous = session.id;
  owned.add(
    session.onDidEmit(event => {
      if (event.type !== 'reset') return;
      tools.sendSessionEvent({ reason: 'switch', sessionId: session.id, previousSessionId: previous });
      previous = session.id;
    }),
  );
  return { tools, disposable: owned };
}

/** The dialogs of custom tools. Their texts are shown with escapes; the option that is returned is the tool's own. */
export function createToolUi(): CustomToolUi {
  return {
    notify: (message, kind = 'info') => {
      const show = { info: showInfo, warning: showWarning, error: showError }[kind];
      void show(message);
    },
    confirm: (title, message = '') => confirm(title, message, vscode.l10n.t('Yes')),
    input: async (title, placeHolder) =>
      vscode.window.showInputBox({
        title: escapeInvisible(title),
        ignoreFocusOut: true,
        ...(placeHolder === undefined ? {} : { placeHolder: escapeInvisible(placeHolder) }),
      }),
    select: async (title, options) => {
      const items = options.map(option => ({ label: withoutIcons(option), option }));
      const about = { title: escapeInvisible(title), ignoreFocusOut: true };
      return (await vscode.window.showQuickPick(items, about))?.option;
    },
  };
}

/** Replaces the problems of custom tools in the Problems view. */
function showProblems(collection: vscode.DiagnosticCollection, problems: readonly LoadProblem[]): void {
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const { file, line, column, fault } of problems) {
    const nameOf = (other: string): string => vscode.workspace.asRelativePath(other);
    const message = problemSentence(fault, vscode.l10n, nameOf);
    // The editor underlines only up to the end of the line.
    const range = new vscode.Range(line, column, line, Number.MAX_SAFE_INTEGER);
    const diagnostic = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Error);
    diagnostic.source = 'Redline';
    diagnostic.code = fault.kind;
    byFile.set(file, [...(byFile.get(file) ?? []), diagnostic]);
  }
  collection.clear();
  for (const [file, diagnostics] of byFile) collection.set(vscode.Uri.file(file), diagnostics);
}

/**
 * Passes uncaught errors, from timers and unhandled promises, to the tools, which find out whether one of them threw it. VS Code
 * itself keeps such errors from ending the extension host.
 */
function reportUncaughtErrors(tools: CustomTools): vscode.Disposable {
  const report = (error: unknown): void => tools.reportUncaught(error);
  process.on('uncaughtExceptionMonitor', report);
  process.on('unhandledRejection', report);
  return {
    dispose: () => {
      process.off('uncaughtExceptionMonitor', report);
      process.off('unhandledRejection', report);
    },
  };
}
