import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { ToolChoiceLadder, type LadderMemory, type LadderStep } from '../../agent/model/toolChoiceLadder.ts';
import { Invoker } from '../../agent/preview/invoker.ts';
import { openPreviewLog } from '../../agent/preview/previewLog.ts';
import { Overlay } from '../../agent/preview/overlay.ts';
import { Rebaser } from '../../agent/preview/rebaser.ts';
import { PreviewStore, type PreviewLogSink } from '../../agent/preview/previewStore.ts';
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
import { sideLogs, takeBackCutOff } from './cutOffApplies.ts';
import { Providers } from './providers.ts';
import { ApiKeys } from './secrets.ts';
import { Settings } from './settings.ts';
import { lazyTextSearch } from './lazyTextSearch.ts';
import { showError, showWarning } from '../toast.ts';
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

/** How long an extension host that is about to end may keep the storage, in milliseconds. */
const PATIENCE = 5_000;

/** False when another window uses this workspace's storage. Where no lock can be made, nothing else can be written. */
async function lockStorage(folder: vscode.Uri, owned: vscode.Disposable[], log: Logger): Promise<boolean> {
  try {
    const lock = await ProcessLock.take(path.join(folder.fsPath, 'window.lock'), PATIENCE);
    if (lock) owned.push({ dispose: () => void lock.release() });
    return lock !== undefined;
  } catch (error) {
    log.error(`Locking ${folder.fsPath} failed: ${detailOf(error)}`);
    return true;
  }
}

function tellOfOtherWindow(): void {
  void showWarning(
    vscode.l10n.t(
      'Another window keeps the previews of this workspace. Previews made in this window last until it closes.',
    ),
  );
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
      vscode.l10n.t('Redline cannot read the last conversation and left it untouched. This is a new one.'),
    );
    return undefined;
  }
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000);
}

const LADDER_KEY = 'redline.toolChoice';

/** What was learned of each server's ways, kept for all workspaces. */
function ladderMemory(state: vscode.Memento): LadderMemory {
  const read = (): Record<string, LadderStep> => state.get<Record<string, LadderStep>>(LADDER_KEY, {});
  return {
    get: id => (Object.hasOwn(read(), id) ? read()[id] : undefined),
    set: (id, step) => void state.update(LADDER_KEY, { ...read(), [id]: step }),
  };
}

const noLog: PreviewLogSink = {
  append: () => Promise.resolve(),
  flush: () => Promise.resolve(),
  compact: () => Promise.resolve(),
};

/**
 * The previews of this workspace. A log that cannot be read is left as it is, which the person is told, and so is one that
 * another window writes: previews then live as long as this window.
 */
async function openStore(
  folder: vscode.Uri,
  isOurs: boolean,
  owned: vscode.Disposable[],
  log: vscode.LogOutputChannel,
): Promise<PreviewStore> {
  const file = path.join(folder.fsPath, 'previews.jsonl');
  const logFile = openPreviewLog(file);
  const onLogFailure = (error: unknown): void => log.error(`Writing ${file} failed: ${detailOf(error)}`);
  const passing = async (): Promise<PreviewStore> => {
    try {
      const { openSideLog } = await import('./sideLog.ts');
      const side = await openSideLog(sideLogs(folder.fsPath));
      owned.push(side);
      return new PreviewStore(openPreviewLog(side.file), onLogFailure);
    } catch (error) {
      onLogFailure(error);
      return new PreviewStore(noLog, onLogFailure);
    }
  };
  if (!isOurs) return passing();
  try {
    const { entries, badLines, torn } = await logFile.load();
    if (badLines.length > 0)
      log.warn(`${file}: skipped lines that could not be read: ${badLines.join(', ')}`);
    if (torn) log.warn(`${file}: dropped a last line that was not written to its end`);
    const store = new PreviewStore(logFile, onLogFailure);
    store.restore(entries);
    return store;
  } catch (error) {
    log.error(`Reading ${file} failed: ${detailOf(error)}`);
    void showError(
      vscode.l10n.t(
        'Redline cannot read its stored previews and left them untouched. New previews last until this window closes.',
      ),
    );
    return passing();
  }
}
