import { posix } from 'node:path';
import * as vscode from 'vscode';
import { TimeSlice } from '../../agent/base/async.ts';
import type { FolderRoot } from '../../agent/hold/preview/workspace.ts';
import { readingsOf } from '../../agent/hold/text/glob.ts';
import { leadsInside } from '../../agent/session/tools/ast/scope/walk.ts';

/** How many matches of a glob are considered at most, before ignore files are applied. */
const MAX_FOUND = 50_000;

/**
 * The files of a folder that match a glob, without those that `files.exclude` hides; relative to the folder. VS Code follows
 * links: files that they lead to outside the folder, or of git's own, are left out.
 * @param isAll whether files that `files.exclude` hides count, too.
 * @returns also whether more may match than are looked at.
 */
export async function findIn(
  folder: FolderRoot & { readonly uri: vscode.Uri },
  glob: string,
  isAll: boolean,
  token: vscode.CancellationToken,
): Promise<{ readonly files: readonly string[]; readonly isCut: boolean }> {
  const found = await Promise.all(
    readingsOf(glob).map(each =>
      vscode.workspace.findFiles(
        new vscode.RelativePattern(folder.uri, each),
        isAll ? null : undefined,
        MAX_FOUND,
        token,
      ),
    ),
  );
  const prefix = folder.uri.path.endsWith('/') ? folder.uri.path : `${folder.uri.path}/`;
  const isOwn = new Map<string, boolean>();
  const slice = new TimeSlice();
  const own: string[] = [];
  for (const relative of new Set(found.flat().map(uri => uri.path.slice(prefix.length)))) {
    await slice.turn();
    const parent = posix.dirname(relative);
    const known = isOwn.get(parent) ?? leadsInside(folder.fsPath, parent);
    isOwn.set(parent, known);
    if (known && !/(^|\/)\.git(\/|$)/.test(relative)) own.push(relative);
  }
  return { files: own, isCut: found.some(({ length }) => length >= MAX_FOUND) };
}
