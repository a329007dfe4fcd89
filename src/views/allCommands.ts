import type { Agent } from './agent.ts';
import { chatCommands, type ChatPanel } from './chat/chatPanel.ts';
import { onRow, type CommandHandlers } from './commandRegistry.ts';
import type { CustomToolCommandsOptions } from './customTools/customToolCommands.ts';
import type { TextDocuments } from './diagnostics/textDocuments.ts';
import type { HoldBackOptions } from './elsewhere/holdBackFiles.ts';
import type { HistoryCommandsOptions } from './history/historyCommands.ts';
import { sessionCommands } from './history/sessionCommands.ts';
import type { StoredSessionsOptions } from './history/storedSessions.ts';
import type { LedgerCommandsOptions } from './ledger/ledgerCommands.ts';
import type { SelectModelOptions } from './models/selectModel.ts';
import type { partCommands, PartCommandsOptions } from './review/commands/partCommands.ts';
import type { ConnectAgentOptions } from './otherAgents/connectAgent.ts';
import { previewCommands, type PreviewCommandsOptions } from './review/commands/previewCommands.ts';
import { activePlace, isFromEditor, type ActivePlace } from './review/commands/previewTargets.ts';

export type AllCommandsOptions = PreviewCommandsOptions &
  PartCommandsOptions &
  LedgerCommandsOptions &
  HistoryCommandsOptions &
  StoredSessionsOptions &
  SelectModelOptions &
  CustomToolCommandsOptions &
  ConnectAgentOptions &
  HoldBackOptions &
  Agent & { readonly chat: ChatPanel; readonly texts: TextDocuments };

/** A command for a part of a preview, with the place of the cursor when it was called. */
type OnPart = (
  commands: ReturnType<typeof partCommands>,
  args: readonly unknown[],
  at: ActivePlace | undefined,
) => unknown;

/** The handler of every command in the manifest. What is not needed at activation is loaded on first use. */
export function allCommands(options: AllCommandsOptions): CommandHandlers {
  const parts = async () => (await import('./review/commands/partCommands.ts')).partCommands(options);
  const onPart = (run: OnPart) => {
    return onRow(async (...args) => {
      const at = activePlace(options.shown);
      const runHere = async (): Promise<unknown> => run(await parts(), args, at);
      return isFromEditor(args, options.tabs) ? options.opener.voteInEditor(runHere) : runHere();
    });
  };
  const editing = () => import('./review/commands/editCommands.ts');
  const history = () => import('./history/historyCommands.ts');
  const ledger = () => import('./ledger/ledgerCommands.ts');
  const customTools = () => import('./customTools/customToolCommands.ts');
  const agents = () => import('./otherAgents/connectAgent.ts');
  const model = () => import('./models/selectModel.ts');
  const diagnostics = () => import('./diagnostics/diagnostics.ts');
  return {
    ...previewCommands(options),
    ...sessionCommands(options),
    ...chatCommands(options.chat),
    'redline.preview.applyFile': onPart((on, args, at) => on.voteOnFile('apply', args, at)),
    'redline.preview.discardFile': onPart((on, args, at) => on.voteOnFile('discard', args, at)),
    'redline.preview.discardFileWithReason': onPart((on, args, at) => on.discardFileWithReason(args, at)),
    'redline.preview.applyHunk': onPart((on, args, at) => on.voteOnHunk('apply', args, at)),
    'redline.preview.discardHunk': onPart((on, args, at) => on.voteOnHunk('discard', args, at)),
    'redline.preview.discardHunkWithReason': onPart((on, args, at) => on.discardHunkWithReason(args, at)),
    'redline.preview.rebase': onPart((on, args) => on.rebase(args)),
    'redline.preview.edit': onPart((on, args, at) => on.edit(args, at)),
    'redline.preview.saveAndApply': async (...args) => (await editing()).saveAndApply(options, args),
    'redline.preview.revertEdits': async (...args) => (await editing()).revertEdits(options, args),
    'redline.preview.settleConflict': async (...args) => (await editing()).settleConflict(options, args),
    'redline.session.revert': onRow(async (...args) => (await history()).revert(options, args)),
    'redline.session.retry': async () => (await history()).retry(options),
    'redline.history.switchBranch': onRow(async (...args) => (await history()).switchBranch(options, args)),
    'redline.history.show': async given => (await history()).showInChat(options, given),
    'redline.showLedger': async () => (await import('./ledger/ledgerPick.ts')).showLedger(options.store),
    'redline.preview.undo': async (...args) => (await ledger()).undo(options, args),
    'redline.preview.undoTurn': async (...args) => (await ledger()).undoTurn(options, args),
    'redline.preview.reopen': async (...args) => (await ledger()).reopen(options, args),
    'redline.preview.dismiss': onRow(async (...args) => (await ledger()).dismiss(options, args)),
    'redline.chat.proposeCode': async (...args) =>
      (await import('./chat/proposeCode.ts')).proposeCode(options, args),
    'redline.customTools.new': async () => (await customTools()).newCustomTool(options),
    'redline.customTools.reload': async () => (await customTools()).reloadCustomTools(options),
    'redline.selectModel': async given =>
      typeof given === 'string'
        ? options.settings.useLanguageModel(given)
        : (await model()).selectModel(options),
    'redline.setApiKey': async () => (await model()).setApiKey(options),
    'redline.agents.connect': async (...args) => (await agents()).connectAgent(options, args),
    'redline.agents.disconnect': async (...args) => (await agents()).disconnectAgent(options, args),
    'redline.agents.disconnectAll': async () => (await agents()).disconnectAllAgents(options),
    'redline.showLastRequest': async () => (await diagnostics()).showLastRequest(options),
    'redline.copyDiagnostics': async () => (await diagnostics()).copyDiagnostics(options),
    'redline.elsewhere.reviewBranch': async given =>
      (await import('./elsewhere/reviewBranch.ts')).reviewBranch(options, given),
    'redline.elsewhere.reviewPatch': async given =>
      (await import('./elsewhere/reviewPatch.ts')).reviewPatch(options, given),
    'redline.elsewhere.holdBack': async (...args) =>
      (await import('./elsewhere/holdBackFiles.ts')).holdBackFiles(options, args),
  };
}
