import type { PlainTree } from '../view/plainTree.ts';

/** Something that git ignores and a program has written, which stays in the view. */
export interface Stayed {
  /** A workspace path. */
  readonly path: string;
  /** How many files of a folder were written; `undefined` for a file. */
  readonly files?: number;
}

/** The most files that are counted. */
const MAX_COUNTED = 100_000;

/** Settings of one machine, which git ignores and people keep, such as `.env` and `app.local.json`. */
const LOCAL_SETTINGS = /(?:^|\/)(?:\.env(?:\.[^/]*)?|[^/]+\.local(?:\.[^/]*)?)$/;
/** The largest file of settings, in bytes. */
const MAX_SETTINGS_BYTES = 64 * 1024;

/** Small files of settings that existed before the program wrote them: the person may want its changes. */
export async function localSettings(
  ignored: readonly string[],
  frozen: PlainTree,
  view: PlainTree,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const each of ignored) {
    if (!LOCAL_SETTINGS.test(each)) continue;
    const sides = [await frozen.find(each), await view.find(each)];
    if (sides.every(side => side?.kind === 'file' && side.size <= MAX_SETTINGS_BYTES)) found.push(each);
  }
  return found;
}

/**
 * The entry at a path of an upper tree.
 * @param relative empty for the tree itself
 * @param name a workspace path
 * @param since files changed later were written, in milliseconds since 1970
 */
export async function stayedAt(
  tree: PlainTree,
  relative: string,
  name: string,
  since: number,
): Promise<readonly Stayed[]> {
  const kind = relative === '' ? 'folder' : (await tree.find(relative))?.kind;
  const isWritten = async (at: string): Promise<boolean> =>
    since === 0 || ((await tree.stat(at))?.ctimeMs ?? 0) > since;
  if (kind === 'file' || kind === 'link') return (await isWritten(relative)) ? [{ path: name }] : [];
  if (kind !== 'folder') return [];
  let files = 0;
  const folders = [relative];
  for (const folder of folders)
    for await (const part of tree.parts(folder))
      for (const entry of part)
        if (files >= MAX_COUNTED) break;
        else {
          const at = folder === '' ? entry.name : `${folder}/${entry.name}`;
          if (entry.kind === 'folder') folders.push(at);
          else if (entry.kind !== 'other' && (await isWritten(at))) files++;
        }
  return files === 0 ? [] : [{ path: `${name}/`, files }];
}
