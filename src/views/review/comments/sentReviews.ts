import type * as vscode from 'vscode';
import type { ReviewComment, ReviewComments } from '../../../agent/hold/preview/reviewComments.ts';
import { answersIn } from '../../../agent/hold/preview/reviewTexts.ts';
import type { AssistantMessage, ReviewedSession, SessionEvent } from '../sessionPort.ts';

/** The comments that one prompt brings to the model. */
interface SentReview {
  readonly message: string;
  readonly comments: readonly ReviewComment[];
  /** They were not sent after all. */
  readonly takeBack: () => void;
}

/** Follows the reviews that are sent as prompts: whether they arrive, and the model's answer to each comment. */
export class SentReviews implements vscode.Disposable {
  readonly #comments: ReviewComments;
  readonly #session: ReviewedSession;
  readonly #following: vscode.Disposable;
  /** Reviews that are not in the conversation yet: they wait for the running turn to end. */
  #waiting: readonly SentReview[] = [];
  /** Reviews that the user took back; they may still send the text. */
  #returned: readonly SentReview[] = [];
  /** The review that is being answered, and the last text of the answer. */
  #answered: (SentReview & { readonly said: string }) | undefined;

  constructor(comments: ReviewComments, session: ReviewedSession) {
    this.#comments = comments;
    this.#session = session;
    this.#following = session.onDidEmit(event => this.#follow(event));
  }

  /** The caller sends the review's message right after this call. */
  add(review: SentReview): void {
    this.#waiting = [...this.#waiting, review];
  }

  dispose(): void {
    this.#following.dispose();
  }

  #follow(event: SessionEvent): void {
    if (event.type === 'message_end' && event.message.role === 'user') this.#begin(event.message.text);
    if (event.type === 'message_end' && event.message.role === 'assistant') this.#hear(event.message);
    // A turn of the loop is one request: all of them are over once the session no longer runs.
    if (event.type === 'state_changed' && event.state !== 'running') this.#end();
    if (event.type === 'reset') this.#answered = undefined;
    if (event.type === 'prompts_returned') this.#takeBack();
    // A message that leaves the queue to be sent arrives right after this event.
    if (event.type === 'queue_changed') queueMicrotask(() => this.#takeBack());
  }

  /** Reviews that no longer wait in the queue went back to the user: their comments were not sent. */
  #takeBack(): void {
    const queued = new Set(this.#session.queue.list.map(({ text }) => text));
    const returned = this.#waiting.filter(({ message }) => !queued.has(message));
    this.#waiting = this.#waiting.filter(({ message }) => queued.has(message));
    this.#returned = [...this.#returned, ...returned];
    for (const { takeBack } of returned) takeBack();
  }

  /** A prompt ends the answer to the previous review; if the prompt is a review itself, the answer to it begins. */
  #begin(prompt: string): void {
    this.#end();
    const review = [...this.#waiting, ...this.#returned].find(({ message }) => message === prompt);
    if (!review) return;
    this.#waiting = this.#waiting.filter(each => each !== review);
    this.#returned = this.#returned.filter(each => each !== review);
    const unsent = review.comments.flatMap(({ id, text }) =>
      this.#comments.drafts.some(draft => draft.id === id && draft.text === text) ? [id] : [],
    );
    if (unsent.length > 0) this.#comments.markSent(unsent);
    this.#answered = { ...review, said: '' };
  }

  #hear({ text, stopReason }: AssistantMessage): void {
    const { id: open } = this.#session;
    const isAsked = ({ isSent, agent, sessionId = open }: ReviewComment): boolean =>
      isSent && !agent && sessionId === open;
    const sent = new Set(this.#comments.all.filter(isAsked).map(({ id }) => id));
    for (const [id, answer] of answersIn(text)) if (sent.has(id)) this.#comments.answer(id, answer);
    if (!this.#answered) return;
    const isBroken = stopReason === 'aborted' || stopReason === 'error';
    // A stopped or failed answer answers only the comments that it names.
    if (isBroken) this.#answered = undefined;
    else if (text.trim() !== '') this.#answered = { ...this.#answered, said: text.trim() };
  }

  /** The model has ended its work on a review: its last text answers the comments that it did not name. */
  #end(): void {
    const { comments = [], said = '' } = this.#answered ?? {};
    this.#answered = undefined;
    if (said === '') return;
    const ids = new Set(comments.map(({ id }) => id));
    const asked = this.#comments.all.filter(({ id, isSent }) => isSent && ids.has(id));
    const answer = asked.length === 1 ? said : '';
    for (const { id, answers } of asked) if (!answers) this.#comments.answer(id, answer);
  }
}
