import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { freezeFolder, type CopyLimits } from './frozenFolder.ts';

const pathPair = z.object({ state: z.string(), at: z.string() });
export const stateSchema = z.object({
  folders: z.array(z.object({ name: z.string(), fsPath: z.string() })),
  /** Ignored folders, each an overlay of its own. */
  ignored: z.array(z.object({ root: z.string(), state: z.string() })),
  shown: z.array(pathPair),
  readable: z.array(z.string()),
  foreign: z.array(z.string()),
  unreadable: z.array(z.string()),
});

/** Persisted state needed to reopen a view. */
export type ViewState = z.infer<typeof stateSchema>;

/** Copies a folder of the workspace, and makes the trees of its overlays. */
export async function makeLayer(
  root: string,
  at: string,
  limits: CopyLimits,
  state: ViewState,
): Promise<void> {
  for (const name of ['upper', 'work']) await fs.mkdir(path.join(at, name), { recursive: true });
  const frozen = await freezeFolder(root, path.join(at, 'lower'), limits);
  let count = 0;
  const stateOf = async (real: string): Promise<string> => {
    const folder = path.join(at, 'folders', String(++count));
    await fs.mkdir(path.join(folder, 'lower'), { recursive: true });
    await fs.symlink(real, path.join(folder, 'real'));
    return folder;
  };
  for (const ignored of frozen.ignored) {
    const folder = await stateOf(path.join(root, ignored));
    for (const name of ['upper', 'work']) await fs.mkdir(path.join(folder, name));
    state.ignored.push({ root: path.join(root, ignored), state: folder });
  }
  for (const { from, at: shownAt } of frozen.shown)
    state.shown.push({ at: path.join(root, shownAt), state: await stateOf(from) });
  state.readable.push(...frozen.readable);
  state.foreign.push(...frozen.foreign);
  state.unreadable.push(...frozen.unreadable);
}
