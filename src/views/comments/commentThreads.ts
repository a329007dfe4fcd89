import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { countText } from '../../agent/base/countText.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { changeOfComment, ReviewComments, type ReviewComment } from '../../agent/preview/reviewComments.ts';
import { reviewMessage } from '../../agent/preview/reviewTexts.ts';
import type { Agent } from '../agent.ts';
import { agentLabel, shortList } from '../plainText.ts';
import { makeCommand } from '../commandRegistry.ts';
import { COMMENTS } from '../contributions.ts';
import { changeUri, parsePreviewUri } from '../review/previewUri.ts';
import { shownChange } from '../review/shownChange.ts';
import { showInfo } from '../toast.ts';

/** How long the status bar says that a review was sent, in milliseconds. */
const STATUS_MS = 6_000;

/** A comment as VS Code shows it. */
export interface ShownComment extends vscode.Comment {
  readonly commentId: string;
}

/** Shows the comments in the preview documents, and what can be sent in the status bar. */
export class CommentThreads implements vscode.Disposable {
  readonly comments: ReviewComments;
  readonly #agent: Agent;
  readonly #owned = new DisposableStore();
  readonly #controller: vscode.CommentController;
  readonly #item: vscode.StatusBarItem;
  /** By the id of the comment. */
  readonly #threads = new Map<string, vscode.CommentThread>();

  constructor(agent: Agent, memory: vscode.Memento | undefined) {
    this.#agent = agent;
    this.comments = this.#owned.add(new ReviewComments(agent.store, memory?.get(COMMENTS)));
    this.#controller = this.#owned.add(vscode.comments.createCommentController(COMMENTS, 'Redline'));
    this.#controller.options = {
      prompt: vscode.l10n.t('Comment on this line'),
      placeHolder: vscode.l10n.t('What should be different? It is sent with the review.'),
    };
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: document =>
        this.#placeOf(document.uri) ? [new vscode.Range(0, 0, document.lineCount - 1, 0)] : [],
    };
    this.#item = this.#owned.add(
      vscode.window.createStatusBarItem('redline.review', vscode.StatusBarAlignment.Left),
    );
    this.#item.name = vscode.l10n.t('Redline: Send Review');
    this.#owned.add(
      this.comments.onDidChange(() => {
        this.#show();
        memory
          ?.update(COMMENTS, this.comments.stored)
          .then(undefined, (error: unknown) =>
            agent.logger.error(`Storing comments failed: ${detailOf(error)}`),
          );
      }),
    );
    this.#owned.add(agent.store.onDidResolve(() => this.#showItem()));
    this.#show();
  }

  /** Takes what was typed into an empty thread. */
  add({ thread, text }: vscode.CommentReply): void {
    const place = this.#placeOf(thread.uri);
    const line = thread.range?.start.line ?? 0;
    if (!place || !this.comments.add({ ...place, line }, text))
      return void showInfo(vscode.l10n.t('There is no line to comment on here.'));
    thread.dispose();
  }

  remove({ commentId }: ShownComment): void {
    this.comments.remove(commentId);
  }

  /** Sends all comments that wait: as one prompt, or to the agents of other programs, which get them with their next call. */
  async send(): Promise<void> {
    const { drafts, summary } = this.comments;
    if (drafts.length === 0)
      return void showInfo(
        vscode.l10n.t('There are no comments to send. Click the + beside a line of a preview to write one.'),
      );
    const { store, session } = this.#agent;
    const own = drafts.filter(({ agent }) => !agent);
    const message = own.length > 0 ? await reviewMessage(summary, own, id => store.get(id)) : undefined;
    const agents = [...new Set(drafts.flatMap(({ agent }) => (agent ? [agentLabel(agent)] : [])))];
    this.comments.markSent();
    if (message !== undefined) void session.prompt(message);
    void vscode.window.setStatusBarMessage(vscode.l10n.t('The review was sent'), STATUS_MS);
    if (agents.length > 0)
      void showInfo(
        vscode.l10n.t(
          'The comments for {0} wait until it asks: other programs cannot be interrupted.',
          shortList(agents, vscode.l10n.t('{0} and {1} more')),
        ),
      );
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #placeOf(uri: vscode.Uri): Pick<ReviewComment, 'previewId' | 'path' | 'side'> | undefined {
    const address = parsePreviewUri(uri);
    const shown = address && shownChange(this.#agent.store, this.#agent.files, address);
    if (!address || !shown || address.isImage) return undefined;
    const side = address.side === 'proposal' ? 'proposal' : 'base';
    return { previewId: shown.preview.id, path: shown.change.path, side };
  }

  #show(): void {
    const { all } = this.comments;
    const ids = new Set(all.map(({ id }) => id));
    for (const [id, thread] of this.#threads) {
      if (ids.has(id)) continue;
      thread.dispose();
      this.#threads.delete(id);
    }
    for (const comment of all) this.#showThread(comment);
    this.#showItem();
  }

  #showThread(comment: ReviewComment): void {
    const { store, files } = this.#agent;
    const preview = store.get(comment.previewId);
    const change = preview && changeOfComment(preview, comment);
    if (!change) {
      this.#threads.get(comment.id)?.dispose();
      return void this.#threads.delete(comment.id);
    }
    const side = comment.side === 'base' && change.kind === 'delete' ? 'deleted' : comment.side;
    const range = new vscode.Range(comment.line, 0, comment.line, 0);
    const thread =
      this.#threads.get(comment.id) ??
      this.#controller.createCommentThread(changeUri(comment.previewId, change, side, files), range, []);
    this.#threads.set(comment.id, thread);
    const state = comment.isSent ? 'sent' : 'draft';
    const shown: ShownComment = {
      ...{ commentId: comment.id, body: comment.text, mode: vscode.CommentMode.Preview },
      ...{ author: { name: vscode.l10n.t('You') }, contextValue: state },
    };
    thread.range = range;
    thread.comments = [shown];
    thread.canReply = false;
    thread.contextValue = state;
    thread.label = stateText(comment);
    thread.collapsibleState = comment.isOutdated
      ? vscode.CommentThreadCollapsibleState.Collapsed
      : vscode.CommentThreadCollapsibleState.Expanded;
  }

  #showItem(): void {
    const { summary } = this.comments;
    if (summary.comments === 0) return this.#item.hide();
    const { l10n } = vscode;
    const counted = [
      countText(l10n.t('1 comment|{0} comments'), l10n)(summary.comments),
      ...(summary.applied > 0 ? [l10n.t('{0} applied', summary.applied)] : []),
      ...(summary.refused > 0 ? [l10n.t('{0} refused', summary.refused)] : []),
    ].join(', ');
    this.#item.text = `$(comment-discussion) ${l10n.t('Send Review ({0})', counted)}`;
    this.#item.tooltip = l10n.t('Sends the comments to the model as one message');
    this.#item.command = makeCommand(l10n.t('Send Review'), 'redline.review.send');
    this.#item.show();
  }
}

function stateText({ isSent, isOutdated }: ReviewComment): string {
  const { l10n } = vscode;
  const state = isSent ? l10n.t('Sent') : l10n.t('Not sent yet');
  return isOutdated ? l10n.t('{0} · outdated: the line is gone', state) : state;
}
