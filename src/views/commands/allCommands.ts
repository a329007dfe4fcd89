import type { LazyChatView } from '../chat/lazyChatView.ts';
import { chatCommands } from './chatCommands.ts';
import type { CustomToolCommandsOptions } from './customToolCommands.ts';
import { lazyCommands } from './lazyCommands.ts';
import { modelCommands } from './modelCommands.ts';
import type { PartCommandsOptions } from './partCommands.ts';
import { previewCommands, type PreviewCommandsOptions } from './previewCommands.ts';
import type { CommandHandlers } from './registerCommand.ts';
import type { SelectModelOptions } from './selectModel.ts';
import { sessionCommands, type SessionCommandsOptions } from './sessionCommands.ts';
import type { StoredSessionsOptions } from './storedSessions.ts';

export type AllCommandsOptions = PreviewCommandsOptions &
  PartCommandsOptions &
  SessionCommandsOptions &
  StoredSessionsOptions &
  SelectModelOptions &
  CustomToolCommandsOptions & { readonly chat: LazyChatView };

/** Every command of the manifest with what it does. Those that are rare are loaded with their first use. */
export function allCommands(options: AllCommandsOptions): CommandHandlers {
  return {
    ...previewCommands(options),
    ...sessionCommands(options),
    ...modelCommands(options),
    ...chatCommands(options.chat),
    ...lazyCommands(
      [
        'redline.preview.applyFile',
        'redline.preview.discardFile',
        'redline.preview.applyHunk',
        'redline.preview.discardHunk',
        'redline.preview.rebase',
        'redline.preview.edit',
      ],
      async () => (await import('./partCommands.ts')).partCommands(options),
    ),
    ...lazyCommands(
      ['redline.showLedger', 'redline.preview.undo', 'redline.preview.reopen', 'redline.preview.dismiss'],
      async () => (await import('./ledgerCommands.ts')).ledgerCommands(options),
    ),
    ...lazyCommands(
      ['redline.session.revert', 'redline.history.switchBranch', 'redline.history.show'],
      async () => (await import('./historyCommands.ts')).historyCommands(options),
    ),
    ...lazyCommands(
      ['redline.session.open', 'redline.session.rename', 'redline.session.delete', 'redline.session.export'],
      async () => (await import('./storedSessions.ts')).storedSessionCommands(options),
    ),
    ...lazyCommands(['redline.customTools.new', 'redline.customTools.reload'], async () =>
      (await import('./customToolCommands.ts')).customToolCommands(options),
    ),
  };
}
