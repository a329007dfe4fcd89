import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Closing } from '../agent/base/disposable.ts';
import { detailOf } from '../agent/base/errors.ts';
import type { Localiser } from '../agent/base/localiser.ts';
import type { Logger } from '../agent/base/logger.ts';
import { ImageFiles } from '../agent/session/conversation/storage/imageFiles.ts';
import { SessionLogs } from '../agent/session/conversation/storage/sessionLogs.ts';
import type { StoredSession } from '../agent/session/conversation/storage/storedSession.ts';
import { ToolChoiceLadder } from '../agent/session/model/toolChoiceLadder.ts';
import type { LoadEditors } from '../agent/hold/preview/commit/landed/editors.ts';
import { Overlay } from '../agent/hold/preview/overlay.ts';
import type { PreviewStore } from '../agent/hold/preview/previewStore.ts';
import { Rebaser } from '../agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../agent/hold/preview/resolve/invoker.ts';
import type { Prover } from '../agent/hold/preview/resolve/proof.ts';
import type { ReadSurroundings } from '../agent/session/surroundings.ts';
import { Session } from '../agent/session/session.ts';
import { runChecksTool } from '../agent/session/tools/runChecksTool.ts';
import type { Sandboxes } from '../agent/sandbox/commands/sandbox.ts';
import { CommandRuns } from '../agent/sandbox/commands/commandRuns.ts';
import type { ToolRegistry } from '../agent/session/tools/registry.ts';
import {
  commandRunner,
  editorToolsRefresher,
  hostConsent,
  instructionReader,
  runnerLoader,
  structuralEngineIn,
  textSearchIn,
  windowTools,
} from './agentTools.ts';
import { CheckSettings } from './review/checks/checkSettings.ts';
import { WindowChecks } from './review/checks/windowChecks.ts';
import { RiskMarks } from './review/riskMarks.ts';
import { CustomToolsWatcher, currentToolPlaces } from './customTools/customToolsWatcher.ts';
import { ApiKeys } from './chat/models/apiKeys.ts';
import { ladderMemory, Providers } from './chat/models/providers.ts';
import type { FileUris } from './workspace/previewUri.ts';
import type { RedlineLog } from './diagnostics/redlineLog.ts';
import { Settings } from './settings.ts';
import { forgetOldPreviews, lockStorage, mustRecover, openStore } from './storage/previewStorage.ts';
import { StorageTrouble } from './storage/storageTrouble.ts';
import { closePatience } from './storage/storedPreviews.ts';
import { showWarning } from './toast.ts';
import { SandboxLeave, WindowSandboxes } from './agents/terminal/windowSandboxes.ts';
import { VsCodeProblems } from './workspace/vsCodeProblems.ts';
import { Questions } from './questions.ts';
import type { HostConsents } from './web/hostConsents.ts';
import { VsCodeWorkspace } from './workspace/workspace.ts';

/** The core and its adapters, which the views are built on. */
export interface Agent {
  /** The language of the user. */
  readonly l10n: Localiser;
  readonly logger: RedlineLog;
  /** Resources that must be closed in order before the process ends. */
  readonly closing: Closing;
  readonly settings: Settings;
  readonly keys: ApiKeys;
  readonly workspace: VsCodeWorkspace;
  /** The URI of a workspace path. */
  readonly files: FileUris;
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly overlay: Overlay;
  readonly rebaser: Rebaser;
  readonly tools: ToolRegistry;
  readonly providers: Providers;
  readonly session: Session;
  readonly customTools: CustomToolsWatcher;
  /** The commands that applied previews are running. */
  readonly commandRuns: CommandRuns;
  readonly sandboxes: Sandboxes;
  readonly sandboxLeave: SandboxLeave;
  /** Which hosts the agent may read from. */
  readonly hosts: () => Promise<HostConsents>;
  /** The questions to the user that the model's calls are waiting on. */
  readonly questions: Questions;
  readonly checks: WindowChecks;
  readonly risks: RiskMarks;
  /** Stored conversations of this workspace. */
  readonly sessions: SessionLogs;
  readonly images: ImageFiles;
  /** False while another window has the workspace's storage locked. */
  readonly ownsStorage: boolean;
  /** Whether this window stores its previews: false if another window stores its own, or the stored ones cannot be read. */
  readonly keepsPreviews: boolean;
  /**
   * In a window that keeps its previews in memory: resolves with `true` once they are stored after all, or with `false` when the
   * window closes. Never rejects.
   */
  readonly takingOver: Promise<boolean> | undefined;
}

