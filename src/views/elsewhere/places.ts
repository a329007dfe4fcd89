import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { PathError } from '../../agent/base/errors.ts';
import type { PatchPlaces } from '../../agent/elsewhere/patchProposal.ts';
import type { Places } from '../../agent/elsewhere/snapshot.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import { isInside } from '../../agent/text/isInside.ts';

export type PlacesWorkspace = Pick<VsCodeWorkspace, 'resolvePath' | 'uriOf' | 'folders'>;

/** Where the files of a repository are in the workspace. */
export function repositoryPlaces(root: string, workspace: PlacesWorkspace): Places {
  return {
    resolve: relative => workspace.resolvePath(path.join(root, relative)),
    isLink: at => isLink(workspace.uriOf(at).fsPath),
  };
}

/**
 * Where the files of a patch may be: below the root of the repository, if there is one, else below a workspace folder.
 */
export function patchPlaces(root: string | undefined, workspace: PlacesWorkspace): PatchPlaces {
  return {
    resolve: async name => {
      const bases = [
        ...(root === undefined ? [] : [root]),
        ...workspace.folders().map(({ fsPath }) => fsPath),
      ];
      const found = new Set<string>();
      let refused: PathError | undefined;
      for (const base of bases) {
        try {
          const file = path.isAbsolute(name) ? name : path.join(base, name);
          if (!path.isAbsolute(name) && !isInside(file, base))
            throw new PathError('outside', `${name} is outside the workspace.`);
          found.add(await workspace.resolvePath(file));
        } catch (error) {
          if (!(error instanceof PathError)) throw error;
          refused ??= error;
        }
      }
      if (found.size === 0) throw refused ?? new PathError('noWorkspace', 'No folder is open.');
      return [...found];
    },
    isLink: at => isLink(workspace.uriOf(at).fsPath),
  };
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    found => found.isSymbolicLink(),
    () => false,
  );
}
