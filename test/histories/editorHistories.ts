import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { modify, remove } from '../support/changes.ts';
import { atRest, EditorWorld } from './editorWorld.ts';
import { restoredStore } from '../support/testSession.ts';

/**
 * Histories of an editor that becomes dirty, saves, reloads, reverts and closes at the wrong moment of an apply. Each preview
 * changes one word of a line, or deletes a file; each key adds a word of its own to a line.
 */

const LINES = 6;
const FILES = { 'a.txt': textOf('a'), 'b.txt': textOf('b') };
type Path = keyof typeof FILES;

function textOf(name: string): string {
  return Array.from({ length: LINES }, (_, n) => `${name}${n} old\n`).join('');
}

const path = fc.constantFrom<Path>('a.txt', 'a.txt', 'a.txt', 'b.txt');
const line = fc.nat(LINES - 1);
const at = fc.nat(5);
const deeds = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('stage' as const), line }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('stageDeletion' as const) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constantFrom('apply' as const), at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('undoApply' as const), at }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('key' as const), path, line }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('save' as const), path, overwrites: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'open' as const,
        'open' as const,
        'follow' as const,
        'follow' as const,
        'undo' as const,
        'revert' as const,
        'close' as const,
      ),
      path,
    }),
  },
);
const step = fc.record({ deed: deeds, then: fc.oneof(fc.constant('rest' as const), fc.nat(12)) });
type Deed = typeof deeds extends fc.Arbitrary<infer T> ? T : never;

export const history = fc.array(step, { maxLength: 25, size: 'max' });
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** A preview, and what it makes of its file: `a3 old` becomes `a3 n7`. */
interface Subject {
  readonly id: string;
  readonly path: Path;
  /** Undefined for a deletion. */
  readonly line?: number;
  /** A text that the file then has, or then has no longer. */
  readonly mark: string;
  readonly isThere: boolean;
}

class Played {
  readonly #world = new EditorWorld(FILES);
  readonly #subjects: Subject[] = [];
  /** Words that must be somewhere, and the lines that have had some. */
  readonly #due = new Set<string>();
  readonly #typedLines = new Set<string>();
  /** Marks that an undo in the editor brought or took away. */
  readonly #byUser = new Set<string>();
  #isDropped = false;
  #words = 0;

  async perform(deed: Deed): Promise<void> {
    const { editors, workspace } = this.#world;
    switch (deed.type) {
      case 'stage':
        return this.#stage(deed.line);
      case 'stageDeletion': {
        const text = workspace.now('b.txt');
        if (text === undefined) return;
        const id = this.#world.stage(remove('b.txt', text));
        this.#subjects.push({ id, path: 'b.txt', mark: 'b0', isThere: false });
        return;
      }
      case 'apply':
        return this.#apply(this.#in('pending')[deed.at]);
      case 'undoApply':
        return this.#undoApply(this.#in('applied')[deed.at]);
      case 'key': {
        const word = ` k${++this.#words};`;
        const start = `${deed.path[0]}${deed.line} `;
        if (editors.shown(deed.path)?.includes(start) !== true) return;
        this.#due.add(word);
        this.#typedLines.add(start);
        const atEnd = new RegExp(`^${start}.*$`, 'm');
        return editors.type(deed.path, text => text.replace(atEnd, whole => `${whole}${word}`));
      }
      case 'undo':
        return this.#byHand(deed.path, () => editors.undo(deed.path));
      case 'revert':
      case 'close':
        this.#isDropped ||= workspace.typed(deed.path) !== undefined;
        // Dropping what is unsaved takes the user's own words away; what was applied with them is told.
        return this.#byHand(deed.path, () => editors[deed.type](deed.path), false);
      case 'save':
        return editors.save(deed.path, deed.overwrites);
      case 'open':
      case 'follow':
        return editors[deed.type](deed.path);
    }
  }

