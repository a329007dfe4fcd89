import { ToolError } from '../../agent/base/errors.ts';
import type { FolderRoot } from '../../agent/hold/preview/workspace.ts';
import type { GitPlace } from '../../agent/session/tools/git/readGit.ts';
import { belowOpenFolder, locate, openFolderNamed } from './workspacePaths.ts';

/**
 * The folder in which git is asked about a path.
 * @throws PathError for a path outside the open folders, or of git's own.
 */
export function gitPlaceOf(path: string | undefined, folders: readonly FolderRoot[]): GitPlace {
  const named = openFolderNamed(path ?? '.', folders);
  if (named) return { folder: named.fsPath, name: named.name, relative: '.' };
  if (path === undefined) throw new ToolError('No folder is open, so there is no history to read.');
  const trimmed = path.replace(/(?<=[^/\\])[/\\]+$/, '');
  const { folder, relative } = locate(belowOpenFolder(trimmed, folders), folders);
  return { folder: folder.fsPath, name: folder.name, relative };
}
