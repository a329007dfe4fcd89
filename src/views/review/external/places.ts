import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../../agent/base/async.ts';
import { PathError } from '../../../agent/base/errors.ts';
import { isNameable, shownName } from '../../../agent/hold/external/fileNames.ts';
import type { PatchPlaces } from '../../../agent/hold/external/patch/patchedFiles.ts';
import type { PatchPart } from '../../../agent/hold/external/patch/patchParts.ts';
import { LeftOutError, type Places } from '../../../agent/hold/external/readForeign.ts';
import type { VsCodeWorkspace } from '../../workspace/workspace.ts';
import { isInside } from '../../../agent/base/system/realPath.ts';

export type PlacesWorkspace = Pick<VsCodeWorkspace, 'resolvePath' | 'pathOf' | 'uriOf' | 'folders'>;

/** Maps the files of a repository to paths in the workspace. */
export function repositoryPlaces(root: string, workspace: PlacesWorkspace): Places {
  return {
    resolve: async relative => {
      refuseNameless(relative);
      const file = path.join(root, relative);
      await refuseSubmodule(file, root);
      return workspace.resolvePath(file);
    },
    resolveLink: async relative => {
      refuseNameless(relative);
      const file = path.join(root, relative);
      await refuseSubmodule(file, root);
      return workspace.pathOf(file);
    },
    isLink: at => isLink(workspace.uriOf(at).fsPath),
  };
}

/** @throws PathError for bytes that are not text: VS Code could neither show nor open a file of this name. */
function refuseNameless(name: string): void {
  if (!isNameable(name)) throw new PathError('empty', `${shownName(name)} is not a file path.`);
}

/** The most parts of a patch whose files are looked for to find its repository. */
const MOST_PARTS = 100;

/**
 * The root that a patch is about: the first that has a file which the patch changes, else the first.
 * @param roots the likeliest first.
 */
export function rootOf(parts: readonly PatchPart[], roots: readonly string[]): string | undefined {
  const names = parts
    .slice(0, MOST_PARTS)
    .flatMap(part => ('from' in part ? [...part.from, ...part.to] : []));
  const has = (root: string): boolean => names.some(name => existsSync(path.join(root, name)));
  return (roots.length > 1 ? roots.find(has) : undefined) ?? roots[0];
}

/**
 * Maps the files of a patch to paths: below the root of the repository, if there is one, else below a workspace folder.
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
          await refuseSubmodule(file, base);
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

/** @throws LeftOutError for a file of a repository inside this one: it is not part of the review. */
async function refuseSubmodule(file: string, root: string): Promise<void> {
  const names = path.relative(root, path.dirname(file)).split(path.sep);
  for (let n = 1; n <= names.length && names[0] !== '' && names[0] !== '..'; n++) {
    const inner = path.join(root, ...names.slice(0, n), '.git');
    if (await succeeds(lstat(inner))) throw new LeftOutError('submodule');
  }
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    found => found.isSymbolicLink(),
    () => false,
  );
}