  #stage(at: number): void {
    const text = this.#world.now('a.txt') ?? '';
    const mark = `a${at} n${++this.#words};`;
    const after = text.replace(new RegExp(`a${at} \\S+`), mark);
    if (after === text) return;
    const id = this.#world.stage(modify('a.txt', text, after));
    this.#subjects.push({ id, path: 'a.txt', line: at, mark, isThere: true });
  }

  #apply(id: string | undefined): void {
    if (id !== undefined) this.#world.apply(id).catch(() => undefined); // stale, or an editor holds what the disk does not
  }

  async #undoApply(id: string | undefined): Promise<void> {
    const subject = this.#subjects.find(each => each.id === id);
    if (id === undefined || subject?.isThere !== true) return;
    const undo = await this.#world.stageUndo(id);
    this.#subjects.push({ ...subject, id: undo, isThere: false });
    this.#apply(undo);
  }

  /** What the user does to a text that takes away or brings back what was in it. @param isEdit whether that is what was applied, too */
  #byHand(path: Path, act: () => void, isEdit = true): void {
    // An editor that has not read its file again shows something else.
    const before = [this.#world.now(path), this.#world.editors.shown(path)].map(text => text ?? '');
    act();
    const now = this.#world.editors.shown(path) ?? this.#world.now(path) ?? '';
    const isChanged = (word: string): boolean =>
      before.some(text => text.includes(word) !== now.includes(word));
    for (const word of this.#due) if (isChanged(word) && !now.includes(word)) this.#due.delete(word);
    for (const { mark } of this.#subjects) if (isEdit && isChanged(mark)) this.#byUser.add(mark);
  }

  #in(kind: 'pending' | 'applied'): readonly string[] {
    return this.#subjects.flatMap(({ id }) => (this.#world.store.get(id)?.state.kind === kind ? [id] : []));
  }

  /** Lets the editors follow and save what they hold. @returns what is not as it must be. */
  async end(): Promise<readonly string[]> {
    await atRest();
    const { editors } = this.#world;
    for (const path of Object.keys(FILES)) {
      editors.follow(path);
      await atRest();
      editors.save(path, true);
      await atRest();
      editors.save(path, true); // what was put into the editor after that
      await atRest();
    }
    return [
      ...this.#lostWords(),
      ...this.#subjects.flatMap(subject => this.#untruths(subject)),
      ...this.#untold(),
    ];
  }

  #lostWords(): readonly string[] {
    const now = Object.keys(FILES).map(path => this.#world.now(path) ?? '');
    const wasDeleted = this.#world.now('b.txt') === undefined;
    return [...this.#due].flatMap(word =>
      wasDeleted || now.some(text => text.includes(word)) ? [] : [`the key${word} is lost`],
    );
  }

  #untruths({ id, path, line: at, mark, isThere }: Subject): readonly string[] {
    const { store } = this.#world;
    const last = store.ledger().findLast(({ previewId }) => previewId === id);
    const state = store.get(id)?.state.kind;
    // What was written one on top of the other, and no editor has seen, is judged together.
    const lines = this.#subjects.flatMap(each => each.line ?? []);
    const isTouched = this.#subjects.some(each => each.mark !== mark && this.#byUser.has(each.mark));
    const isOfLines = last?.lost?.every(({ why }) => why === 'sameLines') === true;
    if (isOfLines && at !== undefined && !this.#isDropped && !isTouched) {
      const isNear = lines.some(each => [each - 1, each, each + 1].some(n => this.#typedLines.has(`a${n} `)));
      if (!isNear) return [`${id} is said not to have stayed, and nobody has touched its lines`];
    }
    if (last?.lost && state === 'applied') return [`${id} is applied, and its last entry takes that back`];
    if (last?.outcome !== 'applied') return [];
    if (state !== 'applied') return [`${id} is ${state}, and the ledger says that it is applied`];
    // Something later may have changed the same word again.
    const isLast =
      this.#subjects.findLast(each => each.line === at && each.path === path && this.#isApplied(each))?.id ===
      id;
    if (!isLast || this.#byUser.has(mark)) return [];
    const isIn = this.#world.now(path)?.includes(mark) === true;
    return isIn === isThere
      ? []
      : [`${id} is said to be applied, and ${mark} is ${isIn ? '' : 'not '}in ${path}`];
  }

  #isApplied({ id }: Subject): boolean {
    return this.#world.store
      .ledger()
      .some(({ previewId, outcome }) => previewId === id && outcome === 'applied');
  }

  /** What the log does not tell. */
  #untold(): readonly string[] {
    const again = restoredStore(this.#world.log);
    return isDeepStrictEqual(again.ledger(), this.#world.store.ledger())
      ? []
      : ['the log has another ledger'];
  }
}

/** Plays a history to its end. @returns what was not as it must be. */
export async function play(steps: History): Promise<readonly string[]> {
  const played = new Played();
  await played.perform({ type: 'open', path: 'a.txt' });
  for (const { deed, then } of steps) {
    await played.perform(deed);
    if (then === 'rest') await atRest();
    else for (let n = 0; n < then; n++) await Promise.resolve();
  }
  return played.end();
}
