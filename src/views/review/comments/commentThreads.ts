import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { detailOf, PathError } from '../../../agent/base/errors.ts';
import {
  changeOfComment,
  ReviewComments,
  type ReviewComment,
} from '../../../agent/hold/preview/reviewComments.ts';
import { reviewMessage } from '../../../agent/hold/preview/reviewTexts.ts';
import type { Agent } from '../../agent.ts';
import { agentLabel, escapeInvisible, plural, shortList } from '../../plainText.ts';
import { makeCommand } from '../../commandRegistry.ts';
import { COMMENTS, PREVIEW_SCHEME } from '../../contributions.ts';
import { changeUri, parsePreviewUri, type FileUris } from '../../workspace/previewUri.ts';
import { shownChange } from '../shownChange.ts';
import { showInfo } from '../../toast.ts';
import { SentReviews } from './sentReviews.ts';

/** How long the status bar says that a review was sent, in milliseconds. */
const STATUS_MS = 6_000;

/** A comment as VS Code shows it. While it is edited, its body is the typed text. */
export interface ShownComment extends vscode.Comment {
  /** The id of the comment; for an answer, that of the comment that it answers. */
  readonly commentId: string;
  /** The number of the answer, from 1; 0 for the comment itself. */
  readonly answer: number;
}

/** A thread, and its state as last passed to VS Code. */
interface ShownThread {
  readonly thread: vscode.CommentThread;
  readonly told: Map<string, string>;
}

/** Shows the comments in the preview documents, and those ready to send in the status bar. */
export class CommentThreads extends Owner {
  readonly comments: ReviewComments;
  readonly #agent: Agent;
  readonly #controller: vscode.CommentController;
  readonly #item: vscode.StatusBarItem;
  /** By the id of the comment with which it began. */
  readonly #threads = new Map<string, ShownThread>();
  /** The comments that are being edited. */
  readonly #edited = new Set<string>();
  readonly #sent: SentReviews;

