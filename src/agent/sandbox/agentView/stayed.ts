import type { PlainTree } from '../view/plainTree.ts';

/** An ignored file or folder that a program wrote, which stays in the view. */
export interface Stayed {
  /** A workspace path. */
  readonly path: string;
  /** How many files of a folder were written; `undefined` for a file. */
  readonly files?: number;
}

/** The most files that are counted. */
const MAX_COUNTED = 100_000;
/** Most entries of a folder to look at while the program works. */
const MAX_LOOKED = 5_000;

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
 * The written files at a path of an upper tree.
 * @param relative empty for the tree itself
 * @param name a workspace path
 * @param since only later changes count, in milliseconds since 1970; 0 if the tree holds nothing else
 */
async function stayedAt(
  tree: PlainTree,
  relative: string,
  name: string,
  since: number,
): Promise<readonly Stayed[]> {
  let files = 0;
  for await (const at of writtenAt(tree, relative, since))
    if (at === relative) return [{ path: name }];
    else if (++files >= MAX_COUNTED) break;
  return files === 0 ? [] : [{ path: `${name}/`, files }];
}

/** What {@link stayedAt} finds for each, in order of the paths. */
export async function allStayed(
  places: readonly (readonly [tree: PlainTree, relative: string, name: string])[],
  since: number,
): Promise<readonly Stayed[]> {
  const found = await Promise.all(places.map(each => stayedAt(...each, since)));
  return found.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Whether {@link stayedAt} would find something. In a folder, only the first entries are looked at. */
export async function isWrittenAt(tree: PlainTree, relative: string, since: number): Promise<boolean> {
  const { done } = await writtenAt(tree, relative, since, MAX_LOOKED).next();
  return done !== true;
}

/** The files that were written at a path or below it. @param most entries that are looked at */
async function* writtenAt(
  tree: PlainTree,
  relative: string,
  since: number,
  most = Infinity,
): AsyncGenerator<string> {
  const kind = relative === '' ? 'folder' : (await tree.find(relative))?.kind;
  const isWritten = async (at: string): Promise<boolean> =>
    since === 0 || ((await tree.stat(at))?.ctimeMs ?? 0) > since;
  if ((kind === 'file' || kind === 'link') && (await isWritten(relative))) yield relative;
  if (kind !== 'folder') return;
  let looked = 0;
  const folders = [relative];
  for (const folder of folders)
    for await (const part of tree.parts(folder))
      for (const entry of part) {
        if (++looked > most) return;
        const at = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.kind === 'folder') folders.push(at);
        else if (entry.kind !== 'other' && (await isWritten(at))) yield at;
      }
}
