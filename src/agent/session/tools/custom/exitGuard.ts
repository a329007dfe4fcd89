import type { Disposable } from '../../../base/disposable.ts';
import { ToolError } from '../../../base/errors.ts';
import type { CurrentTool } from './currentTool.ts';

/**
 * Keeps custom tools from ending the extension host by `process.exit`: the call throws, and is reported to the tool's owner. Other
 * code is not affected. This is not a sandbox: a tool is code that the user trusts. The guard is meant for tools that were written
 * as scripts.
 */
export function guardExit(
  currentTool: CurrentTool,
  target: Pick<NodeJS.Process, 'exit'> = process,
): Disposable {
  const { exit } = target;
  const guarded: typeof exit = code => {
    const { owner } = currentTool;
    if (!owner) return exit.call(target, code);
    const call = `process.exit(${code ?? ''})`;
    const error = new ToolError(
      `The tool called ${call}, which would end all extensions, so the call was blocked.`,
    );
    owner.report({ kind: 'exitCalled', call }, error);
    throw error;
  };
  target.exit = guarded;
  return {
    dispose: () => {
      // Other code may have wrapped the function since; its wrapper then continues to call ours.
      if (target.exit === guarded) target.exit = exit;
    },
  };
}
