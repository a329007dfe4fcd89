import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds, TimeSlice } from '../../base/async.ts';
import { ToolError } from '../../base/errors.ts';
import { addChanges } from './addChanges.ts';
import { isStill, openCopy, type Copied } from './copiedFolder.ts';
import { gitFiles } from './copiedGit.ts';
import type { Effects } from './effects.ts';
import { ignoredOf, textOfRules } from './ignored.ts';
import { outermostIgnored, restored } from './keptFiles.ts';
import type { Contents, Layers } from './layers.ts';
import type { OwnFolder } from './ownFolder.ts';
import type { CopiedLinks } from './pathNames.ts';
import { inTrees } from './plainTree.ts';
import { changedBetween, isSpecial, stampOf, stamps, type Stamp, type Stamps } from './stamps.ts';

const REPLACED =
  'The command replaced the workspace folder by another folder or a link, so its changes cannot be found. They are lost.';

/** Files of a copy to be restored from disk. */
export interface Changed {
  /** Paths of files. */
  readonly changed: readonly string[];
  /** The contents of the copy. */
  readonly found: Stamps;
}

/** The changes of a command in a copy; `changed` leaves out ignored files that can be kept. */
interface Listed extends Changed {
  /** How many ignored files it wrote. */
  readonly ignored: number;
  /** Workspace paths of ignored files that the command has removed. */
  readonly removed: readonly string[];
  readonly wroteGit: boolean;
}

interface Listing {
  /** Holds the copies. */
  readonly storage: OwnFolder;
  readonly layers: Layers;
  /** The contents that were put into the copies for the command. */
  readonly contents: Contents;
  /** Collects the changes of the command. */
  readonly effects: Effects;
  readonly links: CopiedLinks;
}

/** Finds the changes of the command in a copy. @throws ToolError if it replaced the copy itself */
export async function listCopy(
  folder: Copied,
  { storage, layers, contents, effects, links }: Listing,
): Promise<Listed> {
  const isThere = await succeeds(fs.lstat(folder.copy));
  if (isThere && !(await isStill(folder))) throw new ToolError(REPLACED);
  const { layer, root, put = new Map<string, Stamp>(), odd } = folder;
  const source = new Map(folder.source);
  const nameOf = (relative: string): string => layers.nameOf({ layer, relative });
  // A command that removed the folder itself removed everything in it.
  const copy = await openCopy(folder, storage);
  return inTrees([root, copy], async (real, there) => {
    const slice = new TimeSlice();
    const found = await stamps(there);
    const { put: now } = found;
    folder.put = now;
    for (const at of found.odd.keys()) if (!odd.has(at)) effects.leaveOut({ path: nameOf(at), why: 'path' });
    const changed = await changedBetween(put, now);
    const isGits = await gitFiles([real, there], new Set([...put.keys(), ...now.keys()]));
    const others = changed.filter(at => !isGits(at));
    await slice.turn();
    const rules = new Map<string, string>();
    for (const at of now.keys()) {
      const isOwn = /(^|\/)\.gitignore$/.test(at) && (!source.get(at) || put.get(at) !== now.get(at));
      const found = isOwn ? await there.find(at) : undefined;
      if (found?.kind === 'file')
        rules.set(path.posix.dirname(at), textOfRules(await found.read().catch(() => undefined)));
    }
    const puts = contents.get(layer) ?? new Map<string, never>();
    const ignored = await ignoredOf(root, others, rules);
    // A change of a pending file counts even if git ignores the file.
    const hidden = new Set([...ignored].filter(at => !puts.has(at)));
    for (const at of hidden) if (!isSpecial(now.get(at))) folder.ignored.add(at);
    await addChanges(
      effects,
      others.filter(at => !hidden.has(at)),
      {
        real,
        view: there,
        puts,
        nameOf,
        isBaseUnknown: async (at, base) => {
          const stat = await real.stat(at).catch(() => undefined);
          const isKept = source.get(at) === (stat && stampOf(stat));
          return !isKept && (put.has(at) || (!!base && base.kind !== 'folder'));
        },
        inWorkspace: each => links.entryInWorkspace(each),
      },
    );
    const gone = await outermostIgnored(
      root,
      [...ignored].filter(at => !now.has(at)),
    );
    const removed = await restored(real, there, gone);
    // They are copied again before the next command.
    for (const at of removed.length > 0 ? put.keys() : [])
      if (removed.some(each => at === each || at.startsWith(`${each}/`))) folder.source.set(at, '');
    return {
      found,
      changed: changed.filter(at => !hidden.has(at) || isSpecial(now.get(at))),
      removed: removed.map(nameOf),
      ignored: [...hidden].filter(at => now.has(at)).length,
      wroteGit: changed.some(at => isGits(at) && path.posix.basename(at) !== 'index'),
    };
  });
}
