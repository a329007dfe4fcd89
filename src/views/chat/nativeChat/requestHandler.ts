import * as vscode from 'vscode';
import type { ProviderFailureCode } from '../../../agent/session/model/messages.ts';
import { parseSlashCommand } from '../../../agent/session/model/offline/slashCommands.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { titleOf } from '../../../agent/hold/preview/preview.ts';
import { readAttachments } from '../attachments/attachmentReader.ts';
import { ContextFiles } from '../attachments/contextFiles.ts';
import { hostedCommands, type ChatCtx } from '../hostedCommands.ts';
import type { LocalCommands } from '../localCommands.ts';
import type { AttachmentRef } from '../protocol.ts';
import { commandLink, makeCommand } from '../../commandRegistry.ts';
import { OWN_VENDOR } from '../../contributions.ts';
import { asMarkdown, oneLine } from '../../plainText.ts';
import { Reply, type ReplyEnd, type ReplySink } from './reply.ts';

/** State that a reply leaves for its follow-ups; VS Code stores it as JSON. */
export interface ReplyMetadata {
  /** Ids of the previews that waited for a decision when the reply ended. */
  readonly pending: readonly string[];
  readonly offline: boolean;
}

/**
 * Answers requests to `@redline` in VS Code's own chat. They go to the same session as those of the Redline panel, whichever
 * model the panel uses: both show one conversation, and previews that one stages can be resolved in the other.
 */
export class RequestHandler {
  readonly #options: ChatCtx;
  readonly #commands: LocalCommands;
  readonly #context: ContextFiles;
  /** The node with which the last reply ended, in its conversation. */
  #replied: { readonly sessionId: string; readonly nextId: number } | undefined;

  constructor(options: ChatCtx) {
    this.#options = options;
    this.#commands = hostedCommands(options, () => undefined); // the reply has it
    this.#context = new ContextFiles(options.workspace);
  }

  /**
   * Settles when the session is idle or awaits review, or goes on with another prompt. Cancelling stops the prompt's turn; a prompt
   * that still waits is taken back.
   */
  async handle(
    request: vscode.ChatRequest,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    const { session } = this.#options;
    switch (request.command) {
      case 'plan':
        // Without a prompt, the command toggles plan mode; with one, it turns plan mode on.
        session.setPlanMode(request.prompt.trim() !== '' || !session.planMode);
        if (request.prompt.trim() !== '') return this.#prompt(request.prompt, request, stream, token);
        stream.markdown(
          session.planMode ? vscode.l10n.t('Plan mode is on.') : vscode.l10n.t('Plan mode is off.'),
        );
        return this.#result({ pending: [] });
      case 'new':
        await session.new();
        if (request.prompt.trim() !== '') return this.#prompt(request.prompt, request, stream, token);
        stream.markdown(vscode.l10n.t('A new session has begun.'));
        return this.#result({ pending: [] });
      case undefined:
        return this.#send(request.prompt, request, stream, token);
      default:
        return this.#send(`/${request.command} ${request.prompt}`.trimEnd(), request, stream, token);
    }
  }

  /** Prompts that VS Code suggests to the user next. */
  followups({ pending, offline }: ReplyMetadata): vscode.ChatFollowup[] {
    const { store } = this.#options;
    const [id, ...more] = pending.filter(each => store.get(each)?.state.kind === 'pending');
    if (id !== undefined) {
      const first = store.get(id);
      const name = first ? oneLine(titleOf(first), 60) : id;
      // A plan is sent back with a reason, for which the reply has a button.
      if (first && planOf(first))
        return [{ prompt: id, command: 'apply', label: vscode.l10n.t('Approve {0}', name) }];
      const apply = { prompt: id, command: 'apply', label: vscode.l10n.t('Apply {0}', name) };
      const discard = { prompt: id, command: 'discard', label: vscode.l10n.t('Discard {0}', name) };
      const all = { prompt: '', command: 'discard-all', label: vscode.l10n.t('Discard All Previews') };
      return more.length === 0 ? [apply, discard] : [apply, discard, all];
    }
    return offline ? [{ prompt: '', command: 'help', label: vscode.l10n.t('List the commands') }] : [];
  }

  /** Runs a slash command that is not a prompt, or sends the prompt. */
  async #send(
    text: string,
    request: vscode.ChatRequest,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    const command = parseSlashCommand(text);
    if (!command || command.kind === 'call') return this.#prompt(text, request, stream, token);
    stream.markdown(await this.#commands.answer(text, command));
    return this.#result({ pending: [] });
  }

