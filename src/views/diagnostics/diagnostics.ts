import * as os from 'node:os';
import * as vscode from 'vscode';
import { messageOf } from '../../agent/base/errors.ts';
import { isRecord } from '../../agent/base/json.ts';
import type { Agent } from '../agent.ts';
import { EXTENSION_ID } from '../contributions.ts';
import { showInfo } from '../toast.ts';
import { errorLines, redacted, settingText } from './redacted.ts';
import { requestText } from './requestText.ts';
import type { TextDocuments } from './textDocuments.ts';

type Parts = Agent & { readonly texts: TextDocuments };

/** Opens the last request to the model in the open conversation. */
export async function showLastRequest({ session, texts }: Parts): Promise<void> {
  const request = session.requests.sent;
  if (!request) {
    void showInfo(vscode.l10n.t('No request was sent in this conversation since it was opened.'));
    return;
  }
  const time = request.at.toLocaleString(vscode.env.language);
  await texts.show('Last Request.md', requestText(request, time, vscode.l10n));
}

/** Copies the data that a bug report needs to the clipboard, and offers to show it. */
export async function copyDiagnostics(parts: Parts): Promise<void> {
  const text = await diagnosticsText(parts);
  await vscode.env.clipboard.writeText(text);
  const show = vscode.l10n.t('Show');
  const done = vscode.l10n.t('Versions, changed settings, counts and the last errors are on the clipboard.');
  // The command has done its work, however long the notification stays.
  void showInfo(done, show).then(async clicked => {
    if (clicked === show) await parts.texts.show('Diagnostics.md', text);
  });
}

/** In English, because others read it. */
async function diagnosticsText(parts: Parts): Promise<string> {
  const { settings, keys, store, sessions, logger, session } = parts;
  const { engine, isolated, why } = await parts.sandboxes.status();
  await keys.get(settings.baseUrl);
  const conversations = await sessions.list().then(
    list => `${list.length} stored`,
    (error: unknown) => `not readable (${messageOf(error)})`,
  );
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri, index }) => {
    return [uri.fsPath, `<folder ${index + 1}>`] as const;
  });
  const states = Map.groupBy(store.all(), ({ state }) => state.kind);
  const counts = [...states].map(([state, previews]) => `${previews.length} ${state}`);
  const { appName, appHost, language, remoteName, uiKind } = vscode.env;
  const manifest: unknown = vscode.extensions.getExtension(EXTENSION_ID)?.packageJSON;
  const version = isRecord(manifest) ? String(manifest['version']) : 'unknown';
  const ui = uiKind === vscode.UIKind.Web ? 'web' : 'desktop';
  const trust = vscode.workspace.isTrusted ? 'trusted' : 'not trusted';
  const changed = changedSettings(manifest);
  const hidden = {
    secrets: keys.returned,
    folders: [...folders, ...commandsOf(settings), [os.homedir(), '~'] as const],
  };
  const text = `# Redline diagnostics

- Redline ${version}
- ${appName} ${vscode.version} (${appHost}, ${ui}, ${language}), remote: ${remoteName ?? 'none'}
- Node ${process.versions.node}, ${os.type()} ${os.release()} ${process.arch}
- Workspace: ${folders.length} folders, ${trust}
- Provider: ${settings.provider}, model: ${modelName(settings) || 'none'}
- Sandbox: ${engine ?? 'none'}${isolated ? ', isolated' : ''}${why ? `, because: ${why.reason} ${why.detail ?? ''}` : ''}
- Previews: ${counts.join(', ') || 'none'}
- Conversations: ${conversations}; the open one has ${session.messages.length} messages

## Settings that differ from the default

${changed.join('\n') || 'None.'}

## Last errors of the log

${errorLines(logger.lastErrors, hidden).join('\n') || 'None.'}
`;
  return redacted(text, hidden);
}

/** The commands of checks, with their replacements. */
function commandsOf({ checks }: Agent['settings']): (readonly [command: string, name: string])[] {
  return [...checks.own, ...checks.brought].flatMap((check, index) =>
    isRecord(check) && typeof check['command'] === 'string'
      ? [[check['command'], `<command of check ${index + 1}>`] as const]
      : [],
  );
}

function modelName({ provider, languageModel, model }: Agent['settings']): string {
  return provider === 'vscode-lm' ? languageModel : model;
}

function changedSettings(manifest: unknown): string[] {
  const contributes = isRecord(manifest) ? manifest['contributes'] : undefined;
  const configuration = isRecord(contributes) ? contributes['configuration'] : undefined;
  const properties = isRecord(configuration) ? configuration['properties'] : undefined;
  if (!isRecord(properties)) return [];
  return Object.keys(properties).flatMap(name => {
    const all = vscode.workspace.getConfiguration();
    const value: unknown = all.get(name);
    const isChanged = JSON.stringify(value) !== JSON.stringify(all.inspect(name)?.defaultValue);
    return isChanged ? [`- ${name}: ${settingText(value, name === 'redline.checks')}`] : [];
  });
}
