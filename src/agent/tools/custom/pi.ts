import { ToolError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { exec } from './exec.ts';
import { typebox, zod } from './parameters.ts';
import { pendingActionOf } from './pendingActionOf.ts';
import type { CustomTool, CustomToolApi, CustomToolLogger, TypeBox, Zod } from './redline.d.ts';
import type { ToolHost } from './toolHost.ts';
import type { ToolOwner } from './toolOwner.ts';
import type { ToolScopes } from './toolScopes.ts';

/** Thrown by `pushPendingAction` where there is no session. The wording is a contract. */
export const NO_SESSION = 'Pending action store unavailable for custom tools in this runtime.';

/** Makes what a factory gets. */
export function createPi(owner: ToolOwner, cwd: string, scopes: ToolScopes, host: ToolHost): CustomToolApi {
  return {
    cwd,
    exec: (command, args = [], options = {}) => exec(command, args, cwd, options),
    ui: {
      notify: (...args) => scopes.leave(() => host.ui.notify(...args)),
      confirm: (...args) => scopes.leave(() => host.ui.confirm(...args)),
      input: (...args) => scopes.leave(() => host.ui.input(...args)),
      select: (...args) => scopes.leave(() => host.ui.select(...args)),
    },
    hasUI: host.hasUI,
    logger: prefixed(host.logger, owner.name),
    // All of them, of which the type file names those that are needed most.
    zod: zod as unknown as Zod,
    typebox: typebox as unknown as { readonly Type: TypeBox },
    ToolError,
    defineTool: tool => tool as CustomTool,
    pushPendingAction: given => {
      const begunBy = scopes.begunBy?.tool;
      if (begunBy?.readOnly === true)
        throw new ToolError(`${begunBy.name} is declared to be readOnly, so it cannot stage anything.`);
      const call = owner.isWithdrawn ? undefined : scopes.call;
      const session = owner.state === 'loaded' ? host.session() : undefined;
      if (!call && !session) throw new ToolError(NO_SESSION);
      const action = pendingActionOf(given, {
        resolvePath: input => host.resolvePath(input),
        sides: call?.sides ?? new Map(),
        run: work => scopes.run(owner, undefined, work),
      });
      const preview = scopes.leave(() => call?.push(action) ?? session?.stage(action));
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
