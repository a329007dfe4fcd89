import type { Disposable } from '../../base/disposable.ts';
import { ToolError } from '../../base/errors.ts';
import type { ToolScopes } from './toolScopes.ts';

/** The ways in which code ends its own process. */
type Ending = Pick<NodeJS.Process, 'exit' | 'abort' | 'kill'>;

/**
 * Keeps custom tools from ending the process that all extensions live in: the call throws, and their owner is told. Other
 * code is not touched. It is no sandbox: a tool is code that the person trusts; this is for those that were written as
 * scripts.
 */
export function guardExit(scopes: ToolScopes, target: Ending = process): Disposable {
  const { exit, abort, kill } = target;
  const refuse = (call: string): void => {
    const { owner } = scopes;
    if (!owner) return;
    const error = new ToolError(`The tool called ${call}, which would end all extensions; it was held back.`);
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
      // The process itself, or its whole group. The signal 0 only asks whether it is there.
      if ([process.pid, 0].includes(Math.abs(Number(pid))) && signal !== 0)
        refuse(`process.kill(${pid === process.pid ? 'process.pid' : pid}, ${String(signal)})`);
      return kill.call(target, pid, signal);
    },
  };
  Object.assign(target, guarded);
  return {
    dispose: () => {
      // Somebody else may have put theirs on top, which then goes on calling ours.
      if (target.exit === guarded.exit) target.exit = exit;
      if (target.abort === guarded.abort) target.abort = abort;
      if (target.kill === guarded.kill) target.kill = kill;
    },
  };
}
