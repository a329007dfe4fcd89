import { forEachLimited, TimeSlice } from '../../base/async.ts';
import { foundContent, type Effects, type Found } from './effects.ts';
import type { PlainTree } from './plainTree.ts';
import type { Put } from './upperTree.ts';

/** How many files are compared concurrently. */
const AT_ONCE = 16;

/** The two sides of a command's changes. */
interface Sides {
  readonly real: PlainTree;
  /** Links there may lead outside. */
  readonly view: PlainTree;
  /** The contents that were put into the view. */
  readonly puts: ReadonlyMap<string, Put>;
  /** The workspace path of a relative one. */
  readonly nameOf: (relative: string) => string;
  /** Whether somebody has changed the file on disk while the command ran. */
  readonly isBaseUnknown: (relative: string, base: Found | undefined) => Promise<boolean>;
  /** The entry of a copy, as it would be in the workspace. */
  readonly inWorkspace?: (found: Found | undefined) => Found | undefined;
}

/** Adds a command's changes at these paths to its effects. */
export async function addChanges(
  effects: Effects,
  paths: Iterable<string>,
  { real, view, puts, nameOf, isBaseUnknown, inWorkspace = found => found }: Sides,
): Promise<void> {
  const slice = new TimeSlice();
  await forEachLimited([...paths], AT_ONCE, async at => {
    await slice.turn();
    const put = puts.get(at);
    const name = put?.name ?? nameOf(at);
    if (effects.isTooMuch) return effects.addUnseen(name);
    if (put?.sameAs !== undefined && (await view.isSame(at, put.sameAs))) return;
    await effects.look(name, async () => {
      const theirs = inWorkspace(await view.find(at));
      const base = (put ? put.left && foundContent(put.left, put.mode) : await real.find(at)) ?? undefined;
      await effects.add(name, base, theirs, async () => !put && (await isBaseUnknown(at, base)));
    });
  });
}
