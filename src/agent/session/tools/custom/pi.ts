import { ToolError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';
import type { PendingAction } from '../../../hold/preview/pendingAction.ts';
import type { Preview } from '../../../hold/preview/preview.ts';
import type { CurrentTool } from './currentTool.ts';
import { exec } from './exec.ts';
import { typebox, zod } from './loading/parameters.ts';
import { parsePendingAction } from './parsePendingAction.ts';
import type {
  CustomTool,
  CustomToolApi,
  CustomToolLogger,
  CustomToolUi,
  TypeBox,
  Zod,
} from '../../../../../examples/tools/redline.d.ts';
import type { ToolOwner } from './toolOwner.ts';

/** The current session, as far as custom tools need it. */
export interface ToolSession {
  readonly id: string;
  /** Stages a preview outside any call. */
  stage(action: PendingAction): Preview;
}

/** The host's services for custom tools. */
export interface ToolHost {
  readonly ui: CustomToolUi;
  readonly hasUI: boolean;
  readonly logger: Logger;
  /** The current session; `undefined` in a runtime without one. */
  session(): ToolSession | undefined;
  /**
   * The workspace path for a path from a tool.
   * @throws PathError when it leads outside the workspace.
   */
  resolvePath(input: string): string;
}

/** The error of `pushPendingAction` when there is no session. The wording is a contract. */
export const NO_SESSION = 'Pending action store unavailable for custom tools in this runtime.';

/** Makes the `pi` that a factory gets. */
export function createPi(
  owner: ToolOwner,
  cwd: string,
  currentTool: CurrentTool,
  host: ToolHost,
): CustomToolApi {
  return {
    cwd,
    exec: (command, args = [], options = {}) => exec(command, args, cwd, options),
    ui: {
      notify: (...args) => currentTool.runOutside(() => host.ui.notify(...args)),
      confirm: (...args) => currentTool.runOutside(() => host.ui.confirm(...args)),
      input: (...args) => currentTool.runOutside(() => host.ui.input(...args)),
      select: (...args) => currentTool.runOutside(() => host.ui.select(...args)),
    },
    hasUI: host.hasUI,
    logger: prefixed(host.logger, owner.name),
    // The whole packages; the type file describes the most common parts.
    zod: zod as unknown as Zod,
    typebox: typebox as unknown as { readonly Type: TypeBox },
    ToolError,
    defineTool: tool => tool as CustomTool,
    pushPendingAction: given => {
      const startedBy = currentTool.startedBy?.tool;
      if (startedBy?.readOnly === true)
        throw new ToolError(`${startedBy.name} is declared readOnly, so it cannot stage a preview.`);
      const call = owner.isWithdrawn ? undefined : currentTool.call;
      const session = owner.state === 'loaded' ? host.session() : undefined;
      if (!call && !session) throw new ToolError(NO_SESSION);
      const action = parsePendingAction(given, {
        resolvePath: input => host.resolvePath(input),
        filesRead: call?.filesRead ?? new Map(),
        runCallback: work => currentTool.run(owner, undefined, work),
      });
      const preview = currentTool.runOutside(() => call?.stage(action) ?? session?.stage(action));
      if (!preview) throw new ToolError(NO_SESSION);
      owner.staged.add(preview.id);
      return { id: preview.id };
    },
  };
}

function prefixed(logger: Logger, name: string): CustomToolLogger {
  const say =
    (level: keyof Logger) =>
    (message: unknown): void =>
      logger[level](`[${name}] ${String(message)}`);
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}
