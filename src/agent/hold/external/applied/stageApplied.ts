import { lstat, readFile, readlink } from 'node:fs/promises';
import * as path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hasCode } from '../../../base/errors.ts';
import { sha256 } from '../../../base/hash.ts';
import { standingOf, type LandedText } from '../../preview/commit/landed/standing.ts';
import { withLineFeeds } from '../../text/lines.ts';
import {
  bytesOfSide,
  hashOfLink,
  isText,
  sideOfBytes,
  type FileChange,
  type TextSide,
} from '../../preview/fileChange.ts';
import { stepsOf } from '../../preview/fileSteps.ts';
import { encodeText } from '../../text/encodings.ts';
import type { LeftOut } from '../gathered.ts';
import type { Git } from '../git.ts';
import { changesIn, placeIn, type AppliedFiles, type Placed } from './appliedChanges.ts';
import { contentOf, stagedEntries, store, unstagedPaths, update, type StagedEntry } from './gitIndex.ts';

export interface Staged {
  /** Paths in the repository. */
  readonly paths: readonly string[];
  /** The previews that changed them. */
  readonly previewIds: readonly string[];
  /** Files with applied changes that are neither staged nor committed. */
  readonly left: readonly LeftOut[];
}

/**
 * Stages applied changes that the files still hold and git lacks. In a file with other changes it stages only the applied ones.
 * It leaves out a file in which it cannot tell them apart.
 * @throws ToolError with git's message; then nothing is staged.
 */
export async function stageApplied(files: AppliedFiles): Promise<Staged> {
  const { git } = files;
  const differs = await unstagedPaths(git.program);
  const all = await changesIn(files);
  const changes = all.filter(({ change }) => pathsOf(change).some(at => differs.has(at)));
  const paths = new Set(changes.flatMap(({ change }) => pathsOf(change)));
  const index = await stagedEntries(git.program, paths);
  const staging = new Staging(git, index);
  for (const each of joined(changes.map(({ change }) => change))) await staging.add(each);

  const unsaved = new Set(await Promise.all(files.unsaved.map(file => placeIn(git.root, file))));
  const entries = new Map<string, Entry>();
  const left = new Map<string, LeftOut['why']>();
  for (const at of paths) {
    if (!differs.has(at)) continue;
    const entry = unsaved.has(at) ? 'unsaved' : await staging.entryAt(at);
    if (typeof entry === 'string') left.set(at, entry);
    else if (entry !== undefined) entries.set(at, entry);
  }
  // Git has been asked about each file, during which somebody else may have staged one.
  const now = await stagedEntries(git.program, paths);
  for (const at of entries.keys()) if (!isDeepStrictEqual(now.get(at), index.get(at))) left.set(at, 'staged');
  // Both names of a renamed file, or neither.
  for (const { change } of changes)
    if (pathsOf(change).some(at => left.has(at))) for (const at of pathsOf(change)) entries.delete(at);
  await update(git.program, entries);
  const isStaged = ({ change }: Placed): boolean => pathsOf(change).some(at => entries.has(at));
  return {
    paths: [...entries.keys()],
    previewIds: [...new Set(changes.filter(isStaged).map(({ id }) => id))],
    left: [...left].map(([at, why]) => ({ path: at, why })),
  };
}

type Entry = Pick<StagedEntry, 'mode' | 'object'> | null;

/** A file on disk, or a link there. */
interface OnDisk {
  readonly hash: string;
  readonly bytes: Uint8Array;
  readonly mode: string;
}

/** Adds changes to the texts that are staged. In all texts here, lines end with a line feed. */
class Staging {
  readonly #git: Git;
  readonly #index: ReadonlyMap<string, StagedEntry>;
  /** The staged text with the changes; `null` without a file, `undefined` where the changes do not fit, or it is not text. */
  readonly #texts = new Map<string, string | null | undefined>();
  readonly #changes = new Map<string, FileChange[]>();

  constructor(git: Git, index: ReadonlyMap<string, StagedEntry>) {
    this.#git = git;
    this.#index = index;
  }

