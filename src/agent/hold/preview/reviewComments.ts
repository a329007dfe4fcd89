import { Owner } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/event.ts';
import { splitLines, withoutLineEnding } from '../text/lines.ts';
import { textOf, type FileChange } from './fileChange.ts';
import type { Outcome } from './ledger.ts';
import type { AgentName, Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';

/** The line of a preview that a comment is about. */
export interface CommentPlace {
  readonly previewId: string;
  readonly path: string;
  readonly side: 'base' | 'proposal';
  /** Counted from 0, in the revision that the preview has now; where `isOutdated`, in the last one that had it. */
  readonly line: number;
}

/** A comment of the user on a line of a preview. It carries no decision. */
export interface ReviewComment extends CommentPlace {
  readonly id: string;
  /** The conversation, or the agent of another program, that proposed it. */
  readonly sessionId?: string;
  readonly agent?: AgentName;
  /** The line that it is about, and the one above it, by which it is found again. */
  readonly quote: string;
  readonly above: string;
  readonly text: string;
  /** The line is no longer in the preview. */
  readonly isOutdated: boolean;
  readonly isSent: boolean;
  /** The comment that this one continues, after its answer. */
  readonly replyTo?: string;
  /** The model's answers, the oldest first; an empty text if it answered only in the conversation. */
  readonly answers?: readonly string[];
}

/** Comment data kept for the next start of the window. */
export interface StoredComments {
  readonly comments: readonly ReviewComment[];
  /** Number of attempts in the ledger when the user last sent comments. */
  readonly reviewedUpTo: number;
}

/** The user's decisions since the last review was sent. */
export interface ReviewVotes {
  readonly applied: number;
  readonly refused: number;
}

/** How many sent comments are kept; the oldest go first. */
const MAX_SENT = 200;

/**
 * The comments of the user: collected until they are sent together. They follow their lines through revisions, and say so where
 * a line is gone.
 */
export class ReviewComments extends Owner {
  readonly #store: PreviewStore;
  readonly #changed = new Emitter<void>();
  #comments: readonly ReviewComment[];
  #reviewedUpTo: number;

  readonly onDidChange: Event<void> = this.#changed.event;

  /** @param stored an earlier value of {@link stored}; anything in another form is dropped */
  constructor(store: PreviewStore, stored?: unknown) {
    super();
    this.#store = store;
    const read = readStored(stored);
    this.#comments = read.comments.map(comment => this.#followed(comment));
    this.#reviewedUpTo = Math.min(read.reviewedUpTo ?? store.feed.attempts, store.feed.attempts);
    this.own(
      store.onDidRevise(({ preview, part }) => {
        if (!this.#comments.some(({ previewId }) => previewId === preview.id)) return;
        this.#set(
          this.#comments.map(one => (one.previewId === preview.id ? this.#followed(one, part?.id) : one)),
        );
      }),
    );
  }

  get all(): readonly ReviewComment[] {
    return this.#comments;
  }

  /** Comments that wait to be sent. */
  get drafts(): readonly ReviewComment[] {
    return this.#comments.filter(({ isSent }) => !isSent);
  }

  get stored(): StoredComments {
    return { comments: this.#comments, reviewedUpTo: this.#reviewedUpTo };
  }

  /**
   * The user's decisions on the proposals that these comments belong to: those of the same prompts, in a conversation. An undo is
   * not a review, nor is permission to run a command or to call a tool.
   */
  votesOn(sessionId: string, comments: readonly Pick<ReviewComment, 'previewId'>[]): ReviewVotes {
    const setIdOf = (id: string): string => this.#store.get(id)?.origin?.setId ?? '';
    const sets = new Set(comments.map(({ previewId }) => setIdOf(previewId)));
    const votes = this.#store.ledgerFrom(this.#reviewedUpTo).filter(({ actor, previewId }) => {
      const { origin, undoes, purpose } = this.#store.get(previewId) ?? {};
      return (
        sets.has(setIdOf(previewId)) &&
        actor === 'human' &&
        !undoes &&
        purpose !== 'command' &&
        purpose !== 'toolCall' &&
        origin?.sessionId === sessionId &&
        !origin.agent
      );
    });
    const count = (end: Outcome): number => votes.filter(({ outcome }) => outcome === end).length;
    return { applied: count('applied'), refused: count('discarded') };
  }

  /**
   * @param replyTo the comment that this one continues
   * @returns `undefined` if the preview, or the line, is not there
   */
  add(place: CommentPlace, text: string, replyTo?: string): ReviewComment | undefined {
    const preview = this.#store.get(place.previewId);
    const lines = preview && linesOf(preview, place);
    const quote = lines?.[place.line];
    if (!preview || quote === undefined || text.trim() === '') return undefined;
    const { sessionId, agent } = preview.origin ?? {};
    const last = Math.max(0, ...this.#comments.map(({ id }) => Number(id.slice(1))));
    const comment: ReviewComment = {
      ...place,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(agent ? { agent } : {}),
      ...(replyTo === undefined ? {} : { replyTo }),
      id: `c${last + 1}`,
      quote,
      above: lines?.[place.line - 1] ?? '',
      text: text.trim(),
      isOutdated: false,
      isSent: false,
    };
    this.#set([...this.#comments, comment]);
    return comment;
  }

  /** Changes the text of a comment that was not sent yet. An empty text changes nothing. */
  edit(id: string, text: string): void {
    if (text.trim() !== '') this.#change(id, one => (one.isSent ? one : { ...one, text: text.trim() }));
  }

  /** Notes the model's answer to a comment. The same answer is noted once. */
  answer(id: string, text: string): void {
    this.#change(id, one =>
      one.answers?.includes(text) ? one : { ...one, answers: [...(one.answers ?? []), text] },
    );
  }

  remove(id: string): void {
    this.#set(this.#comments.filter(comment => comment.id !== id));
  }

  /**
   * Marks these as sent, and begins the next review.
   * @returns a function that takes that back, for a review that was not sent after all
   */
  markSent(ids: readonly string[]): () => void {
    const before = this.#reviewedUpTo;
    this.#reviewedUpTo = this.#store.feed.attempts;
    this.#mark(ids, true);
    return () => {
      this.#reviewedUpTo = Math.min(this.#reviewedUpTo, before);
      this.#mark(ids, false);
    };
  }

  #mark(ids: readonly string[], isSent: boolean): void {
    const marked = this.#comments.map(one => (ids.includes(one.id) ? { ...one, isSent } : one));
    const old = new Set(marked.filter(one => one.isSent).slice(0, -MAX_SENT));
    this.#set(marked.filter(one => !old.has(one)));
  }

  #change(id: string, change: (comment: ReviewComment) => ReviewComment): void {
    this.#set(this.#comments.map(one => (one.id === id ? change(one) : one)));
  }

  #set(comments: readonly ReviewComment[]): void {
    this.#comments = comments;
    this.#changed.fire();
  }

  /**
   * Moves a comment to the present place of its line: the nearest equal line, preferably one below the same line as before.
   * @param partId the preview that was split off: a line that went with it is there
   */
  #followed(comment: ReviewComment, partId?: string): ReviewComment {
    const homes = partId === undefined ? [comment] : [comment, { ...comment, previewId: partId }];
    const found = homes.map(home => ({ home, ...this.#placesOf(home) }));
    const at = found.find(({ below }) => below.length > 0) ?? found.find(({ equal }) => equal.length > 0);
    if (!at) return { ...comment, isOutdated: true };
    const [line = comment.line] = (at.below.length > 0 ? at.below : at.equal).sort(
      (a, b) => Math.abs(a - comment.line) - Math.abs(b - comment.line),
    );
    return { ...at.home, line, isOutdated: false };
  }

  /** Lines equal to that of the comment, and those among them that still have the same line above. */
  #placesOf(comment: ReviewComment): Record<'equal' | 'below', number[]> {
    const preview = this.#store.get(comment.previewId);
    const lines = (preview && linesOf(preview, comment)) ?? [];
    const equal = [...lines.keys()].filter(line => lines[line] === comment.quote);
    return { equal, below: equal.filter(line => (lines[line - 1] ?? '') === comment.above) };
  }
}

