import { decodeText } from '../../../text/encodings.ts';
import { isText, type FileSide, type FileStep } from '../../fileChange.ts';
import type { LostWhy } from '../../ledger.ts';
import type { WrittenTo } from '../../workspace.ts';
import { hashOf, type Held } from '../held.ts';
import type { DocumentEvent, OpenDocument } from './editors.ts';
import { withLineFeeds } from '../../../text/lines.ts';
import { landedText, standingOf, type LandedText } from './standing.ts';

/** State of one document since the file was written. */
interface Followed {
  /** It held the change once: if it lacks some of it now, a person removed that. */
  isHeld: boolean;
  /** It had the change, and a person undid it. */
  isTakenAway: boolean;
  wasDirty: boolean;
  /** It was saved after it last was dirty. */
  isSaved: boolean;
  /** It was saved at any time. */
  wasSaved: boolean;
  isClosed: boolean;
  /** Its unsaved changes were dropped: its text came from the file while it was dirty. */
  isReverted: boolean;
  /** Its state in the last event. */
  last: { readonly text: string; readonly isDirty: boolean } | undefined;
  /** Its text when it last was clean, as far as that is known. */
  read: string | undefined;
  /** What that was, once this was known. */
  base?: Base;
}

/**
 * `open`: an editor may still save something else. `dropped`: what was unsaved in the editor was dropped, with any earlier changes;
 * this one was an undo, so that the file is as if it had been written, or a person had undone it there.
 */
type Finding = 'open' | End;
type End = 'stays' | 'dropped' | LostWhy;

/** What an editor may have read last: the content before the change, or before earlier ones that it has missed. */
interface Base {
  readonly side: FileSide | null;
  /** The change from there. Read only once an editor has the file open: a commit of thousands of files would read them all. */
  texts?: { readonly text: LandedText | undefined };
}

/**
 * Follows one file after its change was written, until no editor can overwrite it by itself: an editor that becomes dirty
 * before it has reloaded the file would save its old text. The change goes into such an editor.
 */
export class LandedFile {
  /** With earlier changes that an editor may have missed. */
  readonly step: FileStep;
  /** The content before the change, and before those that may have been missed, oldest first. */
  readonly #own: Base;
  readonly #missed: readonly Base[];
  /** What the follower of those knows. */
  readonly #known: ReadonlyMap<OpenDocument, Followed> | undefined;
  readonly #read: () => Promise<Held>;
  readonly #end: (finding: End, hasMissed: boolean) => void;
  readonly #documents = new Map<OpenDocument, Followed>();
  #isEnded = false;
  /** How many commits are about to write the file, and have not: its own and others. */
  #pauses = 1;
  #isLooking = false;
  #mustLookAgain = false;
  /** No document that was read before the write can appear any more. */
  #isLate = false;

  /**
   * @param missed the follower of earlier changes that an editor with the file open has not had yet.
   * @param read reads the content of the file.
   * @param end called once; `hasMissed` if the editor has missed the earlier changes, too.
   */
  constructor(
    step: FileStep,
    missed: LandedFile | undefined,
    read: () => Promise<Held>,
    end: (finding: End, hasMissed: boolean) => void,
  ) {
    const { path, before, after } = step;
    this.step = missed ? { path, before: missed.step.before, after } : step;
    this.#own = { side: before };
    this.#missed = (missed ? [...missed.#missed, missed.#own] : [])
      .filter(({ side }) => side?.hash !== after?.hash)
      .map(({ side }) => ({ side }));
    this.#known = missed ? missed.#documents : undefined;
    this.#read = read;
    this.#end = end;
  }

  /** Whether an editor with the file open has not had the change yet. */
  get isUnseen(): boolean {
    return !this.#isEnded && [...this.#documents.values()].some(({ isHeld }) => !isHeld);
  }

  /** The write has ended. @param documents those that are open */
  begin(to: WrittenTo, documents: readonly OpenDocument[]): void {
    for (const document of documents) this.#note(document, 'changed');
    if (to === 'editor') this.#noteInEditor();
    this.resume();
  }