  /** Adds consecutive changes of a file, unless the file has lost them. */
  async add({ net, parts }: Joined): Promise<void> {
    if (!(await this.#isHeld(net))) return;
    const { path: at } = net;
    for (const each of pathsOf(net)) this.#changes.set(each, [...(this.#changes.get(each) ?? []), net]);
    const from = fromOf(net);
    const base = this.#texts.has(from) ? this.#texts.get(from) : await this.#stagedText(from);
    if (from !== at) this.#texts.set(from, null);
    let text = base;
    for (const part of parts)
      // Git already has the created file, and maybe later changes, too.
      if (part.before || !text) text = await withChange(text, part);
    this.#texts.set(at, text === undefined ? await withChange(base, net) : text);
  }

  /** The new entry of a path, the reason why it has none, or `undefined` if it needs none. */
  async entryAt(at: string): Promise<Entry | LeftOut['why'] | undefined> {
    const { program, root } = this.#git;
    if (this.#index.get(at)?.isUnmerged === true) return 'merging';
    const changes = this.#changes.get(at);
    if (!changes?.[0]) return 'changed';
    const disk = await onDisk(root, at);
    const text = this.#texts.get(at);
    if (!disk && text !== null) return 'changed';
    if (!disk) return this.#index.has(at) ? null : undefined;
    const whole = (): Promise<Entry | 'converted'> =>
      store(program, disk.bytes, disk.mode === '120000' ? undefined : at).then(
        object => ({ mode: disk.mode, object }),
        () => 'converted', // a filter fails
      );
    const shown = linesOf(disk.bytes);
    const origin = fromOf(changes[0]);
    const [index, staged] = [this.#index.get(origin), await this.#stagedText(origin)];
    if (text === undefined) return (await this.#isAllOf(at, changes, disk)) ? whole() : 'overlaps';
    if (text === shown && (text !== staged || changes.some(change => 'mode' in change))) return whole();
    if (text === staged && origin === at) return undefined;
    if (text === null || typeof staged !== 'string' || shown === undefined || !index) return 'changed';
    if ((await standingOf({ before: staged, after: text }, shown)).kind !== 'held') return 'changed';
    const bytes = await this.#asStaged(index, text);
    return bytes ? { mode: index.mode, object: await store(program, bytes) } : 'converted';
  }

  /** Whether the file still holds a change. */
  async #isHeld({ path: at, before, after }: FileChange): Promise<boolean> {
    const disk = await onDisk(this.#git.root, at);
    if (!after || !disk || disk.hash === after.hash) return (after?.hash ?? null) === (disk?.hash ?? null);
    const shown = linesOf(disk.bytes);
    if (!before || !isText(before) || !isText(after) || shown === undefined) return false;
    return (await standingOf(sidesOf(before, after), shown)).kind === 'held';
  }

  /** Whether the changes are the whole difference between the index and the file, which git may store in another form. */
  async #isAllOf(at: string, changes: readonly FileChange[], disk: OnDisk): Promise<boolean> {
    const [first, last] = [changes[0], changes.at(-1)];
    if (last?.after?.hash !== disk.hash) return false;
    const index = this.#index.get(first ? fromOf(first) : at);
    if (!first?.before) return index === undefined;
    if (!isText(first.before)) return index !== undefined;
    return (await store(this.#git.program, bytesOfSide(first.before), at)) === index?.object;
  }

  async #stagedText(at: string): Promise<string | null | undefined> {
    const index = this.#index.get(at);
    if (!index) return null;
    return index.mode.startsWith('100')
      ? linesOf(await contentOf(this.#git.program, index.object))
      : undefined;
  }

  /** The text in the encoding and with the line endings of the staged version; `undefined` if these differ from line to line. */
  async #asStaged({ object }: StagedEntry, text: string): Promise<Uint8Array | undefined> {
    const side = sideOfBytes(await contentOf(this.#git.program, object));
    if (!side) return undefined;
    const isCrlf = side.text.includes('\r\n');
    if (isCrlf ? /(^|[^\r])\n/.test(side.text) : side.text.includes('\r')) return undefined;
    return encodeText(isCrlf ? text.replaceAll('\n', '\r\n') : text, side.encoding);
  }
}

function pathsOf(change: FileChange): readonly string[] {
  return stepsOf(change).map(step => step.path);
}

function fromOf(change: FileChange): string {
  return change.kind === 'rename' ? change.from : change.path;
}

function sidesOf(before: TextSide, after: TextSide): LandedText {
  return { before: withLineFeeds(before.text), after: withLineFeeds(after.text) };
}

function linesOf(bytes: Uint8Array): string | undefined {
  const side = sideOfBytes(bytes);
  return side && withLineFeeds(side.text);
}

/** The staged text with a change applied; `undefined` where it does not fit. */
async function withChange(
  base: string | null | undefined,
  { before, after }: FileChange,
): Promise<string | null | undefined> {
  if (!after) return null;
  if (base === undefined || !isText(after)) return undefined;
  // A file that was announced with `git add --intent-to-add` is empty.
  if (!before) return base === null || base === '' ? withLineFeeds(after.text) : undefined;
  if (base === null || !isText(before)) return undefined;
  const standing = await standingOf(sidesOf(before, after), base);
  if (standing.kind === 'held') return base;
  return standing.kind === 'absent' ? standing.completed : undefined;
}

/** Consecutive changes of one file, and their net effect. */
interface Joined {
  readonly net: FileChange;
  readonly parts: readonly FileChange[];
}

/** Joins consecutive changes: where two change the same lines, the file has only the second. */
function joined(changes: readonly FileChange[]): readonly Joined[] {
  const last = new Map<string, number>();
  const all: Joined[] = [];
  for (const change of changes) {
    const n = last.get(change.path) ?? -1;
    const earlier = all[n];
    if (change.kind === 'modify' && earlier?.net.after?.hash === change.before.hash)
      all[n] = {
        net: { ...earlier.net, after: change.after } as FileChange,
        parts: [...earlier.parts, change],
      };
    else last.set(change.path, all.push({ net: change, parts: [change] }) - 1);
  }
  return all;
}

async function onDisk(root: string, at: string): Promise<OnDisk | undefined> {
  const file = path.join(root, at);
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink()) {
      const target = await readlink(file);
      return { hash: hashOfLink(target), bytes: Buffer.from(target), mode: '120000' };
    }
    if (!found.isFile()) return undefined;
    const bytes = await readFile(file);
    return { hash: sha256(bytes), bytes, mode: (found.mode & 0o100) === 0 ? '100644' : '100755' };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
