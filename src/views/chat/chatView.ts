import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { ImageFile } from '../../agent/session/model/messages.ts';
import { parseSlashCommand } from '../../agent/session/model/offline/slashCommands.ts';
import type { ModelAuthority } from '../../agent/hold/preview/resolveSettings.ts';
import type { Prompt } from '../../agent/session/waiting/promptQueue.ts';
import { oneLine } from '../plainText.ts';
import { showInfo, showWarning } from '../toast.ts';
import { readAttachments } from './attachments/attachmentReader.ts';
import { ContextFiles } from './attachments/contextFiles.ts';
import { ImageAttachments } from './attachments/imageAttachments.ts';
import { ChatFeed } from './chatFeed.ts';
import { chatHtml } from './chatHtml.ts';
import { openLink, openNamedFile } from './chatLinks.ts';
import { hostedCommands, runForPage, voteByCommand, type ChatCtx } from './hostedCommands.ts';
import type { LocalCommands } from './localCommands.ts';
import { withNamed } from './attachments/attachmentRefs.ts';
import type { LiveTurn } from './transcript/liveTurn.ts';
import { webviewMessage, type AttachmentRef, type HostMessage, type WebviewMessage } from './protocol.ts';

/**
 * The chat panel. It owns no state: the webview shows the state of session and store, and gets a new snapshot
 * whenever it reloads. Messages from the webview are validated, and run the same commands as keys and menus.
 */
