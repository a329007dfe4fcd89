import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { ToolChoiceLadder } from '../../agent/model/toolChoiceLadder.ts';
import { Invoker } from '../../agent/preview/invoker.ts';
import { Overlay } from '../../agent/preview/overlay.ts';
import { Rebaser } from '../../agent/preview/rebaser.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { Session } from '../../agent/session/session.ts';
import { SessionLogs } from '../../agent/session/sessionLog.ts';
import type { StoredSession } from '../../agent/session/storedSession.ts';
import type { AstSearcher } from '../../agent/tools/ast/runSearch.ts';
import { astEditTool } from '../../agent/tools/astEdit.ts';
import { astGrepTool } from '../../agent/tools/astGrep.ts';
import { builtInTools } from '../../agent/tools/builtIn.ts';
import { revertToStateTool } from '../../agent/tools/revertToState.ts';
import { searchTextTool } from '../../agent/tools/searchText.ts';
import type { ToolRegistry } from '../../agent/tools/registry.ts';
import { LazyCustomTools } from '../tools/lazyCustomTools.ts';
import { createAstEngine } from './astEngine.ts';
import { takeBackCutOff } from './cutOffApplies.ts';
import { ladderMemory } from './ladderMemory.ts';
import { lockStorage, openStore, tellOfOtherWindow } from './previewStorage.ts';
import { Providers } from './providers.ts';
import { ApiKeys } from './secrets.ts';
import { Settings } from './settings.ts';
import { lazyTextSearch } from './lazyTextSearch.ts';
import { showWarning } from '../toast.ts';
import { VsCodeWorkspace } from './workspace.ts';

/** The core with its adapters: what the views are made of. */
export interface Agent {
  readonly log: vscode.LogOutputChannel;
  readonly settings: Settings;
  readonly keys: ApiKeys;
  readonly workspace: VsCodeWorkspace;
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly overlay: Overlay;
  readonly rebaser: Rebaser;
  readonly tools: ToolRegistry;
  readonly providers: Providers;
  readonly session: Session;
  readonly customTools: LazyCustomTools;
  /** The stored conversations of this workspace. */
  readonly sessions: SessionLogs;
  /** False while another window keeps the workspace's storage. */
  readonly ownsStorage: boolean;
}

/** Puts the core together and reads what this workspace's storage holds. Sends nothing to anybody. */
export async function createAgent(context: vscode.ExtensionContext): Promise<Agent> {
  const { subscriptions } = context;
  const log = vscode.window.createOutputChannel('Redline', { log: true });
  subscriptions.push(log);
  const settings = new Settings();
  const keys = new ApiKeys(context.secrets);
  const workspace = new VsCodeWorkspace();
  const storage = context.storageUri ?? context.globalStorageUri;
  const isOurs = await lockStorage(storage, subscriptions, log);
  // Windows without a folder share one storage, and have nothing between them that could be lost.
  if (!isOurs && context.storageUri) tellOfOtherWindow();
  const store = await openStore(storage, isOurs, subscriptions, log);
  await takeBackCutOff(store, storage.fsPath, workspace, log);
  store.forgetResolved(daysAgo(settings.retentionDays)).catch((error: unknown) => {
    log.error(`Forgetting old previews failed: ${detailOf(error)}`);
  });
  const invoker = new Invoker(store, workspace, () => settings.modelAuthority);
  const overlay = new Overlay(store);
  const rebaser = new Rebaser({ store, workspace, logger: log });
  subscriptions.push(overlay, rebaser);
  const providers = new Providers(settings, keys, log);
  const tools = builtInTools();
  tools.register(searchTextTool(lazyTextSearch(workspace, overlay, log)));
  const engine = createAstEngine(context.extensionPath);
  const unsaved = (): string[] => [...new Set([...workspace.unsaved(), ...overlay.paths()])];
  const searcher: AstSearcher = { engine, scope: { folders: () => workspace.folders(), unsaved } };
  for (const tool of [astGrepTool(searcher), astEditTool(searcher)]) tools.register(tool);
  tools.register(revertToStateTool(() => settings.revertEnabled));
  const customTools = new LazyCustomTools({
    registry: tools,
    invoker,
    session: () => session,
    resolvePath: input => workspace.pathOf(input),
    settings,
    log,
  });
  const sessions = new SessionLogs(path.join(storage.fsPath, 'sessions'));
  const session: Session = new Session(
    {
      store,
      invoker,
      tools,
      workspace,
      overlay,
      ladder: new ToolChoiceLadder(ladderMemory(context.globalState)),
      logger: log,
      settings: () => settings,
      providerFor: prompt => providers.forPrompt(prompt),
      logFor: id => sessions.open(id),
      checkBases: ids => rebaser.check(ids),
      prepareTools: () => customTools.refresh(),
    },
    isOurs ? await lastSession(sessions, log) : undefined,
  );
  const storing = session.onDidEmit(event => {
    if (event.type !== 'storing_failed') return;
    void showWarning(
      vscode.l10n.t(
        'The conversation cannot be written to the disk. It goes on in memory, and is written once that is possible again.',
      ),
    );
  });
  // Whoever talks to the agent may soon need the engine, which takes a moment to start.
  const warming = session.onDidEmit(event => event.type === 'turn_start' && engine.warm());
  subscriptions.push(session, engine, warming, storing, customTools);
  const parts = { log, settings, keys, workspace, store, invoker, overlay, rebaser, tools, providers };
  return { ...parts, session, sessions, ownsStorage: isOurs, customTools };
}

/** The session that was open last, if it can be read. */
async function lastSession(sessions: SessionLogs, log: Logger): Promise<StoredSession | undefined> {
  const id = await sessions.latest();
  if (id === undefined) return undefined;
  try {
    return await sessions.read(id, log);
  } catch (error) {
    log.error(`Reading session ${id} failed, it is left as it is: ${detailOf(error)}`);
    void showWarning(
      vscode.l10n.t('Redline cannot read the last session and left it untouched. This is a new one.'),
    );
    return undefined;
  }
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000);
}