  constructor(agent: Agent, memory: vscode.Memento | undefined) {
    super();
    this.#agent = agent;
    this.comments = this.own(new ReviewComments(agent.store, memory?.get(COMMENTS)));
    this.#controller = this.own(vscode.comments.createCommentController(COMMENTS, 'Redline'));
    this.#controller.options = {
      prompt: vscode.l10n.t('Comment on this line'),
      placeHolder: vscode.l10n.t('What should be different? It is sent with the review.'),
    };
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: document =>
        this.#placeOf(document.uri) ? [new vscode.Range(0, 0, document.lineCount - 1, 0)] : [],
    };
    this.#item = this.own(
      vscode.window.createStatusBarItem('redline.review', vscode.StatusBarAlignment.Left),
    );
    this.#item.name = vscode.l10n.t('Redline: Send Review');
    this.own(
      this.comments.onDidChange(() => {
        this.#show();
        memory
          ?.update(COMMENTS, this.comments.stored)
          .then(undefined, (error: unknown) =>
            agent.logger.error(`Storing comments failed: ${detailOf(error)}`),
          );
      }),
    );
    this.own(agent.store.onDidResolve(() => this.#showItem()));
    this.#sent = this.own(new SentReviews(this.comments, agent.session));
    this.own(agent.session.onDidEmit(event => event.type === 'reset' && this.#showItem()));
    this.#show();
  }

  /** Adds the text typed into an empty thread, or below an answer. */
  add({ thread, text }: vscode.CommentReply): void {
    const place = this.#placeOf(thread.uri);
    const line = thread.range?.start.line ?? 0;
    const [begun] = [...this.#threads].find(([, each]) => each.thread === thread) ?? [];
    if (!place || !this.comments.add({ ...place, line }, text, begun))
      return void showInfo(vscode.l10n.t('There is no line to comment on here.'));
    if (begun === undefined) thread.dispose();
  }

  edit({ commentId }: ShownComment): void {
    this.#edited.add(commentId);
    this.#show();
  }

  /** Replaces the text of the comment with the edited text. */
  saveEdit({ commentId, body }: ShownComment): void {
    this.#edited.delete(commentId);
    this.comments.edit(commentId, typeof body === 'string' ? body : body.value);
    this.#show();
  }

  cancelEdit({ commentId }: ShownComment): void {
    this.#edited.delete(commentId);
    this.#show();
  }

  remove({ commentId }: ShownComment): void {
    this.#edited.delete(commentId);
    this.comments.remove(commentId);
  }

  /**
   * Sends the waiting comments: those on proposals of this conversation as one prompt, the others to the agents of other programs,
   * which get them with their next call. Comments on proposals of another conversation wait until that is open.
   */
  async send(): Promise<void> {
    const { own, forAgents, others } = this.#drafts();
    if (own.length + forAgents.length + others.length === 0)
      return void showInfo(
        vscode.l10n.t('There are no comments to send. Click the + beside a line of a preview to write one.'),
      );
    if (this.#edited.size > 0)
      return void showInfo(vscode.l10n.t('Save or cancel the comment that you are editing first.'));
    const isSent = own.length === 0 || (await this.#sendOwn(own));
    if (forAgents.length > 0) this.comments.markSent(forAgents.map(({ id }) => id));
    if (isSent && own.length + forAgents.length > 0)
      void vscode.window.setStatusBarMessage(vscode.l10n.t('The review was sent'), STATUS_MS);
    const agents = [...new Set(forAgents.flatMap(({ agent }) => (agent ? [agentLabel(agent)] : [])))];
    const waiting = [
      agents.length > 0
        ? vscode.l10n.t(
            'The comments for {0} wait until it asks: other programs cannot be interrupted.',
            shortList(agents),
          )
        : '',
      others.length > 0
        ? plural(
            vscode.l10n.t(
              '1 comment is on what another conversation proposed. Open that conversation to send it.|{0} comments are on what other conversations proposed. Open those conversations to send them.',
            ),
            others.length,
          )
        : '',
    ];
    const text = waiting.filter(Boolean).join(' ');
    if (text !== '') void showInfo(text);
  }

  /** @returns whether they were sent */
  async #sendOwn(own: readonly ReviewComment[]): Promise<boolean> {
    const { store, session } = this.#agent;
    const { id, queue } = session;
    const { moment } = queue;
    const votes = this.comments.votesOn(id, own);
    // Mark them now: text written or clicked meanwhile belongs to the next review.
    const takeBack = this.comments.markSent(own.map(one => one.id));
    const message = await reviewMessage(votes, own, previewId => store.get(previewId)).catch(
      (error: unknown) => {
        takeBack();
        throw error;
      },
    );
    let isSent = true;
    const giveBack = (): void => {
      isSent = false;
      takeBack();
    };
    this.#sent.add({ message, comments: own, takeBack: giveBack });
    void session.prompt(message, [], moment);
    return isSent;
  }

  /** The comments that wait, by whom they are for. */
  #drafts(): Record<'own' | 'forAgents' | 'others', readonly ReviewComment[]> {
    const { id } = this.#agent.session;
    const {
      own = [],
      forAgents = [],
      others = [],
    } = Object.groupBy(this.comments.drafts, draft => {
      if (draft.agent) return 'forAgents';
      return draft.sessionId === undefined || draft.sessionId === id ? 'own' : 'others';
    });
    return { own, forAgents, others };
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
    const threads = Map.groupBy(all, ({ id, replyTo }) =>
      replyTo !== undefined && ids.has(replyTo) ? replyTo : id,
    );
    for (const [id, { thread }] of this.#threads) {
      if (threads.has(id)) continue;
      thread.dispose();
      this.#threads.delete(id);
    }
    for (const [id, comments] of threads) this.#showThread(id, comments);
    this.#showItem();
  }

  #showThread(id: string, comments: readonly ReviewComment[]): void {
    const { store, files } = this.#agent;
    const [first] = comments;
    const draft = comments.find(({ isSent }) => !isSent);
    const preview = first && store.get(first.previewId);
    const change = preview && changeOfComment(preview, first);
    // A thread cannot move, and replacing it would lose the text typed there.
    const isEdited = comments.some(each => this.#edited.has(each.id));
    const before = this.#threads.get(id)?.thread;
    const isThere = (uri: vscode.Uri): boolean =>
      change ? this.#isAt(uri, first) : uri.scheme !== PREVIEW_SCHEME;
    if (before && !isEdited && !isThere(before.uri)) {
      before.dispose();
      this.#threads.delete(id);
    }
    if (!first || (!change && !draft)) return;
    const side = first.side === 'base' && change?.kind === 'delete' ? 'deleted' : first.side;
    // If nothing shows the change any more, a pending comment can still be deleted.
    const uri = change ? changeUri(first.previewId, change, side, files) : fileUri(first.path, files);
    if (!uri) return;
    const range = new vscode.Range(first.line, 0, first.line, 0);
    const known = this.#threads.get(id);
    const shown = comments.flatMap(each => this.#shown(each, known?.thread.comments as ShownComment[]));
    const { thread, told } = known ?? {
      // Create it with its comments: VS Code does not list a thread that was created empty.
      thread: this.#controller.createCommentThread(uri, range, shown),
      told: new Map<string, string>(),
    };
    this.#threads.set(id, { thread, told });
    const { CommentThreadState: State, CommentThreadCollapsibleState: Collapsible } = vscode;
    const wished: Partial<vscode.CommentThread> = {
      range,
      comments: shown,
      canReply: !draft,
      contextValue: draft ? 'draft' : 'sent',
      label: stateText(draft ?? first),
      state: first.isOutdated && first.isSent ? State.Resolved : State.Unresolved,
      collapsibleState: first.isOutdated && !isEdited ? Collapsible.Collapsed : Collapsible.Expanded,
    };
    // Only changed values: VS Code draws each value it is given, and opens a thread that the user has closed.
    for (const [name, value] of Object.entries(wished)) {
      const now = JSON.stringify(value);
      if (told.get(name) === now) continue;
      told.set(name, now);
      Object.assign(thread, { [name]: value });
    }
  }

  /** Whether a document shows the change that a comment is about: in its preview, or in the whole that it was split off from. */
  #isAt(uri: vscode.Uri, { previewId, path }: ReviewComment): boolean {
    const place = this.#placeOf(uri);
    return place?.previewId === previewId && place.path === path;
  }

  /**
   * A comment with its answers.
   * @param known the comments shown in its thread: VS Code tells comments apart by these objects, and drops text typed into another
   */
  #shown(
    { id, text, isSent, agent, answers = [] }: ReviewComment,
    known: readonly ShownComment[] = [],
  ): ShownComment[] {
    const { Editing, Preview } = vscode.CommentMode;
    const mode = this.#edited.has(id) ? Editing : Preview;
    const name = agent ? agentLabel(agent) : 'Redline';
    const now: readonly ShownComment[] = [
      {
        commentId: id,
        answer: 0,
        body: text,
        mode,
        author: { name: vscode.l10n.t('You') },
        contextValue: isSent ? 'sent' : 'draft',
      },
      ...answers.map((answer, n) => ({
        commentId: id,
        answer: n + 1,
        mode: Preview,
        contextValue: 'answer',
        author: { name },
        body: answer === '' ? vscode.l10n.t('The answer is in the chat.') : escapeInvisible(answer),
      })),
    ];
    return now.map(each =>
      Object.assign(
        known.find(({ commentId, answer }) => commentId === id && answer === each.answer) ?? {},
        each,
      ),
    );
  }

  #showItem(): void {
    const { own, forAgents, others } = this.#drafts();
    const count = own.length + forAgents.length;
    if (count + others.length === 0) return this.#item.hide();
    const { l10n } = vscode;
    const { applied, refused } = this.comments.votesOn(this.#agent.session.id, own);
    const elsewhere = l10n.t('1 for another conversation|{0} for other conversations');
    const counted = [
      ...(count > 0 ? [plural(l10n.t('1 comment|{0} comments'), count)] : []),
      ...(applied > 0 ? [l10n.t('{0} applied', applied)] : []),
      ...(refused > 0 ? [l10n.t('{0} refused', refused)] : []),
      ...(others.length > 0 ? [plural(elsewhere, others.length)] : []),
    ].join(', ');
    this.#item.text = `$(comment-discussion) ${l10n.t('Send Review ({0})', counted)}`;
    this.#item.tooltip = l10n.t('Sends the comments to the model as one message');
    this.#item.command = makeCommand(l10n.t('Send Review'), 'redline.review.send');
    this.#item.show();
  }
}

/** The file itself; `undefined` if its folder is not open. */
function fileUri(path: string, files: FileUris): vscode.Uri | undefined {
  try {
    return files(path);
  } catch (error) {
    if (error instanceof PathError) return undefined;
    throw error;
  }
}

function stateText({ isSent, isOutdated }: ReviewComment): string {
  const { l10n } = vscode;
  const state = isSent ? l10n.t('Sent') : l10n.t('Not sent yet');
  return isOutdated ? l10n.t('{0} · outdated: the line is gone', state) : state;
}
