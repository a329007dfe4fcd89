import * as vscode from 'vscode';
import { fenceFor } from '../../../agent/base/phrases.ts';
import { shownCommand } from '../../../agent/sandbox/commands/commandPlan.ts';
import { titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import type { LedgerEntry } from '../../../agent/hold/preview/ledger.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { previewView } from '../../../agent/hold/preview/previewView.ts';
import { commandOf, type PlannedCommand } from '../../../agent/sandbox/commands/plannedCommand.ts';
import { shellLine } from '../../../agent/sandbox/commands/shellCall.ts';
import { toolCallOf, type ToolCallPlan } from '../../../agent/hold/preview/toolCallPlan.ts';
import { detailsText, escapeInvisible, oneLine } from '../../plainText.ts';
import { expiredText, problemText, runText } from '../../texts/previewWords.ts';

/**
 * The document of a preview without file changes. It shows the action, and which tool staged it.
 * @param last the last attempt to decide on it
 */
export function opaqueDocument(preview: Preview, last?: LedgerEntry): string {
  const plan = planOf(preview);
  // The plan itself, which the user can edit.
  if (plan) return `${plan.text.trim()}\n`;
  const command = commandOf(preview);
  if (command) return commandDocument(preview, command, last);
  const call = toolCallOf(preview);
  if (call) return callDocument(preview, call, last);
  const source = vscode.l10n.t('Source tool: {0}', oneLine(preview.sourceToolName));
  const lines = [`# ${escapeInvisible(titleOf(preview))}`, '', source];
  const details = detailsText(preview, 2);
  if (details !== undefined) lines.push('', '```', details, '```');
  const ended = endedText(preview, last);
  lines.push('', ended ?? vscode.l10n.t('Apply runs this action. Nothing has been done yet.'), '');
  return lines.join('\n');
}

/** A command as it will run, with characters that would hide something shown as escapes. */
function commandDocument(preview: Preview, plan: PlannedCommand, last?: LedgerEntry): string {
  const { l10n } = vscode;
  const shown = shownCommand(plan.command);
  const fence = fenceFor(shown);
  const lines = shown.split('\n').length;
  const environment = Object.entries(plan.environment).map(([name, value]) =>
    value === null
      ? l10n.t('- {0} is not set', shownOnLine(name))
      : `- ${shownOnLine(name)}=${shownOnLine(value)}`,
  );
  return [
    `# ${escapeInvisible(titleOf(preview))}`,
    '',
    l10n.t('Source tool: {0}', 'run_command'),
    '',
    lines === 1 ? l10n.t('Command:') : l10n.t('Command ({0} lines):', String(lines)),
    '',
    fence,
    shown,
    fence,
    '',
    ...(shown === plan.command ? [] : [escapesNote(), '']),
    l10n.t('Folder: {0}', shownOnLine(plan.folder)),
    '',
    l10n.t('Shell: {0}', shownOnLine(shellLine(plan))),
    '',
    l10n.t('Environment: that of VS Code, minus the variables of VS Code itself, with these differences:'),
    '',
    ...environment,
    '',
    plan.background
      ? l10n.t('It runs in the background until it ends or is stopped.')
      : l10n.t('Time limit: {0} seconds', String(plan.timeLimit)),
    '',
    endedText(preview, last) ?? whereItRuns(plan.sandbox),
    '',
  ].join('\n');
}

/** Outcome of the preview; `undefined` while it is pending and nobody has tried to apply it. */
function endedText(preview: Preview, lastAttempt: LedgerEntry | undefined): string | undefined {
  const { l10n } = vscode;
  const { outcome } = previewView(preview, { lastAttempt });
  switch (outcome.kind) {
    case 'pending':
      return outcome.problem?.kind === 'failed' ? problemText(outcome.problem, oneLine) : undefined;
    case 'applying':
      return l10n.t('It is running.');
    case 'returnedError':
      return l10n.t('It ran, and returned an error.');
    case 'applied':
    case 'undone':
      return 'run' in outcome && outcome.run
        ? l10n.t('It ran: {0}', runText(outcome.run))
        : l10n.t('It ran.');
    case 'discarded':
      return l10n.t('It was discarded, and did not run.');
    case 'expired':
      return expiredText(outcome, oneLine);
  }
}

function whereItRuns(sandbox: PlannedCommand['sandbox']): string {
  const { l10n } = vscode;
  if (!sandbox)
    return l10n.t(
      '*Run* starts this command in a terminal that you see. It has not run yet, and sees your files as they are on disk.',
    );
  return sandbox.isolated
    ? l10n.t(
        '*Run* starts this command in the sandbox. It has not run yet, and sees your files with the pending previews applied. What it changes becomes a preview; it has no network and cannot read your home folder.',
      )
    : l10n.t(
        '*Run* starts this command in a copy of the workspace. It has not run yet, and sees your files with the pending previews applied. What it changes there becomes a preview, but it is not isolated: it can reach the network and other files.',
      );
}

/** A call of a tool of VS Code as it will be made, with all of its arguments. */
function callDocument(preview: Preview, plan: ToolCallPlan, last?: LedgerEntry): string {
  const { l10n } = vscode;
  const json = JSON.stringify(plan.arguments, null, 2);
  const shown = shownCommand(json);
  const fence = fenceFor(shown);
  return [
    `# ${escapeInvisible(titleOf(preview))}`,
    '',
    l10n.t('Tool: {0}', shownOnLine(plan.tool)),
    '',
    l10n.t('From: {0}', originOf(plan)),
    '',
    l10n.t('Arguments:'),
    '',
    `${fence}json`,
    shown,
    fence,
    '',
    ...(shown === json ? [] : [escapesNote(), '']),
    l10n.t('Time limit: {0} seconds', String(plan.timeLimit)),
    '',
    endedText(preview, last) ??
      l10n.t('Apply calls this VS Code tool, which may change anything. It has not been called yet.'),
    '',
  ].join('\n');
}

function originOf({ origin }: ToolCallPlan): string {
  const { l10n } = vscode;
  switch (origin.kind) {
    case 'extension':
      return l10n.t('the extension {0} ({1})', oneLine(origin.name), oneLine(origin.id));
    case 'mcp':
      return l10n.t('an MCP server. VS Code does not say which one; the name of the tool begins with it.');
    case 'unknown':
      return l10n.t('VS Code itself, or an extension that does not declare the tool');
  }
}

function escapesNote(): string {
  return vscode.l10n.t('Invisible and control characters are shown as escapes, such as \\x1b.');
}

function shownOnLine(text: string): string {
  return shownCommand(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
