import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { coalesce } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Agent } from '../agent.ts';
import { parsePreviewUri } from '../workspace/previewUri.ts';
import type { ReviewList } from './reviewList.ts';
import type { HunkAt, ReviewPlaces } from './reviewPlaces.ts';

/** How long moves of the cursor are collected, in milliseconds. */
const GATHER_MS = 50;

/** Loads the positions of hunks in their change sets. */
export type LoadPlaces = () => Promise<ReviewPlaces>;

/** Follows the cursor in preview editors, for the status bar. */
export class ShownPlace extends Owner {
  readonly #agent: Agent;
  readonly #places: LoadPlaces;
  readonly #changed = this.own(new vscode.EventEmitter<void>());
  #at: HunkAt | undefined;
  #isFollowed = false;

  /** {@link at} has changed. */
  readonly onDidChange = this.#changed.event;

  constructor(agent: Agent, review: ReviewList, places: LoadPlaces) {
    super();
    this.#agent = agent;
    this.#places = places;
    const follow = coalesce(() => void this.#follow(), GATHER_MS);
    this.own({ dispose: follow.cancel });
    this.own(review.onDidChange(follow));
    this.own(vscode.window.onDidChangeActiveTextEditor(follow));
    this.own(
      vscode.window.onDidChangeTextEditorSelection(
        ({ textEditor }) => parsePreviewUri(textEditor.document.uri) && follow(),
      ),
    );
    this.#refresh = follow;
  }

  /** The hunk at the cursor, if one is there that is to be decided. */
  get at(): HunkAt | undefined {
    return this.#at;
  }

  readonly #refresh: () => void;

  async #follow(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    let at: HunkAt | undefined;
    try {
      if (editor && parsePreviewUri(editor.document.uri)) {
        const places = await this.#places();
        if (!this.#isFollowed) this.own(places.onDidChange(this.#refresh));
        this.#isFollowed = true;
        at = await places.at(editor);
      }
    } catch (error) {
      this.#agent.logger.error(`Finding the place in the review failed: ${detailOf(error)}`);
    }
    // The cursor may have moved meanwhile; that move has its own event.
    if (editor !== vscode.window.activeTextEditor || isDeepStrictEqual(at, this.#at)) return;
    this.#at = at;
    this.#changed.fire();
  }
}
