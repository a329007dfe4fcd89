import * as path from 'node:path';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Closing } from './agent/base/disposable.ts';
import { detailOf } from './agent/base/errors.ts';
import { createAgent } from './views/agent.ts';
import { allCommands } from './views/allCommands.ts';
import { createApi, type RedlineApi } from './views/api.ts';
import { ChatPanel } from './views/chat/chatPanel.ts';
import { execute, registerCommands } from './views/commandRegistry.ts';
import { Commenting } from './views/review/comments/commenting.ts';
import { registerContextKeys } from './views/contextKeys.ts';
import { PREVIEW_SCHEME, views } from './views/contributions.ts';
import { RedlineLog } from './views/diagnostics/redlineLog.ts';
import { TextDocuments } from './views/diagnostics/textDocuments.ts';
import { registerHistoryView } from './views/chat/history/historyTree.ts';
import { registerLedgerDocument } from './views/review/ledger/ledgerDocument.ts';
import { registerNativeChat } from './views/chat/nativeChat/nativeChat.ts';
import { OtherAgents } from './views/agents/otherAgents.ts';
import { PendingView } from './views/review/pending/pendingView.ts';
import { LookedAt } from './views/review/lookedAt.ts';
import { Overview } from './views/review/overview.ts';
import { PreviewFileSystem } from './views/review/documents/previewFileSystem.ts';
import { PreviewLenses } from './views/review/previewLenses.ts';
import { PreviewOpener } from './views/review/previewOpener.ts';
import { PreviewTabs } from './views/review/previewTabs.ts';
import { Drafts } from './views/review/documents/drafts.ts';
import { ProposalEdits } from './views/review/documents/proposalEdits.ts';
import { ReviewList } from './views/review/reviewList.ts';
import { ReviewTally } from './views/review/reviewTally.ts';
import { ShownPlace, type LoadPlaces } from './views/review/shownPlace.ts';
import { ShownRevisions } from './views/review/shownRevisions.ts';
import { WaitingNotice } from './views/review/pending/waitingNotice.ts';
import { modeSwitch } from './views/settings.ts';
import {
  followFiles,
  tellWhatIsLost,
  startAppliedUnseen,
  startFileMarks,
  startShownAgain,
  startSinceLooked,
} from './views/startedLater.ts';
import { StatusItem } from './views/statusItem.ts';
import { showTour } from './views/chat/tour/tour.ts';
import { FileWatcher } from './views/workspace/fileWatcher.ts';

let closing: Closing | undefined;

/** A table of contents: every part of the extension, each after the parts that it needs. */
export async function activate(context: vscode.ExtensionContext): Promise<RedlineApi> {
  l10n.config({ contents: vscode.l10n.bundle ?? {} });
  const { subscriptions } = context;
  const logger = new RedlineLog();
  closing = new Closing(error => logger.error(`Closing failed: ${detailOf(error)}`));
  closing.add(async () => logger.dispose());
  const agent = await createAgent(context, logger, closing);
  const { store, session, files } = agent;

  const tabs = new PreviewTabs(store);
  const storage = (context.storageUri ?? context.globalStorageUri).fsPath;
  const drafts = new Drafts(agent.ownsStorage ? path.join(storage, 'drafts') : undefined, logger);
  await drafts.load();
  agent.closing.add(() => drafts.flush());
  const edits = new ProposalEdits(agent, drafts);
  const shown = new ShownRevisions(store, files);
  const documents = new PreviewFileSystem(store, files, edits, shown);
  const looks = new LookedAt(agent, shown, agent.ownsStorage ? context.workspaceState : undefined);
  agent.closing.add(() => looks.flush());
  const commenting = new Commenting(agent, shown, agent.ownsStorage ? context.workspaceState : undefined);
  const review = new ReviewList(agent);
  let loading: ReturnType<LoadPlaces> | undefined;
  const places: LoadPlaces = () =>
    (loading ??= import('./views/review/reviewPlaces.ts').then(({ ReviewPlaces }) => {
      const loaded = new ReviewPlaces(agent, review);
      subscriptions.push(loaded);
      return loaded;
    }));
  const place = new ShownPlace(agent, review, places);
  const lenses = new PreviewLenses(store, files, edits, agent.checks, agent.risks);
  const opener = new PreviewOpener({ ...agent, tabs, review, edits });
  const overview = new Overview(store, files, tabs);
  void tabs.closeForgotten();
  const tally = new ReviewTally(store);
  const texts = new TextDocuments();
  const chatOptions = {
    ...agent,
    review,
    extensionUri: context.extensionUri,
    mode: modeSwitch(agent.settings),
    model: () => ({ label: agent.providers.current().label, offline: agent.providers.isOffline }),
    activePreviewId: () => tabs.activeId(),
    shownRevision: (id: string) => shown.of(id),
    onWillPrompt: () => opener.expectPreview(),
    onDidFocus: () => opener.leaveFocus(),
    edits,
    reviewDone: tally,
    execute,
  };
  const chat = new ChatPanel(chatOptions);
  const pendingView = new PendingView({
    ...agent,
    review,
    looks,
    edits,
  });
  const otherAgents = new OtherAgents({
    ...agent,
    context,
    sentComments: () => commenting.sent,
    answerComment: (id, text) => commenting.answer(id, text),
  });
  subscriptions.push(
    edits,
    shown,
    looks,
    commenting,
    review,
    documents,
    vscode.workspace.registerFileSystemProvider(PREVIEW_SCHEME, documents, { isCaseSensitive: true }),
    lenses,
    vscode.languages.registerCodeLensProvider({ scheme: PREVIEW_SCHEME }, lenses),
    opener,
    overview,
    tally,
    new FileWatcher(agent),
    followFiles(agent),
    tellWhatIsLost(agent),
    startSinceLooked(agent, looks),
    startShownAgain({ ...agent, tabs, opener }, agent.ownsStorage ? context.workspaceState : undefined),
    startAppliedUnseen(agent, shown, overview),
    startFileMarks({ ...agent, extensionUri: context.extensionUri }),
    chat,
    vscode.window.registerWebviewViewProvider(views.chat, chat),
    registerNativeChat(chatOptions, vscode.Uri.joinPath(context.extensionUri, 'media', 'redline.svg')),
    pendingView,
    registerHistoryView(agent),
    place,
    new StatusItem(store, review, tally, edits, place, {
      current: () => agent.checks.marksOfAll(session.id),
      onDidChange: agent.checks.onDidChange,
    }),
    new WaitingNotice(agent, () => vscode.window.state.focused && (chat.isVisible || tabs.isAnyInFront)),
    registerLedgerDocument(store),
    texts,
    otherAgents,
    registerContextKeys(store, session, tabs, edits),
    registerCommands(
      allCommands({
        ...agent,
        extensionPath: context.extensionPath,
        globalStorage: context.globalStorageUri,
        chat,
        commenting,
        edits,
        looks,
        opener,
        otherAgents,
        overview,
        pendingView,
        review,
        shown,
        tabs,
        texts,
      }),
      logger,
    ),
  );
  showTour(context);
  return createApi(agent);
}

/**
 * VS Code calls this before the host ends. It disposes of the subscriptions right afterwards, without waiting, and then waits
 * up to 5 s for the promise (`AbstractExtHostExtensionService._deactivate` and `terminate`). So services that must end in
 * order, such as the log, whose last entries are written before the storage is unlocked, are closed here and are not subscriptions.
 */
export function deactivate(): Promise<void> | undefined {
  return closing?.close();
}