/** The change of the preview that a comment is about. */
export function changeOfComment({ changes }: Preview, { path }: CommentPlace): FileChange | undefined {
  return changes?.find(change => change.path === path);
}

function linesOf(preview: Preview, place: CommentPlace): string[] | undefined {
  const change = changeOfComment(preview, place);
  if (!change) return undefined;
  const lines = splitLines(textOf(place.side === 'base' ? change.before : change.after)).map(
    withoutLineEnding,
  );
  return lines.length > 0 ? lines : [''];
}

function readStored(stored: unknown): { comments: ReviewComment[]; reviewedUpTo?: number } {
  if (typeof stored !== 'object' || stored === null) return { comments: [] };
  const { comments, reviewedUpTo } = stored as Partial<Record<keyof StoredComments, unknown>>;
  return {
    comments: Array.isArray(comments) ? comments.filter(isComment) : [],
    ...(typeof reviewedUpTo === 'number' ? { reviewedUpTo } : {}),
  };
}

function isComment(value: unknown): value is ReviewComment {
  if (typeof value !== 'object' || value === null) return false;
  const {
    line,
    side,
    isOutdated,
    isSent,
    replyTo,
    answers = [],
    ...texts
  } = value as Partial<Record<keyof ReviewComment, unknown>>;
  const strings = [texts.id, texts.previewId, texts.path, texts.quote, texts.above, texts.text];
  return (
    strings.every(text => typeof text === 'string') &&
    typeof line === 'number' &&
    (side === 'base' || side === 'proposal') &&
    typeof isOutdated === 'boolean' &&
    typeof isSent === 'boolean' &&
    (replyTo === undefined || typeof replyTo === 'string') &&
    Array.isArray(answers) &&
    answers.every(answer => typeof answer === 'string')
  );
}
