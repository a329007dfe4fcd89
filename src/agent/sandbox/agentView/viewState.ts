import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { hasCode } from '../../base/errors.ts';
import { parsedJson } from '../../base/json.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';
import { removeTree } from '../view/entries.ts';
import { Layers } from '../view/layers.ts';
import { folderId } from '../view/openFolders.ts';
import { PlainTree } from '../view/plainTree.ts';
import type { Folders } from '../view/pathNames.ts';
import type { Layer } from '../view/upperTree.ts';
import { freezeFolder, type Freezing } from './frozenFolder.ts';
import { COPIES, placesIn } from './workCopy.ts';

const pathPair = z.object({ state: z.string(), at: z.string() });
const stateSchema = z.object({
  folders: z.array(z.object({ name: z.string(), fsPath: z.string() })),
  /** Ignored folders, each an overlay of its own. */
  ignored: z.array(z.object({ root: z.string(), state: z.string() })),
  shown: z.array(pathPair),
  readable: z.array(z.string()),
  foreign: z.array(z.string()),
  unreadable: z.array(z.string()),
  /** The folder beside the view with the working copies; none for an overlay. */
  copies: z.optional(z.string().check(z.regex(COPIES))),
  /** An address that answers as long as the view is being made. */
  maker: z.optional(z.string()),
  /** The identities of the copies and of the folder that holds them, see `FolderId`. */
  identities: z.optional(z.array(z.object({ at: z.string(), dev: z.string(), ino: z.string() }))),
  /** It is being removed. */
  isOver: z.optional(z.boolean()),
});

/** Persisted state needed to reopen a view. */
export type ViewState = z.infer<typeof stateSchema>;

/** The state of a view that holds nothing yet. */
export function newState(
  folders: Readonly<ViewState['folders']>,
  copies: ViewState['copies'],
  maker: ViewState['maker'],
): ViewState {
  const own = folders.map(({ name, fsPath }) => ({ name, fsPath }));
  return { folders: own, ignored: [], shown: [], readable: [], foreign: [], unreadable: [], copies, maker };
}

const STATE = 'view.json';

/** Another window may read it meanwhile. */
export async function writeState(storage: string, state: ViewState): Promise<void> {
  const draft = path.join(storage, `${STATE}.new`);
  await fs.writeFile(draft, JSON.stringify(state), { mode: 0o600 });
  await replaceFile(draft, path.join(storage, STATE));
}

/** @throws Error if there is none */
export async function readState(storage: string): Promise<ViewState> {
  return stateSchema.parse(JSON.parse(await fs.readFile(path.join(storage, STATE), 'utf8')));
}

/** See `AgentView.remove`. Its state goes last, so that another window knows the rest for what it is. */
export async function removeView(storage: string, state: ViewState): Promise<void> {
  if (!state.isOver) await writeState(storage, { ...state, isOver: true }).catch(() => undefined);
  const copies = copiesFolder(state, storage);
  if (copies !== undefined) await removeTree(copies);
  const parts = await fs.readdir(storage).catch(() => []);
  for (const each of parts.filter(name => name !== STATE)) await removeTree(path.join(storage, each));
  await removeTree(storage);
}

/**
 * The time at which the copies were complete, in milliseconds since 1970: only later changes are the program's. 0 for an overlay, which
 * holds nothing else.
 */
export async function writtenSince({ copies }: ViewState, storage: string): Promise<number> {
  return copies === undefined ? 0 : (await fs.stat(path.join(storage, STATE))).ctimeMs;
}

/** The stamps of the files of copies as they were made, by path. */
const STAMPS = 'stamps.json';
const stampsSchema = z.array(z.tuple([z.string(), z.string()]));

export function writeStamps(storage: string, stamps: ReadonlyMap<string, string>): Promise<void> {
  return fs.writeFile(path.join(storage, STAMPS), JSON.stringify([...stamps]), { mode: 0o600 });
}

export async function stampsOf(storage: string): Promise<readonly (readonly [at: string, stamp: string])[]> {
  const text = await fs.readFile(path.join(storage, STAMPS), 'utf8').catch(() => '[]');
  return stampsSchema.parse(parsedJson(text));
}

/** The folder with the working copies of a view; `undefined` for an overlay. */
export function copiesFolder({ copies }: ViewState, storage: string): string | undefined {
  return copies !== undefined ? path.join(path.dirname(storage), copies) : undefined;
}

export function copiesOf(state: ViewState, storage: string): readonly Folders[] {
  const folder = copiesFolder(state, storage);
  if (folder === undefined) return [];
  return placesIn(
    folder,
    new Layers(state.folders, storage).all.map(({ root }) => root),
  );
}

/** The path of a folder of the workspace for the program. */
export function rootOf({ copies }: ViewState, layer: Layer): string {
  return copies === undefined ? layer.root : layer.upper;
}

/** A tree of the view. A copy is known by its identity: the program could put a link to another folder in its place. */
export function treeOf({ identities }: ViewState, at: string): PlainTree {
  const id = identities?.find(each => each.at === at);
  return new PlainTree(at, id && { dev: BigInt(id.dev), ino: BigInt(id.ino) });
}

/** See `AgentView.isOver`. */
export async function isOver(state: ViewState, storage: string): Promise<boolean> {
  const copies = copiesFolder(state, storage);
  if (state.isOver === true || copies === undefined) return state.isOver === true;
  const left = await fs.readdir(copies, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  return !left.some(each => each.isDirectory());
}

export async function identitiesOf(state: ViewState, storage: string): Promise<ViewState['identities']> {
  const folder = copiesFolder(state, storage);
  if (folder === undefined) return undefined;
  const all = [folder, ...copiesOf(state, storage).map(({ copy }) => copy)];
  return Promise.all(
    all.map(async at => {
      const { dev, ino } = await folderId(at);
      return { at, dev: String(dev), ino: String(ino) };
    }),
  );
}

/** Copies a folder of the workspace, and makes the trees of its overlays. */
export async function makeLayer(
  { root, state: at }: Layer,
  limits: Freezing,
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
