import type { CommentReply } from 'vscode';
import { chatCommands } from './chat/chatPanel.ts';
import { onRow, type CommandHandlers } from './commandRegistry.ts';
import type { ShownComment } from './review/comments/commentThreads.ts';
import type { Ctx } from './ctx.ts';
import { sessionCommands } from './chat/history/sessionCommands.ts';
import { openTour } from './chat/tour/tour.ts';
import type { PartCommands } from './review/commands/partCommands.ts';
import { previewCommands } from './review/commands/previewCommands.ts';
import { activePlace, isFromEditor, targetsOf, type ActivePlace } from './review/commands/previewTargets.ts';

/** A command for a part of a preview, with the place of the cursor when it was called. */
type OnPart = (commands: PartCommands, args: readonly unknown[], at: ActivePlace | undefined) => unknown;

/** The handler of every command in the manifest. Code that activation does not need is loaded on first use. */
export function allCommands(ctx: Ctx): CommandHandlers {
  const parts = async () => new (await import('./review/commands/partCommands.ts')).PartCommands(ctx);
  const onPart = (run: OnPart) => {
    return onRow(async (...args) => {
      const pressed = activePlace(ctx.shown);
      const runHere = async (): Promise<unknown> => {
        const at = activePlace(ctx.shown, pressed);
        return run(await parts(), args, at);
      };
      return isFromEditor(args, ctx.tabs) ? ctx.opener.voteInEditor(runHere) : runHere();
    });
  };
  const onWhole = previewCommands(ctx);
  /** Several selected rows are resolved by the commands for whole previews. */
  const onFile = (whole: keyof typeof onWhole, run: OnPart) => {
    const onOne = onPart(run);
    return (...args: unknown[]) => (targetsOf(args).length > 1 ? onWhole[whole]?.(...args) : onOne(...args));
  };
  const stepHunk = async (direction: 1 | -1): Promise<void> => {
    const at = activePlace(ctx.shown);
    await (await import('./review/commands/stepHunk.ts')).stepHunk(ctx, direction, at);
  };
  const editing = () => import('./review/commands/editCommands.ts');
  const history = () => import('./chat/history/historyCommands.ts');
  const ledger = () => import('./review/ledger/ledgerCommands.ts');
  const customTools = () => import('./customTools/customToolCommands.ts');
  const agents = () => import('./agents/connectAgent.ts');
  const model = () => import('./chat/models/selectModel.ts');
  const comments = () => ctx.commenting.threads();
  const sandbox = () => import('./agents/terminal/sandboxCommands.ts');
  const checks = () => import('./review/checks/checkCommands.ts');
  const diagnostics = () => import('./diagnostics/diagnostics.ts');
  return {
    ...onWhole,
    ...sessionCommands(ctx),
    ...chatCommands(ctx.chat),
    'redline.preview.applyFile': onFile('redline.preview.apply', (on, args, at) =>
      on.voteOnFile('apply', args, at),
    ),
    'redline.preview.discardFile': onFile('redline.preview.discard', (on, args, at) =>
      on.voteOnFile('discard', args, at),
    ),
    'redline.preview.applyHunk': onPart((on, args, at) => on.voteOnHunk('apply', args, at)),
    'redline.preview.discardHunk': onPart((on, args, at) => on.voteOnHunk('discard', args, at)),
    'redline.preview.discardHunkWithReason': onPart((on, args, at) => on.discardHunkWithReason(args, at)),
    'redline.preview.more': async (...args) =>
      (await import('./review/commands/moreActions.ts')).moreActions(ctx, args),
    'redline.preview.nextHunk': () => stepHunk(1),
    'redline.preview.previousHunk': () => stepHunk(-1),
    'redline.preview.rebase': onPart((on, args) => on.rebase(args)),
    'redline.preview.edit': onPart((on, args, at) => on.edit(args, at)),
    'redline.preview.saveAndApply': async (...args) => (await editing()).saveAndApply(ctx, args),
    'redline.preview.revertEdits': async (...args) => (await editing()).revertEdits(ctx, args),
    'redline.preview.settleConflict': async (...args) => (await editing()).settleConflict(ctx, args),
    'redline.session.revert': onRow(async (...args) => (await history()).revert(ctx, args)),
    'redline.session.retry': async () => (await history()).retry(ctx),
    'redline.history.switchBranch': onRow(async (...args) => (await history()).switchBranch(ctx, args)),
    'redline.openTour': () => openTour(ctx),
    'redline.showLedger': async () => (await import('./review/ledger/ledgerPick.ts')).showLedger(ctx.store),
    'redline.preview.showSinceLooked': async (...args) =>
      (await import('./review/sinceLooked.ts')).showSinceLooked(ctx, args),
    'redline.whoApprovedLine': async () =>
      (await import('./review/ledger/lineApproval.ts')).whoApprovedLine(ctx),
    'redline.comment.add': async given => (await comments()).add(given as CommentReply),
    'redline.comment.delete': async given => (await comments()).remove(given as ShownComment),
    'redline.comment.edit': async given => (await comments()).edit(given as ShownComment),
    'redline.comment.save': async given => (await comments()).saveEdit(given as ShownComment),
    'redline.comment.cancel': async edited => (await comments()).cancelEdit(edited as ShownComment),
    'redline.review.send': async () => (await comments()).send(),
    'redline.ledger.export': async given =>
      (await import('./chat/history/exportLedger.ts')).exportLedger(ctx, given),
    'redline.preview.undo': async (...args) => (await ledger()).undo(ctx, args),
    'redline.preview.undoTurn': async (...args) => (await ledger()).undoTurn(ctx, args),
    'redline.preview.reopen': async (...args) => (await ledger()).reopen(ctx, args),
    'redline.preview.dismiss': onRow(async (...args) => (await ledger()).dismiss(ctx, args)),
    'redline.chat.proposeCode': async (...args) =>
      (await import('./chat/proposeCode.ts')).proposeCode(ctx, args),
    'redline.customTools.new': async () => (await customTools()).newCustomTool(ctx),
    'redline.customTools.reload': async () => (await customTools()).reloadCustomTools(ctx),
    'redline.selectModel': async given => {
      if (typeof given === 'string') await ctx.settings.useLanguageModel(given);
      else await (await model()).selectModel(ctx);
      await (await model()).offerToAskAgain(ctx);
    },
    'redline.setApiKey': async () => (await model()).setApiKey(ctx),
    'redline.agents.connect': async (...args) => (await agents()).connectAgent(ctx, args),
    'redline.agents.disconnectAll': async () => (await agents()).disconnectAllAgents(ctx),
    'redline.agents.openTerminal': async (...args) =>
      (await import('./agents/agentTerminal.ts')).openAgentTerminal(ctx, args),
    'redline.showLastRequest': async () => (await diagnostics()).showLastRequest(ctx),
    'redline.copyDiagnostics': async () => (await diagnostics()).copyDiagnostics(ctx),
    'redline.sandbox.show': async () => (await sandbox()).showSandbox(ctx),
    'redline.sandbox.alwaysRunHere': async (...args) => (await sandbox()).alwaysRunHere(ctx, args),
    'redline.sandbox.runOnDisk': async (...args) => (await sandbox()).runOnDisk(ctx, args),
    'redline.checks.run': onRow(async (...args) => (await checks()).runChecks(ctx, args)),
    'redline.checks.show': async () => (await import('./review/checks/checksPick.ts')).showChecks(ctx),
    'redline.checks.showOutput': async (...args) => (await checks()).showOutput(ctx, args),
    'redline.checks.findBreaking': async (...args) => (await checks()).findBreaking(ctx, args),
    'redline.elsewhere.reviewBranch': async given =>
      (await import('./review/external/reviewBranch.ts')).reviewBranch(ctx, given),
    'redline.elsewhere.reviewPatch': async given =>
      (await import('./review/external/reviewPatch.ts')).reviewPatch(ctx, given),
    'redline.elsewhere.holdBack': async (...args) =>
      (await import('./review/external/holdBackFiles.ts')).holdBackFiles(ctx, args),
    'redline.elsewhere.stageApplied': async given =>
      (await import('./review/external/stageChanges.ts')).stageChanges(ctx, given),
  };
}
