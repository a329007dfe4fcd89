import * as z from 'zod/mini';
import { DisposableStore } from '../../base/disposable.ts';
import { plural } from '../../base/phrases.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from '../../session/tools/tool.ts';
import type { News } from '../decisions.ts';
import type { ListedPreviews } from '../ownPreviews.ts';

/** In seconds. Some agents end a call after 60. */
const MAX_WAIT = 45;
/** The most ids of pending previews that the result lists. */
const MAX_IDS = 20;

/** Waits for a decision of the user. Decisions come before the result, as with any call. */
export function waitTool(previews: ListedPreviews, decisions: News): Tool {
  return defineTool({
    name: 'wait',
    label: 'Wait',
    description:
      `Wait until the user decides on one of your previews, at most ${MAX_WAIT} seconds. Call it only if you cannot go ` +
      'on without a decision. If nothing was decided, call it again or go on with other work.',
    parameters: z.object({
      seconds: z.optional(
        z
          .number()
          .check(
            z.minimum(0),
            z.maximum(MAX_WAIT),
            z.describe(`The longest time to wait. Default: ${MAX_WAIT}.`),
          ),
      ),
    }),
    async execute({ seconds = MAX_WAIT }, { signal }) {
      if (!decisions.hasNews && previews.open.length > 0) await newsOrEnd(decisions, seconds, signal);
      const ids = previews.open.map(({ id }) => id);
      if (ids.length === 0) return textResult('Nothing of yours is pending.');
      const shown = ids.length > MAX_IDS ? ['…', ...ids.slice(-MAX_IDS)] : ids;
      const said = decisions.hasNews ? '' : `Nothing was decided in ${plural(seconds, 'second')}. `;
      return textResult(`${said}Still pending: ${shown.join(', ')}.`);
    },
  });
}

/** Settles when something was decided, the time is over, or the call is cancelled. */
function newsOrEnd({ onDidHappen }: News, seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const owned = new DisposableStore();
    const end = (): void => {
      owned.dispose();
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    owned.add({ dispose: () => clearTimeout(timer) });
    owned.add(onDidHappen(end));
    signal.addEventListener('abort', end, { once: true });
    owned.add({ dispose: () => signal.removeEventListener('abort', end) });
    if (signal.aborted) end();
  });
}
