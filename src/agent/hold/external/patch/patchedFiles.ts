import { changeOf, type FileChange, type TextSide } from '../../preview/fileChange.ts';
import { readText } from '../../preview/textFile.ts';
import type { Workspace } from '../../preview/workspace.ts';
import { isNameable } from '../fileNames.ts';
import type { Allowance } from '../gathered.ts';
import { LeftOutError } from '../readForeign.ts';
import type { PatchedFile } from './patchParts.ts';

/** Resolves the names in a patch to places here. */
export interface PatchPlaces {
  /**
   * The workspace paths that a name may mean, the likeliest first; at least one.
   * @throws PathError if all of them are outside the workspace folders or git's own.
   */
  resolve(name: string): Promise<readonly string[]>;
  /** Whether a symbolic link stands at a workspace path. */
  isLink(path: string): Promise<boolean>;
}

/** A file as the diffs so far have left it. */
export interface PatchedState {
  readonly original: TextSide | null;
  readonly now: TextSide | null;
  /** Whether it is executable; `undefined`: like the file at its path. */
  readonly isExecutable?: boolean | undefined;
  /** Path of a file here that the patch renamed to this one. */
  readonly from?: string | undefined;
}

/** A file as a diff leaves it. */
export interface MadeFile extends Pick<PatchedState, 'isExecutable' | 'from'> {
  readonly path: string;
  readonly side: TextSide;
}

/** The files that a patch touches: first as they are here, then as each of its diffs leaves them. */
export class PatchedFiles {
  readonly #workspace: Workspace;
  readonly #places: PatchPlaces;
  readonly #allowance: Allowance;
  readonly #states = new Map<string, PatchedState>();
  readonly #behind = new Set<string>();

  constructor(workspace: Workspace, places: PatchPlaces, allowance: Allowance) {
    this.#workspace = workspace;
    this.#places = places;
    this.#allowance = allowance;
  }

  /**
   * The first place that holds a file, among those that these names may mean.
   * @throws the refusal of a name, after which no other is tried: a longer one may lead elsewhere through `..`.
   */
  async existing(names: readonly string[]): Promise<readonly [path: string, side: TextSide]> {
    for (const name of names)
      for (const path of await this.#resolve(name)) {
        const { now } = await this.at(path);
        if (now) return [path, now];
      }
    throw new LeftOutError('missing');
  }

  /** The likeliest place of a new file. */
  async firstPlace(names: readonly string[]): Promise<string> {
    const [path] = await this.#resolve(names[0] ?? '');
    if (path === undefined) throw new LeftOutError('missing');
    return path;
  }

  #resolve(name: string): Promise<readonly string[]> {
    if (!isNameable(name)) throw new LeftOutError('path');
    return this.#places.resolve(name);
  }

  async at(path: string): Promise<PatchedState> {
    const known = this.#states.get(path);
    if (known) return known;
    if (await this.#places.isLink(path)) throw new LeftOutError('link');
    const original = await readText(this.#workspace, path);
    this.#allowance.add(original?.text.length ?? 0);
    const state = { original, now: original };
    this.#states.set(path, state);
    return state;
  }

  /** Whether the file at a path is executable. */
  async isExecutable(path: string): Promise<boolean> {
    const { isExecutable, original } = await this.at(path);
    return isExecutable ?? (original !== null && (await this.#isExecutableHere(path)));
  }

  async #isExecutableHere(path: string): Promise<boolean> {
    return (((await this.#workspace.placeOf(path)).mode ?? 0) & 0o111) !== 0;
  }

  async remove(path: string): Promise<void> {
    const { original } = await this.at(path);
    this.#states.set(path, { original, now: null });
  }

  async put({ path, side, ...more }: MadeFile): Promise<void> {
    this.#allowance.add(side.text.length);
    const { original, from, isExecutable } = await this.at(path);
    this.#states.set(path, { original, from, isExecutable, now: side, ...more });
  }

  /** Notes a part that was left out: its files do not hold the content that the next diff expects. */
  async leaveBehind({ from, to }: Pick<PatchedFile, 'from' | 'to'>): Promise<void> {
    for (const names of [from, to])
      try {
        const [path] = await this.existing(names);
        this.#behind.add(path);
      } catch {
        // There is no file that could be moved or copied later.
      }
  }

  /** Whether an earlier part about this file was left out. */
  isBehind(path: string): boolean {
    return this.#behind.has(path);
  }

  /** The net effect on each file. A rename is one change. */
  async changes(): Promise<readonly FileChange[]> {
    const moved = new Map<string, string>();
    for (const [path, { original, now, from }] of this.#states) {
      const source = from === undefined ? undefined : this.#states.get(from);
      const isRename = !original && now && source?.original && !source.now;
      if (isRename && from !== undefined && !moved.has(from)) moved.set(from, path);
    }
    const changes: (FileChange | undefined)[] = [];
    for (const [path, state] of this.#states)
      if (!moved.has(path)) changes.push(await this.#change(path, state, moved));
    return changes.filter(change => change !== undefined);
  }

  async #change(
    path: string,
    { original, now, from, isExecutable }: PatchedState,
    moved: ReadonlyMap<string, string>,
  ): Promise<FileChange | undefined> {
    const before = from !== undefined && moved.get(from) === path ? this.#states.get(from)?.original : null;
    if (from !== undefined && before && now) return { kind: 'rename', path, from, before, after: now };
    const change = changeOf(path, original, now);
    if (isExecutable === undefined || !now) return change;
    if (!original) return change?.kind === 'create' && isExecutable ? { ...change, mode: 0o755 } : change;
    if (isExecutable === (await this.#isExecutableHere(path))) return change;
    return { kind: 'modify', path, before: original, after: now, mode: isExecutable ? 0o755 : 0o644 };
  }
}
