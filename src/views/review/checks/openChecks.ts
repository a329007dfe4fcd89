import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { Emitter } from '../../../agent/base/event.ts';
import { Checks, type ChecksOptions } from '../../../agent/sandbox/checks/checks.ts';
import { folderState } from '../../../agent/sandbox/checks/folderState.ts';
import { ForeignMatchers } from '../../../agent/sandbox/checks/problems/foreignMatchers.ts';
import type { FileUris } from '../../workspace/previewUri.ts';
import { CheckDiagnostics } from './checkDiagnostics.ts';
import type { CheckSettings } from './checkSettings.ts';

export interface WindowChecksParts extends Omit<
  ChecksOptions,
  'checks' | 'matchers' | 'onDidChangeFiles' | 'stateOf'
> {
  readonly settings: CheckSettings;
  readonly files: FileUris;
  /** Path of the worker that runs patterns from other extensions. */
  readonly lineWorker: string;
}

/** The checks of a window, which watch its files, and their findings as diagnostics. */
export class OpenChecks extends Owner {
  readonly checks: Checks;

  constructor(parts: WindowChecksParts) {
    super();
    const { workspace, settings, lineWorker, store } = parts;
    const files = this.own(new Emitter<void>());
    const note = (): void => files.fire();
    const watcher = this.own(vscode.workspace.createFileSystemWatcher('**/*'));
    for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete])
      this.own(event(note));
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document }) => document.uri.scheme === 'file' && note()),
    );
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(note));
    this.checks = this.own(
      new Checks({
        ...parts,
        checks: () => settings.list,
        stateOf: (except, signal) => folderState(workspace.folderRoots(), except, signal),
        onDidChangeFiles: files.event,
        matchers: new ForeignMatchers({ contributions, worker: lineWorker }),
      }),
    );
    this.own(new CheckDiagnostics(this.checks, store, parts.files));
  }
}

/** The `contributes` section of every extension's manifest. */
function contributions(): readonly unknown[] {
  return vscode.extensions.all.map(
    ({ packageJSON }) => (packageJSON as { contributes?: unknown }).contributes,
  );
}