  async #prompt(
    text: string,
    request: vscode.ChatRequest,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    const { session, store, workspace, onWillPrompt, model, questions } = this.#options;
    const { moment } = session.queue;
    const refs = await this.#refsOf(request.references, stream);
    const attachments = await readAttachments(workspace, refs, () => Promise.resolve(undefined));
    if (token.isCancellationRequested) return this.#result({ pending: [] });
    const sink = sinkOf(stream);
    const meanwhile = this.#saidMeanwhile();
    if (meanwhile !== '') stream.markdown(`${meanwhile}\n\n---\n\n`);
    const ended = Promise.withResolvers<number>();
    const waiting = () => session.queue.list.find(queued => queued.attachments === attachments);
    const reply = new Reply({
      prompt: text,
      sessionId: () => session.id,
      store,
      sink,
      waits: () => waiting() !== undefined,
      // The node of the prompt that has begun is there already.
      onEnd: () => ended.resolve(session.tree.nextId - 1),
    });
    const following = session.onDidEmit(event => reply.follow(event));
    // Choices cannot be shown here.
    const asking = questions.onDidChange(() => {
      const { open } = questions;
      if (open?.about === 'choice' && reply.state === 'running') questions.answer(open.id);
    });
    const stopping = token.onCancellationRequested(() => {
      // The running turn is this prompt's only if the reply is running.
      if (reply.state === 'running') return session.stop();
      const own = waiting();
      if (own) session.queue.takeBack(own.id);
      ended.resolve(session.tree.nextId);
    });
    try {
      onWillPrompt();
      const settled = session.prompt(text, attachments, moment).then(() => session.tree.nextId);
      const nextId = await Promise.race([settled, ended.promise]);
      if (reply.state === 'waiting') return this.#result({ pending: [] });
      this.#replied = { sessionId: session.id, nextId };
    } finally {
      following.dispose();
      asking.dispose();
      stopping.dispose();
    }
    const end = reply.finish();
    if (model().offline && !parseSlashCommand(text)) offerModels(sink, request.model);
    else if (end.failure) offerHelp(sink, end.failure.code);
    return this.#result(end);
  }

  /** The model's text since the last reply: a click lets it go on after that reply has ended. */
  #saidMeanwhile(): string {
    const { session } = this.#options;
    const { messages, tree } = session;
    const replied = this.#replied;
    if (replied?.sessionId !== session.id) return '';
    const since = messages.filter((_, position) => (tree.idAt(position) ?? 0) >= replied.nextId);
    // Messages after another prompt belong to that prompt's answer, in the Redline panel.
    const prompt = since.findIndex(({ role }) => role === 'user');
    return since
      .slice(0, prompt < 0 ? undefined : prompt)
      .flatMap(message => (message.role === 'assistant' && message.text !== '' ? [message.text] : []))
      .join('\n\n');
  }

  /** The files and lines that the user attached. The reply names any that cannot be attached. */
  async #refsOf(
    references: readonly vscode.ChatPromptReference[],
    stream: vscode.ChatResponseStream,
  ): Promise<AttachmentRef[]> {
    const refs: AttachmentRef[] = [];
    for (const { value, id } of references) {
      const uri =
        value instanceof vscode.Uri ? value : value instanceof vscode.Location ? value.uri : undefined;
      const path = uri && (await this.#context.pathOf(uri));
      if (path === undefined) {
        const name = uri ? uri.path.slice(uri.path.lastIndexOf('/') + 1) : id;
        stream.progress(
          asMarkdown(vscode.l10n.t('Only files in the workspace can be attached. Not attached: {0}', name)),
        );
      } else if (value instanceof vscode.Location) {
        refs.push({ path, startLine: value.range.start.line + 1, endLine: value.range.end.line + 1 });
      } else {
        refs.push({ path });
      }
    }
    return refs;
  }

  #result({ pending, failure }: ReplyEnd): vscode.ChatResult {
    const metadata: ReplyMetadata = { pending, offline: this.#options.model().offline };
    return { metadata: { ...metadata }, ...(failure ? { errorDetails: { message: failure.message } } : {}) };
  }
}

function sinkOf(stream: vscode.ChatResponseStream): ReplySink {
  return {
    markdown: text => stream.markdown(text),
    linked: text => {
      const markdown = new vscode.MarkdownString(text);
      markdown.isTrusted = { enabledCommands: ['redline.preview.open'] };
      stream.markdown(markdown);
    },
    progress: text => stream.progress(text),
    button: (title, id, ...args) => stream.button(makeCommand(title, id, ...args)),
    link: (title, previewId) => commandLink(title, 'redline.preview.open', previewId),
  };
}

/** No model is connected: offer the one chosen in this chat. */
function offerModels(sink: ReplySink, { vendor, id, name }: vscode.LanguageModelChat): void {
  if (vendor !== OWN_VENDOR)
    sink.button(vscode.l10n.t('Use {0}', name), 'redline.selectModel', `${vendor}/${id}`);
  sink.button(vscode.l10n.t('Select Model'), 'redline.selectModel');
}

/** The button that helps with a failed request. VS Code itself offers to repeat it. */
function offerHelp(sink: ReplySink, code: ProviderFailureCode | undefined): void {
  switch (code) {
    case 'unauthorized':
      return sink.button(vscode.l10n.t('Set API Key'), 'redline.setApiKey');
    case 'noModel':
    case 'notFound':
    case 'forbidden':
    case 'noImages':
    case 'contextLength':
    case 'unreachable':
      return sink.button(vscode.l10n.t('Select Model'), 'redline.selectModel');
    case 'badRequest':
    case 'rateLimited':
    case 'server':
    case 'broken':
    case undefined:
      return sink.button(vscode.l10n.t('Show Log'), 'redline.showLog');
  }
}
