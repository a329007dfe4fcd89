import type * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import type { Session } from '../../agent/session/session.ts';
import { CustomTools } from '../../agent/tools/custom/customTools.ts';
import type { ToolHost } from '../../agent/tools/custom/toolHost.ts';
import type { ToolPlace } from '../../agent/tools/custom/toolFiles.ts';
import type { ToolRegistry } from '../../agent/tools/registry.ts';
import { createToolUi } from './customToolUi.ts';
import { FolderWatch } from './folderWatch.ts';
import { followLateErrors } from './lateErrors.ts';
import { ToolProblems } from './toolProblems.ts';

export interface CustomToolsParts {
  readonly registry: ToolRegistry;
  readonly invoker: Pick<Invoker, 'expire'>;
  readonly session: () => Pick<Session, 'id' | 'stage' | 'onDidEmit'>;
  /** See `ToolHost.resolvePath`. */
  readonly resolvePath: (input: string) => string;
  readonly places: () => readonly ToolPlace[];
  /** Something in a place may have changed. */
  readonly onDiskChange: () => void;
  readonly log: Logger;
}

/** Puts custom tools together with what VS Code lends them. */
export function createCustomTools(parts: CustomToolsParts): {
  readonly tools: CustomTools;
  readonly disposable: vscode.Disposable;
} {
  const { registry, invoker, resolvePath, places, log } = parts;
  const owned = new DisposableStore();
  const session = parts.session();
  const host: ToolHost = {
    ui: createToolUi(),
    hasUI: true,
    logger: log,
    session: () => ({ id: session.id, stage: action => session.stage(action).preview }),
    resolvePath,
  };
  const tools = owned.add(
    new CustomTools({
      registry,
      places,
      loader: async onProblem => {
        const { ToolLoader } = await import('../../agent/tools/custom/toolLoader.ts');
        return new ToolLoader({ host, onProblem });
      },
      sessionId: () => session.id,
      expire: id => invoker.expire(id),
      logger: log,
    }),
  );
  const folders = owned.add(new FolderWatch(parts.onDiskChange));
  owned.add(tools.onDidChange(() => folders.watch(tools.folders)));
  const problems = owned.add(new ToolProblems());
  owned.add(tools.onDidChange(() => problems.show(tools.problems)));
  owned.add(followLateErrors(tools));
  let previous = session.id;
  owned.add(
    session.onDidEmit(event => {
      if (event.type !== 'reset') return;
      tools.tellSession({ reason: 'switch', sessionId: session.id, previousSessionId: previous });
      previous = session.id;
    }),
  );
  return { tools, disposable: owned };
}
