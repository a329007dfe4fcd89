import type { Memento } from 'vscode';
import { stringsIn } from '../../agent/base/json.ts';
import { coalesce } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { sha256 } from '../../agent/base/hash.ts';
import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import { isOpen, type Preview } from '../../agent/hold/preview/preview.ts';
import type { Agent } from '../agent.ts';
import type { HunksInView } from './hunksInView.ts';
import type { LineRange, ShownRevisions } from './shownRevisions.ts';

const KEY = 'redline.lookedAt';
/** The most marks that are stored; the oldest are dropped first. */
const MAX_STORED = 5_000;
/** How long new marks are collected before they are stored, in milliseconds. */
const STORE_MS = 500;

interface Seen {
  readonly change: FileChange;
  readonly before: FileChange | undefined;
}

/**
 * Knows which files of open previews the user has looked at: those whose hunks were all in view, each line for a second, and
 * those marked by hand. A mark is for the content shown: once a revision changes the file or the base of its proposal, the file
 * counts as not looked at. Marks help with the review; no decision depends on them.
 */
export class LookedAt extends Owner {
  readonly #logger: Logger;
  readonly #shown: ShownRevisions;
  readonly #memory: Memento | undefined;
  readonly #changed = new Emitter<readonly string[]>();
  /** By preview id. */
  readonly #marks: Map<string, Set<string>>;
  /**
   * By preview id and path: the last version looked at, and the one before. Texts are not stored: they last as long as the window.
   */
  readonly #seen = new Map<string, Map<string, Seen>>();
  readonly #storeSoon = coalesce(() => void this.flush(), STORE_MS);
  /** Hunks of the visible files that were in view long enough; loaded on first use. */
  #hunks: HunksInView | undefined;
  #loading: Promise<void> | undefined;
  #isStored = true;

  /** The user looked at something new in the previews with these ids. */
  readonly onDidChange: Event<readonly string[]> = this.#changed.event;