/** Assembles the core and restores its state from this workspace's storage. Makes no network request. */
export async function createAgent(
  context: vscode.ExtensionContext,
  logger: RedlineLog,
  closing: Closing,
): Promise<Agent> {
  const { subscriptions } = context;
  const settings = new Settings(subscriptions);
  const keys = new ApiKeys(context.secrets, subscriptions);
  const workspace = new VsCodeWorkspace(() => ({
    alwaysAsk: settings.alwaysAsk,
    readOnly: settings.readOnlyFiles,
    toolPlaces: currentToolPlaces(settings).map(place => place.path),
  }));

  const storage = context.storageUri ?? context.globalStorageUri;
  const trouble = new StorageTrouble();
  const storageParts = { folder: storage, closing, trouble, logger };
  const lock = await lockStorage(storageParts, context.storageUri !== undefined);
  const ownsStorage = lock.kind === 'owned';
  const open = await openStore(storageParts, lock);
  const { store } = open;
  if (open.isDurable && mustRecover(store)) {
    const { recoverInterruptedCommits } = await import('./storage/interruptedCommits.ts');
    await recoverInterruptedCommits(store, workspace, logger);
  }
  const takingOver = open.takeOver?.(workspace);
  subscriptions.push(forgetOldPreviews(store, settings, logger));

  const editors: LoadEditors = async () => {
    const { WindowEditors } = await import('./workspace/windowEditors.ts');
    return new WindowEditors(path => workspace.uriOf(path), subscriptions);
  };
  const prover: Prover = {
    prove: (...asked) => checks.prove(...asked),
    factsOf: previews => checks.factsOf(previews),
  };
  const invoker = new Invoker(store, workspace, () => settings.modelAuthority, prover, editors);
  const overlay = new Overlay(store);
  const rebaser = new Rebaser({ store, workspace, logger });
  subscriptions.push(overlay, rebaser);

  const sessions = new SessionLogs(
    path.join(storage.fsPath, 'sessions'),
    lock.kind === 'owned' ? lock.lock : undefined,
  );
  closing.add(() => sessions.release());
  const images = new ImageFiles(path.join(storage.fsPath, 'sessions'));
  const providers = new Providers(settings, keys, logger, file => images.read(file));
  const lineWorker = path.join(context.extensionPath, 'dist', 'lineWorker.js');
  const textSearch = textSearchIn(lineWorker, workspace, logger);
  const problems = new VsCodeProblems(workspace);
  subscriptions.push(problems);
  const commandRuns = new CommandRuns();
  closing.add(() => commandRuns.close());
  const sandboxes = new WindowSandboxes(async () => {
    const { openSandboxes } = await import('./agents/terminal/openSandboxes.ts');
    return openSandboxes(path.join(storage.fsPath, 'sandbox'), workspace, settings, logger);
  });
  closing.add(() => sandboxes.dispose());
  const sandboxLeave = new SandboxLeave(context.workspaceState, settings);
  const loadRunner = runnerLoader(workspace, settings);
  const runner = commandRunner(loadRunner, sandboxes, sandboxLeave);
  const checks = new WindowChecks({
    store,
    workspace,
    sandboxes,
    lineWorker,
    logger,
    settings: new CheckSettings(context.workspaceState, settings),
    isTrusted: () => vscode.workspace.isTrusted,
    plan: runner.plan,
    files: path => workspace.uriOf(path),
  });
  const risks = new RiskMarks(store, logger, textSearch.search);
  subscriptions.push(checks, risks);
  const engine = structuralEngineIn(context, logger);
  const { workspaceState: memory } = context;
  const questions = new Questions();
  let consents: Promise<HostConsents> | undefined;
  const hosts = (): Promise<HostConsents> =>
    (consents ??= import('./web/hostConsents.ts').then(
      ({ HostConsents }) => new HostConsents(memory, questions, () => session.id),
    ));
  const tools = windowTools(workspace, engine, {
    textSearch,
    commands: { runner, runs: commandRuns },
    problems,
    hosts: hostConsent(hosts, settings),
    askUser: async (...asked) => (await import('./askUser.ts')).askUser({ questions, session }, ...asked),
    isRevertEnabled: () => settings.revertEnabled,
  });
  tools.register(runChecksTool(checks.runs));
  const customTools = new CustomToolsWatcher(
    {
      registry: tools,
      invoker,
      session: () => session,
      resolvePath: input => workspace.pathOf(input),
      logger,
    },
    settings,
  );

  const refreshEditorTools = editorToolsRefresher(tools, commandRuns, settings, logger);
  const surroundings: ReadSurroundings = async () => {
    const { readSurroundings } = await import('./workspace/surroundings.ts');
    return readSurroundings(async () => (await loadRunner()).shell().shell);
  };

  const { l10n } = vscode;
  const session: Session = new Session(
    {
      l10n,
      store,
      invoker,
      tools,
      workspace,
      overlay,
      ladder: new ToolChoiceLadder(ladderMemory(context.globalState)),
      logger,
      settings: () => settings,
      providerFor: prompt => providers.forPrompt(prompt),
      logFor: id => (ownsStorage ? sessions.open(id) : sessions.openHeld(id)),
      keepImage: async (bytes, id) => images.keep(await images.add(bytes), id),
      refreshBases: ids => rebaser.refresh(ids),
      prepareTools: async () => {
        // Custom tools claim their names before the editor tools do.
        await customTools.refresh();
        await refreshEditorTools();
      },
      readInstructions: instructionReader(workspace, logger),
      readSurroundings: surroundings,
      problems,
      commands: commandRuns,
    },
    ownsStorage ? await lastSession(sessions, logger) : undefined,
  );
  closing.add(() => session.close(closePatience()));
  subscriptions.push(trouble.follow(session));
  // A turn may need the engine soon, and its worker takes a moment to start.
  const warming = session.onDidEmit(event => event.type === 'turn_start' && engine.warm());
  subscriptions.push(checks.follow(session), session, engine, warming, customTools);

  return {
    l10n,
    logger,
    closing,
    settings,
    keys,
    workspace,
    files: (path: string) => workspace.uriOf(path),
    store,
    invoker,
    overlay,
    rebaser,
    tools,
    providers,
    session,
    sessions,
    images,
    ownsStorage,
    keepsPreviews: open.isDurable,
    takingOver,
    customTools,
    commandRuns,
    sandboxes,
    sandboxLeave,
    hosts,
    questions,
    checks,
    risks,
  };
}

/** The most recently used session, if it can be read. */
async function lastSession(sessions: SessionLogs, logger: Logger): Promise<StoredSession | undefined> {
  let id: string | undefined;
  try {
    id = await sessions.latest();
    return id === undefined ? undefined : await sessions.readAndRepair(id, logger);
  } catch (error) {
    logger.error(`Reading session ${id ?? 'files'} failed; its file is left untouched: ${detailOf(error)}`);
    void showWarning(
      vscode.l10n.t(
        'Redline cannot read the last session. Its file is left untouched, and a new session is started.',
      ),
    );
    return undefined;
  }
}
