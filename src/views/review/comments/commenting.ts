import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { detailOf } from '../../../agent/base/errors.ts';
import type { ReviewComment } from '../../../agent/hold/preview/reviewComments.ts';
import type { Agent } from '../../agent.ts';
import { COMMENTS, PREVIEW_SCHEME } from '../../contributions.ts';
import type { ShownRevisions } from '../shownRevisions.ts';
import type { CommentThreads } from './commentThreads.ts';

/** Comments on lines of previews. Their code is loaded once a preview is shown, or if there are earlier comments. */
export class Commenting extends Owner {
  readonly #agent: Agent;
  readonly #memory: vscode.Memento | undefined;
  #loading: Promise<CommentThreads> | undefined;
  #threads: CommentThreads | undefined;

  /** @param memory keeps comments for the next start of the window. Without it, they last as long as the window. */
  constructor(agent: Agent, shown: ShownRevisions, memory: vscode.Memento | undefined) {
    super();
    this.#agent = agent;
    this.#memory = memory;
    const isShown = (): boolean =>
      vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === PREVIEW_SCHEME);
    const loadIfShown = (): void => {
      if (!this.#loading && isShown())
        this.threads().catch((error: unknown) =>
          agent.logger.error(`Loading comments failed: ${detailOf(error)}`),
        );
    };
    this.own(shown.onDidShow(loadIfShown));
    if (memory?.get(COMMENTS) !== undefined || isShown()) void this.threads();
  }

  /** The comments that were sent. */
  get sent(): readonly ReviewComment[] {
    return this.#threads?.comments.all.filter(({ isSent }) => isSent) ?? [];
  }

  /** Shows the reply of another program's agent to a comment. */
  answer(id: string, text: string): void {
    this.#threads?.comments.answer(id, text);
  }

  threads(): Promise<CommentThreads> {
    this.#loading ??= import('./commentThreads.ts').then(({ CommentThreads }) => {
      this.#threads = this.own(new CommentThreads(this.#agent, this.#memory));
      return this.#threads;
    });
    return this.#loading;
  }
}
