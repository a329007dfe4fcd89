import type { CommandId } from '../contributions.ts';
import type { CommandHandlers } from './registerCommand.ts';

/** Commands whose code is loaded with the first use of one of them: activation does not pay for it. */
export function lazyCommands(
  ids: readonly CommandId[],
  load: () => Promise<CommandHandlers>,
): CommandHandlers {
  let loaded: Promise<CommandHandlers> | undefined;
  const run = async (id: CommandId, args: unknown[]): Promise<unknown> =>
    (await (loaded ??= load()))[id]?.(...args);
  return Object.fromEntries(ids.map(id => [id, (...args: unknown[]) => run(id, args)]));
}