  /** @param memory keeps the marks for the next start of the window. Without it, they last as long as the window. */
  constructor({ store, logger }: Agent, shown: ShownRevisions, memory?: Memento) {
    super();
    this.#logger = logger;
    this.#shown = shown;
    this.#memory = memory;
    this.#marks = readMarks(memory?.get(KEY));
    for (const id of [...this.#marks.keys()]) {
      const preview = store.get(id);
      if (!preview || !isOpen(preview)) this.#forget(id);
    }
    this.own(store.onDidChange(preview => isOpen(preview) || this.#forget(preview.id)));
    this.own(shown.onDidShow(() => this.#note()));
    this.own({ dispose: () => this.#storeSoon.cancel() });
    this.#note();
  }

  /** @param change one of the preview's files. Absent for a preview without files. */
  has(preview: Preview, change?: FileChange): boolean {
    return this.#marks.get(preview.id)?.has(markOf(preview, change)) === true;
  }

  /** How many files of a preview were looked at. A preview without files counts as one. */
  count(preview: Preview): number {
    if (!this.#marks.has(preview.id)) return 0;
    if (!preview.changes) return this.has(preview) ? 1 : 0;
    return preview.changes.filter(change => this.has(preview, change)).length;
  }

  /**
   * The change to this file that the user saw before the present one, if it proposed other content. It stays the same until they
   * look at a later one.
   */
  seenBefore(preview: Preview, change: FileChange): FileChange | undefined {
    const seen = this.#seen.get(preview.id)?.get(change.path);
    const before =
      seen && markOf(preview, seen.change) === markOf(preview, change) ? seen.before : seen?.change;
    return before && before.after?.hash !== change.after?.hash ? before : undefined;
  }

  /** Marks a file, or all of a preview, as looked at. */
  mark(preview: Preview, path?: string): void {
    const all: readonly (FileChange | undefined)[] = preview.changes ?? [undefined];
    for (const change of all) if (path === undefined || change?.path === path) this.#add(preview, change);
    this.#mustStore();
    this.#changed.fire([preview.id]);
  }

  /** Stores unsaved marks. Never rejects. */
  async flush(): Promise<void> {
    this.#storeSoon.cancel();
    if (!this.#memory || this.#isStored) return;
    this.#isStored = true;
    try {
      await this.#memory.update(KEY, storedMarks(this.#marks));
    } catch (error) {
      this.#logger.error(`Storing what was looked at failed: ${detailOf(error)}`);
    }
  }

  #note(): void {
    const looked = new Set<string>();
    for (const { preview, change, lines } of this.#shown.visible()) {
      if (!isOpen(preview) || this.has(preview, change)) continue;
      if (change && lines && !this.#wasInView(`${preview.id} ${markOf(preview, change)}`, change, lines))
        continue;
      looked.add(preview.id);
      this.#add(preview, change);
    }
    this.#hunks?.endRound();
    if (looked.size === 0) return;
    this.#mustStore();
    this.#changed.fire([...looked]);
  }

  #add(preview: Preview, change: FileChange | undefined): void {
    if (change) this.#noteSeen(preview, change);
    const marks = this.#marks.get(preview.id) ?? new Set();
    this.#marks.set(preview.id, marks.add(markOf(preview, change)));
    const all = preview.changes ?? [undefined];
    if (marks.size <= all.length) return;
    // Marks of older revisions are dropped, so that a preview never has more marks than files.
    const current = new Set(all.map(one => markOf(preview, one)));
    for (const mark of marks) if (!current.has(mark)) marks.delete(mark);
  }

  #noteSeen(preview: Preview, change: FileChange): void {
    const files = this.#seen.get(preview.id) ?? new Map<string, Seen>();
    this.#seen.set(preview.id, files);
    const before = files.get(change.path)?.change;
    if (before && markOf(preview, before) === markOf(preview, change)) return;
    files.set(change.path, { change, before });
  }

  /** Whether all hunks were in view, each line for long enough. */
  #wasInView(key: string, change: FileChange, lines: readonly LineRange[]): boolean {
    if (this.#hunks) return this.#hunks.note(key, change, lines);
    this.#loading ??= import('./hunksInView.ts').then(({ HunksInView }) => {
      this.#hunks = this.own(new HunksInView(this.#logger, () => this.#note()));
      this.#note();
    });
    return false;
  }

  #forget(id: string): void {
    this.#seen.delete(id);
    if (this.#marks.delete(id)) this.#mustStore();
  }

  #mustStore(): void {
    this.#isStored = false;
    this.#storeSoon();
  }
}

const known = new WeakMap<FileChange, string>();

/** A key for the content of a diff. */
function markOf({ revision }: Preview, change: FileChange | undefined): string {
  if (!change) return `r${revision}`;
  let mark = known.get(change);
  if (mark === undefined) {
    const from = change.kind === 'rename' ? change.from : '';
    const shown = JSON.stringify([change.path, from, change.before?.hash, change.after?.hash]);
    mark = sha256(Buffer.from(shown)).slice(0, 16);
    known.set(change, mark);
  }
  return mark;
}

/** The newest marks, no more than may be stored. */
function storedMarks(marks: ReadonlyMap<string, ReadonlySet<string>>): Record<string, readonly string[]> {
  const stored: [string, readonly string[]][] = [];
  let left = MAX_STORED;
  for (const [id, ofPreview] of [...marks].reverse()) {
    if (left === 0) break;
    const kept = [...ofPreview].slice(-left);
    left -= kept.length;
    stored.push([id, kept]);
  }
  return Object.fromEntries(stored.reverse());
}

/** The marks that were stored. Anything in another form than this version stores is dropped. */
function readMarks(stored: unknown): Map<string, Set<string>> {
  const marks = new Map<string, Set<string>>();
  if (typeof stored !== 'object' || stored === null) return marks;
  for (const [id, value] of Object.entries(stored)) {
    const texts = stringsIn(value);
    if (texts.length > 0) marks.set(id, new Set(texts));
  }
  return marks;
}
