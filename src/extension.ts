import * as vscode from 'vscode';
import { createApi, type RedlineApi } from './views/api.ts';
import { LazyChatView } from './views/chat/lazyChatView.ts';
import { allCommands } from './views/commands/allCommands.ts';
import { execute, registerCommands } from './views/commands/registerCommand.ts';
import { registerContextKeys } from './views/contextKeys.ts';
import { PREVIEW_SCHEME, views } from './views/contributions.ts';
import { sentenceFor } from './views/errorSentence.ts';
import { createAgent } from './views/host/agent.ts';
import { FileWatcher } from './views/host/fileWatcher.ts';
import { registerHistoryView } from './views/history/historyTree.ts';
import { modeSwitch } from './views/host/settings.ts';
import { registerLedgerDocument } from './views/ledger/ledgerDocument.ts';
import { PendingView } from './views/pending/pendingTree.ts';
import { PreviewFileSystem } from './views/preview/previewFileSystem.ts';
import { PreviewLenses } from './views/preview/previewLenses.ts';
import { Overview } from './views/preview/overview.ts';
import { PreviewOpener } from './views/preview/previewOpener.ts';
import { PreviewTabs } from './views/preview/previewTabs.ts';
import { ProposalEdits } from './views/preview/proposalEdits.ts';
import { Restaging } from './views/preview/restaging.ts';
import { StatusItem } from './views/statusItem.ts';
import { registerLanguageModelTools } from './views/tools/languageModelTools.ts';

/** A table of contents: what there is, in the order in which it needs each other. */
export async function activate(context: vscode.ExtensionContext): Promise<RedlineApi> {
  const { subscriptions } = context;
  const agent = await createAgent(context);
  const { log, store, session } = agent;
  const files = (path: string): vscode.Uri => agent.workspace.uriOf(path);

  const tabs = new PreviewTabs(store);
  const edits = new ProposalEdits({ ...agent, files });
  const documents = new PreviewFileSystem(store, files, edits);
  const lenses = new PreviewLenses(store, files, edits);
  const opener = new PreviewOpener({ ...agent, files, tabs, edits, logger: log });
  const overview = new Overview(store, files);
  const chat = new LazyChatView({
    ...agent,
    extensionUri: context.extensionUri,
    mode: modeSwitch(agent.settings),
    model: () => ({ label: agent.providers.current().label, offline: agent.providers.isOffline }),
    activePreviewId: () => tabs.activeId(),
    onWillPrompt: () => opener.expectPreview(),
    sentenceFor: error => sentenceFor(error, vscode.l10n),
    execute,
    logger: log,
  });
  const pendingView = new PendingView({ ...agent, files });
  const restaging = new Restaging(agent);
  subscriptions.push(
    edits,
    documents,
    vscode.workspace.registerFileSystemProvider(PREVIEW_SCHEME, documents, { isCaseSensitive: true }),
    lenses,
    vscode.languages.registerCodeLensProvider({ scheme: PREVIEW_SCHEME }, lenses),
    opener,
    overview,
    new FileWatcher({ ...agent, files }),
    chat,
    vscode.window.registerWebviewViewProvider(views.chat, chat),
    pendingView,
    registerHistoryView(session),
    new StatusItem(store, agent.settings),
    registerLedgerDocument(store),
    registerLanguageModelTools(agent),
    registerContextKeys(store, session, tabs),
    registerCommands(
      allCommands({
        ...agent,
        ...{ extensionPath: context.extensionPath, logger: log, files },
        ...{ chat, edits, opener, overview, pendingView, restaging, tabs },
      }),
      log,
    ),
  );
  return createApi(agent);
}