  /** The change went into an editor with unsaved changes. If there is none any more, they were dropped at that moment. */
  #noteInEditor(): void {
    const all = [...this.#documents];
    const isGone = all.every(([{ isDirty }, { isSaved }]) => !isDirty && !isSaved);
    for (const [{ isDirty }, followed] of all) {
      followed.isHeld ||= isDirty || isGone;
      if (isGone) followed.isReverted = followed.wasDirty = true;
    }
  }

  /** Something happened to one of its documents. */
  note(document: OpenDocument, event: DocumentEvent): void {
    this.#note(document, event);
    this.#look();
  }

  /** From now on, every document that is opened reads the written text. */
  noteLate(): void {
    this.#isLate = true;
    this.#look();
  }

  /** Another commit is about to write the file, and the outcome of this one depends on it. */
  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
    this.#look();
  }

  /** The file was not written. */
  abandon(): void {
    this.#isEnded = true;
  }

  /**
   * Another commit has written the file, whose follower takes over this change if it was there.
   * @param found the content that the other commit found
   */
  async handOver(found: FileSide | null): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const all = [...this.#documents];
    const dropped = all.find(([, followed]) => followed.isHeld && isDropped(followed));
    if (dropped?.[1].isTakenAway === true) return this.#finish('dropped', undefined);
    // The editor has not had the change, and the other commit went into that or on top of what it saved.
    const [, followed] =
      dropped ??
      all.find(
        ([{ isDirty }, { isHeld, isClosed, isSaved }]) => !isHeld && (isSaved || (isDirty && !isClosed)),
      ) ??
      [];
    const base = followed && this.#baseOf(followed);
    const text = base && this.#textOf(base);
    const standing = text && found && isText(found) && (await standingOf(text, withLineFeeds(found.text)));
    if (!standing || standing.kind === 'held') return;
    this.#finish(dropped ? 'notSaved' : standing.kind === 'overlaps' ? 'sameLines' : 'savedOver', base);
  }

  #note(document: OpenDocument, event: DocumentEvent): void {
    const followed = this.#documents.get(document) ?? {
      isHeld: false,
      isTakenAway: false,
      wasDirty: false,
      isSaved: false,
      wasSaved: false,
      isClosed: false,
      isReverted: false,
      last: undefined,
      read: this.#known?.get(document)?.read,
    };
    this.#documents.set(document, followed);
    followed.wasDirty ||= document.isDirty || event === 'saved';
    const { text, isDirty } = document;
    // A keystroke makes it dirty, and a save leaves its text as it is.
    if (followed.last?.isDirty === true && !isDirty && followed.last.text !== text)
      followed.isReverted = true;
    followed.last = { text, isDirty };
    if (!isDirty) followed.read = text;
    if (event === 'saved') followed.isSaved = followed.wasSaved = true;
    if (event === 'closed') followed.isClosed = true;
  }

  #look(): void {
    if (this.#isEnded || this.#pauses > 0) return;
    if (this.#isLooking) return void (this.#mustLookAgain = true);
    this.#isLooking = true;
    void this.#findings()
      .catch(() => ['stays'] as const) // the file cannot be read: nobody can tell
      .then(([finding, base]) => {
        this.#isLooking = false;
        if (this.#isEnded || this.#pauses > 0) return;
        const again = this.#mustLookAgain;
        this.#mustLookAgain = false;
        if (finding !== 'open') this.#finish(finding, base);
        else if (again) this.#look();
      });
  }

  #finish(finding: End, base: Base | undefined): void {
    this.#isEnded = true;
    this.#end(finding, base !== this.#own);
  }

  async #findings(): Promise<readonly [Finding, Base?]> {
    let isOpen = this.#documents.size === 0 && !this.#isLate;
    for (const [document, followed] of [...this.#documents]) {
      const base = this.#baseOf(followed);
      const text = this.#textOf(base);
      const finding = await (text
        ? this.#findText(text, document, followed)
        : this.#findBytes(document, followed));
      if (this.#mustLookAgain || finding === 'open') isOpen = true;
      else if (finding !== 'stays') return [finding, base];
    }
    return [isOpen ? 'open' : 'stays'];
  }

  /** What the editor has read last; if nobody knows, it may have missed all that one may have missed. */
  #baseOf(followed: Followed): Base {
    const all = [...this.#missed, this.#own];
    const read = all.findLast(({ side }) => isTextOf(side, followed.read));
    return (followed.base = read ?? followed.base ?? this.#missed[0] ?? this.#own);
  }

  #textOf(base: Base): LandedText | undefined {
    return (base.texts ??= { text: landedText({ ...this.step, before: base.side }) }).text;
  }

  async #findText(text: LandedText, document: OpenDocument, followed: Followed): Promise<Finding> {
    const shown = document.text;
    const standing = await standingOf(text, shown);
    if (document.text !== shown) return 'open'; // its event comes, or has come
    const wasDropped = followed.isHeld && isDropped(followed) && !followed.wasSaved;
    if (standing.kind === 'held') {
      followed.isHeld = true;
      followed.isTakenAway = false;
      followed.isReverted = false;
    } else if (followed.isReverted && followed.isHeld && !followed.isClosed) {
      return followed.isTakenAway ? 'dropped' : 'notSaved';
    } else if (document.isDirty && !followed.isClosed) {
      if (followed.isHeld) followed.isTakenAway = standing.kind === 'absent';
      else if (standing.kind === 'overlaps') return 'sameLines';
      else followed.isHeld = await document.replace(shown, standing.completed);
    }
    if (document.isDirty && !followed.isClosed) {
      followed.isSaved = false;
      return 'open';
    }
    if (followed.wasDirty) {
      const finding = await this.#findSaved(text, document, followed, standing.kind === 'held');
      return finding === 'stays' && wasDropped ? 'dropped' : finding;
    }
    return followed.isHeld || followed.isClosed ? 'stays' : 'open';
  }

  /** Checks the file once a dirty document is saved, reverted or closed. */
  async #findSaved(
    text: LandedText,
    document: OpenDocument,
    followed: Followed,
    isShown: boolean,
  ): Promise<Finding> {
    const saved = await this.#textOnDisk();
    if (saved === undefined) return 'stays'; // someone has removed it since, or made something else of it
    const { isHeld, isTakenAway, isSaved, isClosed } = followed;
    const standing = await standingOf(text, saved);
    // An editor with everything undone is clean, and has still not reloaded the file.
    if (standing.kind === 'held') return isShown || isTakenAway || isClosed ? 'stays' : 'open';
    if (isShown && !isClosed && document.text !== saved) {
      // It was saved as it was before it got the change. VS Code then reports it as clean, although it is not.
      followed.isSaved = false;
      return 'open';
    }
    if (isHeld) return isSaved || isTakenAway ? 'stays' : 'notSaved';
    if (isClosed) return 'savedOver';
    if (standing.kind === 'overlaps') return 'sameLines';
    if (document.text === saved) followed.isHeld = await document.replace(saved, standing.completed);
    return 'open';
  }

  async #findBytes(document: OpenDocument, followed: Followed): Promise<Finding> {
    const { after } = this.step;
    if (after && isText(after) && document.text === withLineFeeds(after.text)) followed.isHeld = true;
    if (followed.isSaved && (!document.isDirty || followed.isClosed)) {
      if (hashOf(await this.#read()) !== (after?.hash ?? null)) return 'savedOver';
      followed.isSaved = false; // before the file was written
    }
    if (followed.isClosed) return 'stays';
    return followed.isHeld && !document.isDirty ? 'stays' : 'open';
  }

  async #textOnDisk(): Promise<string | undefined> {
    const held = await this.#read();
    const { after } = this.step;
    if (!held || 'link' in held || !after || !isText(after)) return undefined;
    const decoded = decodeText(held, after.encoding);
    return decoded && withLineFeeds(decoded.text);
  }
}

/** Whether what was unsaved in the editor was dropped. */
function isDropped({ isReverted, isClosed, last }: Followed): boolean {
  return isReverted || (isClosed && last?.isDirty === true);
}

function isTextOf(side: FileSide | null, text: string | undefined): boolean {
  return text !== undefined && side !== null && isText(side) && withLineFeeds(side.text) === text;
}
