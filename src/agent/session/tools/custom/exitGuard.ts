import type { Disposable } from '../../../base/disposable.ts';
import { ToolError } from '../../../base/errors.ts';
import type { CurrentTool } from './currentTool.ts';

/** The functions with which code can end its own process. */
type Ending = Pick<NodeJS.Process, 'exit' | 'abort' | 'kill'>;

/**
 * Keeps custom tools from ending the extension host: the call throws, and is reported to the tool's owner. Other code is
 * not affected. This is not a sandbox: a tool is code that the user trusts. The guard is meant for tools that were written as
 * scripts.
 */
export function guardExit(currentTool: CurrentTool, target: Ending = process): Disposable {
  const { exit, abort, kill } = target;
  const refuse = (call: string): void => {
    const { owner } = currentTool;
    if (!owner) return;
    const error = new ToolError(
      `The tool called ${call}, which would end all extensions, so the call was blocked.`,
    );
    owner.report({ kind: 'exitCalled', call }, error);
    throw error;
  };
  const guarded: Ending = {
    exit: code => {
      refuse(`process.exit(${code ?? ''})`);
      return exit.call(target, code);
    },
    abort: () => {
      refuse('process.abort()');
      return abort.call(target);
    },
    kill: (pid, signal) => {
      // The process itself or its whole group. Signal 0 only tests whether the process exists.
      if ([process.pid, 0].includes(Math.abs(Number(pid))) && signal !== 0)
        refuse(`process.kill(${pid === process.pid ? 'process.pid' : pid}, ${String(signal)})`);
      return kill.call(target, pid, signal);
    },
  };
  Object.assign(target, guarded);
  return {
    dispose: () => {
      // Other code may have wrapped these functions since; its wrapper then continues to call ours.
      if (target.exit === guarded.exit) target.exit = exit;
      if (target.abort === guarded.abort) target.abort = abort;
      if (target.kill === guarded.kill) target.kill = kill;
    },
  };
}
