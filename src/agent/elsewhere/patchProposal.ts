import { beginningOf } from '../base/cutText.ts';
import { changeOf, type FileChange, type TextSide } from '../preview/fileChange.ts';
import { MAX_FILE_BYTES, type Workspace } from '../preview/workspace.ts';
import { assertCanHoldFile, proposedSide, readText, sideToStore } from '../preview/textFile.ts';
import { fitHunks } from './fitHunks.ts';
import { Allowance, type Gathered, type LeftOut } from './gathered.ts';
import type { MalformedPart, PatchedFile, PatchHunk } from './parsePatch.ts';
import { LeftOutError, leftOutOf } from './readForeign.ts';

/** Where the files of a patch may be here. */
export interface PatchPlaces {
  /**
   * The workspace paths that a name may mean, the likeliest first; at least one.
   * @throws PathError if all of them are outside the workspace folders or git's own.
   */
  resolve(name: string): Promise<readonly string[]>;
  /** Whether a symbolic link stands at a workspace path. */
  isLink(path: string): Promise<boolean>;
}

/**
 * What a patch would make of the files here. A file that several parts of the patch change is changed by all of them, in
 * order, as in a series of patches.
 * @throws TooMuchError past the limits.
 */
export async function patchProposal(
  parts: readonly (PatchedFile | MalformedPart)[],
  workspace: Workspace,
  places: PatchPlaces,
): Promise<Gathered> {
  const proposal = new PatchProposal(workspace, places, new Allowance(parts.length));
  for (const part of parts) await proposal.add(part);
  return { changes: proposal.changes(), conflicts: [], leftOut: proposal.leftOut };
}

/** A file as the patch has changed it so far. */
interface Held {
  readonly original: TextSide | null;
  readonly now: TextSide | null;
  readonly mode?: number;
  /** The path of a file that was here and that the patch renamed to this one. */
  readonly from?: string;
}

class PatchProposal {
  readonly #workspace: Workspace;
  readonly #places: PatchPlaces;
  readonly #allowance: Allowance;
  readonly #held = new Map<string, Held>();
  readonly leftOut: LeftOut[] = [];

  constructor(workspace: Workspace, places: PatchPlaces, allowance: Allowance) {
    this.#workspace = workspace;
    this.#places = places;
    this.#allowance = allowance;
  }

  async add(part: PatchedFile | MalformedPart): Promise<void> {
    if (part.kind === 'malformed') {
      this.leftOut.push({ path: part.heading, why: 'malformed', detail: part.message });
      return;
    }
    const name = part.to[0] ?? part.from[0] ?? '';
    try {
      await this.#add(part);
    } catch (error) {
      this.leftOut.push(leftOutOf(name, error));
    }
  }

