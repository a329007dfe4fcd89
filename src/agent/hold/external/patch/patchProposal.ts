import { beginningOf } from '../../../base/cutText.ts';
import { assertCanHoldFile, proposedSide, sideToStore } from '../../preview/textFile.ts';
import type { TextSide } from '../../preview/fileChange.ts';
import { foldersAbove } from '../../preview/fileSteps.ts';
import { MAX_FILE_BYTES, type Workspace } from '../../preview/workspace.ts';
import { Allowance, type Gathered, type LeftOut } from '../gathered.ts';
import { LeftOutError, leftOutOf } from '../readForeign.ts';
import { fitFile, type FittedText } from './fitHunks.ts';
import { PatchedFiles, type MadeFile, type PatchPlaces } from './patchedFiles.ts';
import type { PatchedFile, PatchHunk, PatchPart } from './patchParts.ts';
import { diffsOf, unitsOf } from './series.ts';

/**
 * Changes that a patch would make to the files here, as `git apply` would, diff by diff. A part that does not fit is left out, and
 * so are those that only make sense with it.
 * @throws TooMuchError past the limits.
 */
export async function patchProposal(
  parts: readonly PatchPart[],
  workspace: Workspace,
  places: PatchPlaces,
): Promise<Gathered> {
  const files = new PatchedFiles(workspace, places, new Allowance(parts.length));
  const leftOut: LeftOut[] = [];
  for (const diff of diffsOf(parts)) {
    const effects: Effect[] = [];
    const outdated: PatchPart[] = [];
    for (const unit of unitsOf(diff)) {
      const read = await readUnit(unit, new Reader(files, workspace, unit));
      effects.push(...read.effects);
      leftOut.push(...read.leftOut);
      if (read.isLeftOut) outdated.push(...unit);
    }
    for (const { removes } of effects) if (removes !== undefined) await files.remove(removes);
    for (const { makes } of effects) if (makes) await files.put(makes);
    for (const part of outdated) if (part.kind !== 'unusable') await files.leaveBehind(part);
  }
  return { changes: await files.changes(), conflicts: [], leftOut };
}

/** The effect of one part of a diff on the files before it. */
interface Effect {
  /** Path of a file that no longer exists. */
  readonly removes?: string;
  readonly makes?: MadeFile;
  /** The parts left out. */
  readonly notes?: readonly LeftOut[];
}

interface UnitRead {
  readonly effects: readonly Effect[];
  readonly leftOut: readonly LeftOut[];
  /** Nothing of the unit is carried over. */
  readonly isLeftOut: boolean;
}

/** Reads parts that only make sense together: all or none. */
async function readUnit(unit: readonly PatchPart[], reader: Reader): Promise<UnitRead> {
  const effects: Effect[] = [];
  const failed = new Map<string, LeftOut>();
  for (const part of unit) {
    try {
      effects.push(await reader.effectOf(part));
    } catch (error) {
      const name = partName(part);
      failed.set(name, failed.get(name) ?? leftOutOf(name, error));
    }
  }
  if (failed.size === 0)
    return { effects, leftOut: effects.flatMap(({ notes = [] }) => notes), isLeftOut: false };
  const others = unit.map(partName).filter(name => !failed.has(name));
  return {
    effects: [],
    leftOut: [...failed.values(), ...[...new Set(others)].map(path => ({ path, why: 'together' as const }))],
    isLeftOut: true,
  };
}

function partName(part: PatchPart): string {
  return part.kind === 'unusable' ? part.heading : (part.to[0] ?? part.from[0] ?? '');
}

/** Computes the effects of the parts of a unit on the files as they were before their diff. */
class Reader {
  readonly #files: PatchedFiles;
  readonly #workspace: Workspace;
  readonly #isAlone: boolean;
  /** The names from which the unit removes files. */
  readonly #removed: ReadonlySet<string>;