export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #options: ChatCtx;
  readonly #feed: ChatFeed;
  readonly #context: ContextFiles;
  readonly #images: ImageAttachments;
  readonly #commands: LocalCommands;
  #view: vscode.WebviewView | undefined;
  /** Settles when the last change of the mode has taken effect. Never rejects. */
  #modeSet: Promise<unknown> = Promise.resolve();
  /** Settles when the attachments of the last prompt have been read, so that prompts stay in order. Never rejects. */
  #attachmentsRead: Promise<unknown> = Promise.resolve();

  /** @param live the running turn so far */
  constructor(options: ChatCtx, live?: LiveTurn) {
    this.#options = options;
    const post = (message: HostMessage): void => void this.#view?.webview.postMessage(message);
    this.#images = new ImageAttachments(
      options.images,
      options.workspace,
      options.logger,
      () => this.#view?.webview,
    );
    const imageSrc = (file: string): string => this.#images.srcOf(file);
    this.#feed = new ChatFeed({ ...options, texts: vscode.l10n.bundle, post, imageSrc }, live);
    this.#context = new ContextFiles(options.workspace);
    this.#commands = hostedCommands(options, answer => void showInfo(answer));
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extensionUri } = this.#options;
    const uri = (...path: string[]): string =>
      view.webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...path)).toString();
    this.#view = view;
    this.#feed.disconnect();
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [
        ...['dist', 'media'].map(folder => vscode.Uri.joinPath(extensionUri, folder)),
        vscode.Uri.file(this.#options.images.folder),
      ],
    };
    const subscriptions = new DisposableStore();
    subscriptions.add(view.webview.onDidReceiveMessage(message => this.#receive(message)));
    subscriptions.add(
      view.onDidChangeVisibility(() => {
        // A hidden webview is unloaded; it sends `ready` when it is shown again.
        if (!view.visible) this.#feed.disconnect();
      }),
    );
    view.onDidDispose(() => {
      subscriptions.dispose();
      if (this.#view !== view) return;
      this.#view = undefined;
      this.#feed.disconnect();
    });
    view.webview.html = chatHtml({
      cspSource: view.webview.cspSource,
      nonce: randomBytes(16).toString('base64'),
      scriptUri: uri('dist', 'chat.js'),
      styleUris: [uri('dist', 'codicon.css'), uri('media', 'chat.css')],
      language: vscode.env.language,
      title: vscode.l10n.t('Redline Chat'),
    });
  }

  /**
   * Shows the panel and attaches these files to the next prompt; without any, the selection in the active editor, else
   * its file.
   */
  async attach(uris: readonly vscode.Uri[]): Promise<void> {
    const refs: AttachmentRef[] = [];
    const outside: vscode.Uri[] = [];
    for (const uri of uris) {
      const path = await this.#context.pathOf(uri);
      if (path === undefined) outside.push(uri);
      else refs.push(await this.#images.withImage({ path }));
    }
    if (uris.length === 0) {
      const active = (await this.#context.active('selection')) ?? (await this.#context.active('file'));
      const editor = vscode.window.activeTextEditor;
      if (active) refs.push(await this.#images.withImage(active));
      else if (editor) outside.push(editor.document.uri);
    }
    if (outside.length > 0) void showInfo(outsideText(outside));
    this.#feed.send({ type: 'attached', refs });
    await this.focus();
  }

  /** Shows the panel, with the focus in the input. */
  async focus(): Promise<void> {
    await this.#reveal();
    this.#feed.send({ type: 'focus' });
  }

  /** Puts prompts back into the input, before the text there, now or as soon as the panel is shown. */
  putBack(prompts: readonly Prompt[]): void {
    const refs = prompts
      .flatMap(({ attachments }) => attachments)
      .map(({ path, startLine, endLine, image }) => ({
        path,
        ...(image ? { image: { ...image, src: this.#images.srcOf(image.file) } } : {}),
        ...(startLine === undefined ? {} : { startLine }),
        ...(endLine === undefined ? {} : { endLine }),
      }));
    this.#feed.send({ type: 'putBack', text: prompts.map(({ text }) => text).join('\n\n'), refs });
  }

  dispose(): void {
    this.#feed.dispose();
  }

  async #reveal(): Promise<void> {
    if (this.#view) this.#view.show(false);
    else await vscode.commands.executeCommand('workbench.view.extension.redline');
  }

  #receive(value: unknown): void {
    const { logger } = this.#options;
    const parsed = webviewMessage.safeParse(value);
    if (!parsed.success) {
      logger.warn(`The chat panel sent a message that was ignored: ${parsed.error.message}`);
      return;
    }
    this.#handle(parsed.data).then(undefined, (error: unknown) => {
      logger.error(`The chat panel's "${parsed.data.type}" failed: ${detailOf(error)}`);
    });
  }

  async #handle(message: WebviewMessage): Promise<void> {
    const { execute, session } = this.#options;
    if ('session' in message && message.session !== session.id) return;
    switch (message.type) {
      case 'ready':
        return this.#feed.connect();
      case 'focused':
        return this.#options.onDidFocus();
      case 'prompt':
        return this.#prompt(message.text, message.attachments ?? []);
      case 'promptTooLong':
        return void showWarning(
          vscode.l10n.t('The prompt is longer than 1,000,000 characters. Attach a file instead.'),
        );
      case 'tooManyAttached':
        return void showWarning(
          vscode.l10n.t('A prompt takes at most 20 attachments. Remove some of them first.'),
        );
      case 'stopCommand':
        return this.#options.commandRuns.stop(message.id);
      case 'answer':
        return this.#options.questions.answer(message.id, message.answer);
      case 'takeBack': {
        const prompt = session.queue.takeBack(message.id);
        if (prompt && message.edit) return this.putBack([prompt]);
        return this.#feed.send({ type: 'focus' });
      }
      case 'resolve': {
        const { id, action, reason, revision } = message;
        return void (await voteByCommand(this.#options, action, id, reason ?? '', revision));
      }
      case 'setMode':
        return this.#changeMode(message.mode);
      case 'setPlanMode':
        session.setPlanMode(message.on);
        return this.#feed.sendStatus();
      case 'attach': {
        const ref = await this.#context.pick();
        this.#feed.send({ type: 'attached', refs: ref ? [await this.#images.withImage(ref)] : [] });
        return this.#feed.send({ type: 'focus' });
      }
      case 'pasteImage':
        return this.#feed.send({
          type: 'attached',
          refs: await this.#images.pasted(message),
          isPasted: true,
        });
      case 'findFiles': {
        const { request, query } = message;
        return this.#feed.send({ type: 'files', request, paths: await this.#context.find(query) });
      }
      case 'openLink':
        return openLink(message.url, this.#options.logger);
      case 'openFile':
        return openNamedFile(this.#options, message.path, message.line);
      case 'applyShown':
        return this.#applyShown();
      default:
        return void (await runForPage(message, execute));
    }
  }

  /**
   * Sends a prompt in the mode that the switch showed at that time, or runs a slash command that is not a prompt. Without
   * attachments it answers the question that the model asks, if any.
   */
  async #prompt(text: string, refs: readonly AttachmentRef[]): Promise<void> {
    const { session, workspace, onWillPrompt, questions } = this.#options;
    const command = parseSlashCommand(text);
    if (command && command.kind !== 'call') return void (await this.#commands.answer(text, command));
    const { open } = questions;
    if (!command && refs.length === 0 && open?.about === 'choice') return questions.answer(open.id, text);
    const { id, queue } = session;
    const { moment } = queue;
    await this.#modeSet;
    const reading = this.#attachmentsRead.then(async () => {
      const named = command ? [] : await this.#context.named(text);
      const wanted = command
        ? []
        : withNamed(refs, await Promise.all(named.map(ref => this.#images.withImage(ref))));
      const keep = (image: ImageFile) => this.#options.images.keep(image, id);
      return readAttachments(workspace, wanted, keep);
    });
    this.#attachmentsRead = reading;
    const attachments = await reading;
    onWillPrompt();
    await session.prompt(text, attachments, moment);
  }

  #changeMode(mode: ModelAuthority): Promise<void> {
    const set = this.#setMode(mode);
    this.#modeSet = set.catch(() => undefined);
    return set;
  }

  /** The webview's switch moves before the mode is set, so it is sent the real status even if setting it fails. */
  async #setMode(mode: ModelAuthority): Promise<void> {
    try {
      await this.#options.mode.set(mode);
    } finally {
      this.#feed.sendStatus();
    }
  }

  async #applyShown(): Promise<void> {
    const { activePreviewId, shownRevision, execute } = this.#options;
    const id = activePreviewId();
    const revision = id === undefined ? undefined : shownRevision(id);
    if (id === undefined || revision === undefined) return void (await execute('redline.preview.open'));
    await voteByCommand(this.#options, 'apply', id, '', revision);
  }
}

function outsideText(uris: readonly vscode.Uri[]): string {
  const names = uris.map(uri => oneLine(uri.path.slice(uri.path.lastIndexOf('/') + 1), 80)).join(', ');
  return vscode.l10n.t('Only files in the workspace can be attached. Not in the workspace: {0}', names);
}