  /** The net effect on each file. A rename is one change. */
  changes(): readonly FileChange[] {
    const renamed = new Map<string, FileChange>();
    for (const [path, { from, now }] of this.#held) {
      const source = from === undefined ? undefined : this.#held.get(from);
      if (from !== undefined && source?.original && !source.now && now)
        renamed.set(path, { kind: 'rename', path, from, before: source.original, after: now });
    }
    const moved = new Set(
      [...renamed.values()].flatMap(change => (change.kind === 'rename' ? change.from : [])),
    );
    return [...this.#held].flatMap(([path, { original, now, mode }]) => {
      if (moved.has(path)) return [];
      const change = renamed.get(path) ?? changeOf(path, original, now);
      return change?.kind === 'create' && mode !== undefined ? { ...change, mode } : (change ?? []);
    });
  }

  async #add(part: PatchedFile): Promise<void> {
    if (part.isBinary) throw new LeftOutError('binary');
    for (const mode of [part.oldMode, part.newMode]) refuseMode(mode);
    switch (part.kind) {
      case 'modify':
        return this.#modify(part);
      case 'create':
        return this.#create(part);
      case 'delete': {
        const path = await this.#existing(part.from);
        await this.#whole(path, part.hunks, '');
        return this.#set(path, null);
      }
      case 'rename':
      case 'copy':
        return this.#move(part);
    }
  }

  async #modify({ from, to, hunks, oldMode, newMode }: PatchedFile): Promise<void> {
    const path = await this.#existing([...to, ...from]);
    if (oldMode !== undefined && newMode !== undefined && oldMode !== newMode)
      this.leftOut.push({ path, why: 'mode' });
    const side = this.#sideAt(path);
    const { text, rejected } = await fitHunks(side.text, hunks);
    if (rejected.length > 0) this.leftOut.push({ path, why: 'hunks', detail: textOfHunks(rejected) });
    if (text !== side.text) this.#set(path, sideToStore(path, text, side.encoding));
  }

  async #create({ to, hunks, newMode }: PatchedFile): Promise<void> {
    const path = await this.#firstPlace(to);
    const { text, rejected } = await fitHunks('', hunks);
    if (rejected.length > 0) throw new LeftOutError('hunks', textOfHunks(rejected));
    const now = this.#held.get(path)?.now;
    const made = await proposedSide(this.#workspace, path, null, text);
    if (now && now.text !== text && now.text !== made.text) throw new LeftOutError('exists');
    await assertCanHoldFile(this.#workspace, path);
    this.#set(path, now ?? made, newMode === '100755' ? { mode: 0o755 } : {});
  }

  async #move({ kind, from, to, hunks, oldMode, newMode }: PatchedFile): Promise<void> {
    const source = await this.#existing(from);
    const path = await this.#firstPlace(to);
    if (this.#held.get(path)?.now) throw new LeftOutError('exists');
    if (oldMode !== newMode) this.leftOut.push({ path, why: 'mode' });
    const side = this.#sideAt(source);
    const { text, rejected } = await fitHunks(side.text, hunks);
    if (rejected.length > 0) throw new LeftOutError('hunks', textOfHunks(rejected));
    await assertCanHoldFile(this.#workspace, path, kind === 'rename' ? source : undefined);
    if (kind === 'rename') this.#set(source, null);
    this.#set(path, sideToStore(path, text, side.encoding), kind === 'rename' ? { from: source } : {});
  }

  /** Checks that the hunks turn the whole file into this text. */
  async #whole(path: string, hunks: readonly PatchHunk[], expected: string): Promise<void> {
    const side = this.#sideAt(path);
    const { text, rejected } = await fitHunks(side.text, hunks);
    if (rejected.length > 0 || text !== expected) throw new LeftOutError('differs');
  }

  /**
   * The first of the places that these names may mean where a file is; it is then held.
   * @throws the refusal of a name, after which no other is tried: a longer one may lead elsewhere through `..`.
   */
  async #existing(names: readonly string[]): Promise<string> {
    for (const name of names)
      for (const path of await this.#places.resolve(name)) if ((await this.#read(path)).now) return path;
    throw new LeftOutError('missing');
  }

  /** The likeliest place of a new file. */
  async #firstPlace(names: readonly string[]): Promise<string> {
    const [name = ''] = names;
    const [path] = await this.#places.resolve(name);
    if (path === undefined) throw new LeftOutError('missing');
    await this.#read(path);
    return path;
  }

  async #read(path: string): Promise<Held> {
    let held = this.#held.get(path);
    if (!held) {
      if (await this.#places.isLink(path)) throw new LeftOutError('link');
      const original = await readText(this.#workspace, path);
      this.#allowance.add(original?.text.length ?? 0);
      held = { original, now: original };
      this.#held.set(path, held);
    }
    return held;
  }

  #sideAt(path: string): TextSide {
    const now = this.#held.get(path)?.now;
    if (!now) throw new LeftOutError('missing');
    return now;
  }

  #set(path: string, now: TextSide | null, more: Pick<Held, 'from' | 'mode'> = {}): void {
    this.#allowance.add(now?.text.length ?? 0);
    const { original = null, from, mode } = this.#held.get(path) ?? {};
    const known = { ...(from === undefined ? {} : { from }), ...(mode === undefined ? {} : { mode }) };
    this.#held.set(path, { original, now, ...(now ? known : {}), ...more });
  }
}

function refuseMode(mode: string | undefined): void {
  if (mode === '120000') throw new LeftOutError('link');
  if (mode === '160000') throw new LeftOutError('submodule');
}

/** How much of the hunks that do not fit is kept, in characters. */
const MAX_DETAIL = MAX_FILE_BYTES / 100;

function textOfHunks(hunks: readonly PatchHunk[]): string {
  const text = hunks.map(({ oldStart, lines }) => [`@@ -${oldStart} @@`, ...lines].join('\n')).join('\n');
  return text.length <= MAX_DETAIL ? text : `${beginningOf(text, MAX_DETAIL)}\n…`;
}