  constructor(files: PatchedFiles, workspace: Workspace, unit: readonly PatchPart[]) {
    this.#files = files;
    this.#workspace = workspace;
    this.#isAlone = unit.length === 1;
    this.#removed = new Set(
      unit.flatMap(part => (part.kind === 'delete' || part.kind === 'rename' ? part.from : [])),
    );
  }

  /** @throws LeftOutError, ToolError or PathError for a part that cannot be carried */
  async effectOf(part: PatchPart): Promise<Effect> {
    if (part.kind === 'unusable') throw new LeftOutError(part.why, part.message);
    if (part.isBinary) throw new LeftOutError('binary');
    for (const mode of [part.oldMode, part.newMode]) refuseMode(mode);
    switch (part.kind) {
      case 'modify':
        return this.#modify(part);
      case 'create':
        return this.#create(part);
      case 'delete':
        return this.#delete(part);
      case 'rename':
      case 'copy':
        return this.#move(part);
    }
  }

  async #modify(part: PatchedFile): Promise<Effect> {
    const found = await this.#found(part);
    if (!found) return this.#create(part);
    const [path, side] = found;
    const notes: LeftOut[] = modesDiffer(part) ? [{ path, why: 'mode' }] : [];
    const fitted = await fitFile(side, part.hunks);
    if (fitted.rejected.length > 0) {
      if (!this.#isAlone) throw hunksLeftOut(fitted);
      notes.push({ path, why: 'hunks', detail: textOfHunks(fitted.rejected) });
    }
    const after = sideToStore(path, fitted.text, fitted.encoding);
    if (this.#isAlone && after.hash === side.hash) return { notes };
    return { makes: { path, side: after }, notes };
  }

  /** The file to modify; `undefined` if it is new: the patch does not say so, but its only hunk has no old lines. */
  async #found({ from, to, hunks }: PatchedFile): Promise<readonly [string, TextSide] | undefined> {
    try {
      return await this.#files.existing([...to, ...from]);
    } catch (error) {
      const isMissing = error instanceof LeftOutError && error.why === 'missing';
      const isNew = hunks.length === 1 && hunks.every(({ lines }) => !lines.some(line => /^[ -]/.test(line)));
      if (isMissing && isNew) return undefined;
      throw error;
    }
  }

  async #create({ to, hunks, newMode }: PatchedFile): Promise<Effect> {
    const path = await this.#files.firstPlace(to);
    const fitted = await fitFile({ text: '', encoding: NO_MARK }, hunks);
    if (fitted.rejected.length > 0) throw hunksLeftOut(fitted);
    const { now } = await this.#files.at(path);
    const made = await proposedSide(this.#workspace, path, null, fitted.text);
    const isSame = now && (now.text === fitted.text || now.text === made.text);
    if (now && !isSame && !this.#makesRoom(to)) throw new LeftOutError('exists');
    await this.#assertCanHold(path, to);
    const isExecutable = newMode === undefined ? {} : { isExecutable: newMode === '100755' };
    return { makes: { path, side: isSame ? now : made, ...isExecutable } };
  }

  async #delete({ from, hunks, isAnyContent }: PatchedFile): Promise<Effect> {
    const [path, side] = await this.#files.existing(from);
    const { text, rejected } = await fitFile(side, hunks);
    const isWhole = isAnyContent === true || (rejected.length === 0 && text === '');
    if (!isWhole) throw new LeftOutError('differs');
    return { removes: path };
  }

  async #move(part: PatchedFile): Promise<Effect> {
    const { kind, from, to, hunks, newMode } = part;
    const [source, side] = await this.#files.existing(from);
    if (this.#files.isBehind(source)) throw new LeftOutError('together');
    const path = await this.#files.firstPlace(to);
    const { now } = await this.#files.at(path);
    if (now && !this.#makesRoom(to)) throw new LeftOutError('exists');
    const fitted = await fitFile(side, hunks);
    if (fitted.rejected.length > 0) throw hunksLeftOut(fitted);
    await this.#assertCanHold(path, to);
    const after = sideToStore(path, fitted.text, fitted.encoding);
    const isExecutable =
      newMode === undefined || !modesDiffer(part)
        ? await this.#files.isExecutable(source)
        : newMode === '100755';
    const makes = { path, side: after, isExecutable };
    if (kind === 'copy') return { makes };
    const { original, from: earlier } = await this.#files.at(source);
    const notes: LeftOut[] = modesDiffer(part) && !now ? [{ path, why: 'mode' }] : [];
    return { removes: source, makes: { ...makes, from: original ? source : (earlier ?? source) }, notes };
  }

  #makesRoom(names: readonly string[]): boolean {
    return names.some(name => this.#removed.has(name));
  }

  /** A file that is removed may make room for a folder. */
  async #assertCanHold(path: string, names: readonly string[]): Promise<void> {
    for (const name of names.flatMap(foldersAbove)) {
      if (!this.#removed.has(name)) continue;
      const [room] = await this.#files.existing([name]);
      return assertCanHoldFile(this.#workspace, path, room);
    }
    return assertCanHoldFile(this.#workspace, path);
  }
}

/** A new file in a patch has its byte order mark in its first line. */
const NO_MARK = { name: 'utf8', bom: false } as const;

function modesDiffer({ oldMode, newMode }: PatchedFile): boolean {
  return oldMode !== undefined && newMode !== undefined && oldMode !== newMode;
}

function refuseMode(mode: string | undefined): void {
  if (mode === '120000') throw new LeftOutError('link');
  if (mode === '160000') throw new LeftOutError('submodule');
}

function hunksLeftOut({ rejected }: FittedText): LeftOutError {
  return new LeftOutError('hunks', textOfHunks(rejected));
}

/** The most text of rejected hunks that is kept, in characters. */
const MAX_DETAIL = MAX_FILE_BYTES / 100;

function textOfHunks(hunks: readonly PatchHunk[]): string {
  const heads = ({ oldStart, below = [] }: PatchHunk): readonly string[] =>
    oldStart === undefined ? below.map(line => `@@ ${line}`) : [`@@ -${oldStart} @@`];
  const text = hunks.map(hunk => [...heads(hunk), ...hunk.lines].join('\n')).join('\n');
  return text.length <= MAX_DETAIL ? text : `${beginningOf(text, MAX_DETAIL)}\n…`;
}
