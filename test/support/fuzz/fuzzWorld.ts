import * as fs from 'node:fs';
import * as path from 'node:path';
import * as esbuild from 'esbuild';
import { english } from '../../../src/agent/base/localiser.ts';
import { silentLogger, type Logger } from '../../../src/agent/base/logger.ts';
import { SessionLogs } from '../../../src/agent/session/conversation/storage/sessionLogs.ts';
import { ToolChoiceLadder } from '../../../src/agent/session/model/toolChoiceLadder.ts';
import { Overlay } from '../../../src/agent/hold/preview/overlay.ts';
import { openPreviewLog } from '../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../src/agent/hold/preview/resolve/invoker.ts';
import type { ModelAuthority } from '../../../src/agent/hold/preview/resolveSettings.ts';
import { Session } from '../../../src/agent/session/session.ts';
import { WorkerAstEngine } from '../../../src/agent/session/tools/ast/worker/client.ts';
import { builtInTools } from '../../../src/agent/session/tools/builtIn.ts';
import type { TextSearch } from '../../../src/agent/hold/preview/textSearch.ts';
import { installedGrammars } from '../astGrammars.ts';
import { createScriptedProvider, type ScriptStep } from '../scriptedProvider.ts';
import type { Sandbox } from './sandbox.ts';
import { Uri, useVscodeStub } from './vscodeStub.ts';

useVscodeStub();
const { VsCodeWorkspace } = await import('../../../src/views/workspace/workspace.ts');
const { WorkspaceTextSearch } = await import('../../../src/views/chat/search/textSearch.ts');

/** The bundled workers, as the extension has them. They start several times as fast as from source. */
export interface Workers {
  readonly line: string;
  readonly ast: string;
}

export async function buildWorkers(folder: string): Promise<Workers> {
  await esbuild.build({
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    outdir: folder,
    entryPoints: {
      lineWorker: 'src/views/chat/search/lineWorker.ts',
      astWorker: 'src/agent/session/tools/ast/worker/worker.ts',
    },
    external: ['@ast-grep/napi'],
    logLevel: 'error',
  });
  return { line: path.join(folder, 'lineWorker.js'), ast: path.join(folder, 'astWorker.js') };
}

export interface FuzzSettings {
  modelAuthority: ModelAuthority;
  forcing: 'forced' | 'off';
}

/** The whole core with all tools on a real folder, put together as `src/views/agent.ts` does. */
export async function openWorld(
  { workspace: folder, storage }: Sandbox,
  { workers, appRoot, script }: { workers: Workers; appRoot: string; script: ScriptStep },
) {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: message => void errors.push(message) };
  const settings = { modelAuthority: 'apply', forcing: 'forced' } as FuzzSettings;
  const folders = [{ name: 'workspace', index: 0, uri: Uri.file(folder) }];
  const workspace = new VsCodeWorkspace(
    () => ({ alwaysAsk: ['*.lock', 'src/style.css'], toolPlaces: [path.join(folder, 'tools')] }),
    () => folders as unknown as ReturnType<ConstructorParameters<typeof VsCodeWorkspace>[1] & object>,
  );
  const log = openPreviewLog(path.join(storage, 'previews.jsonl'));
  const { entries } = await log.load();
  const store = new PreviewStore(log, error => void errors.push(`log: ${String(error)}`));
  store.restore(entries);
  const invoker = new Invoker(store, workspace, () => settings.modelAuthority);
  const overlay = new Overlay(store);
  const rebaser = new Rebaser({ store, workspace, logger });
  const textSearch: TextSearch = new WorkspaceTextSearch(workspace, logger, workers.line, appRoot);
  const engine = new WorkerAstEngine(workers.ast, { grammars: installedGrammars() });
  const tools = builtInTools({
    textSearch,
    astSearcher: { engine, scope: workspace },
    isRevertEnabled: () => true,
  });
  const sessions = new SessionLogs(path.join(storage, 'sessions'));
  const provider = createScriptedProvider(script);
  const session = new Session({
    store,
    invoker,
    tools,
    workspace,
    overlay,
    l10n: english,
    ladder: new ToolChoiceLadder(new Map()),
    logger,
    settings: () => ({ ...settings, order: 'newestFirst', continueAfterReview: false, revertEnabled: true }),
    providerFor: () => provider,
    logFor: id => sessions.open(id),
    refreshBases: ids => rebaser.refresh(ids),
  });
  return {
    session,
    store,
    invoker,
    rebaser,
    tools,
    settings,
    errors,
    dispose: (): void => {
      session.dispose();
      rebaser.dispose();
      overlay.dispose();
      engine.dispose();
    },
  };
}

/** Where VS Code with its ripgrep is, if one was downloaded for the tests. */
export function downloadedVsCode(): string | undefined {
  const folder = path.join('.vscode-test', 'headless');
  if (!fs.existsSync(folder)) return undefined;
  return fs
    .readdirSync(folder)
    .map(name => path.resolve(folder, name))
    .find(each => fs.existsSync(path.join(each, 'node_modules', '@vscode')));
}
