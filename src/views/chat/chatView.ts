import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { isOpen, type ModelAuthority } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { SessionEvent } from '../../agent/session/events.ts';
import type { Session } from '../../agent/session/session.ts';
import type { CommandArguments, CommandId } from '../contributions.ts';
import { chatHtml } from './chatHtml.ts';
import { DiffStats } from './diffStats.ts';
import { itemDelta } from './itemDelta.ts';
import { LiveTurn, type Effect } from './liveTurn.ts';
import {
  fill,
  webviewMessage,
  type ChatAction,
  type ChatStatus,
  type HostMessage,
  type ViewItem,
  type WebviewMessage,
} from './protocol.ts';
import { chatStrings, transcriptStrings } from './strings.ts';
import { arrivingItem, buildTranscript } from './transcript.ts';

/** How long changes are gathered before they are sent, in milliseconds. */
const THROTTLE_MS = 50;

const EXAMPLES = ['/edit README.md :: old text => new text', '/write notes.md :: Hello', '/help'];

export interface ChatViewOptions {
  readonly extensionUri: vscode.Uri;
  readonly session: Session;
  readonly store: PreviewStore;
  readonly mode: {
    get(): ModelAuthority;
    set(mode: ModelAuthority): Thenable<void>;
    readonly onDidChange: vscode.Event<void>;
  };
  readonly modelLabel: () => string;
  /** A person is about to ask something here. */
  readonly onWillPrompt: () => void;
  readonly execute: <K extends CommandId>(id: K, ...args: CommandArguments[K]) => Thenable<unknown>;
  readonly logger: Logger;
}

/**
 * The chat panel. It owns no truth: the webview shows what session and store say, and is sent everything anew
 * whenever it reloads. What comes from the webview is validated, and turns into the same commands that keys and menus
 * use.
 */
export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #options: ChatViewOptions;
  readonly #owned = new DisposableStore();
  readonly #live = new LiveTurn();
  readonly #stats: DiffStats;
  readonly #strings = transcriptStrings(vscode.l10n);
  #view: vscode.WebviewView | undefined;
  /** What the webview shows; `undefined` while none is listening. */
  #shown: { readonly sessionId: string; items: readonly ViewItem[]; status: ChatStatus } | undefined;
  /** Prompts that this panel sent while the session ran. */
  #queued: string[] = [];
  /** Sent as soon as a webview listens. */
  #waiting: HostMessage[] = [];
  #dirty: Effect = 'none';
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ChatViewOptions) {
    this.#options = options;
    this.#stats = this.#owned.add(new DiffStats(options.logger, () => this.refresh()));
    this.#owned.add(options.session.onDidEmit(event => this.#follow(event)));
    this.#owned.add(options.mode.onDidChange(() => this.refresh()));
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extensionUri } = this.#options;
    const uri = (...path: string[]): string =>
      view.webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...path)).toString();
    this.#view = view;
    this.#shown = undefined;
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: ['dist', 'media'].map(folder => vscode.Uri.joinPath(extensionUri, folder)),
    };
    const listening = new DisposableStore();
    listening.add(view.webview.onDidReceiveMessage(message => this.#receive(message)));
    listening.add(
      view.onDidChangeVisibility(() => {
        // A hidden webview is unloaded; it says `ready` when it is back.
        if (!view.visible) this.#shown = undefined;
      }),
    );
    view.onDidDispose(() => {
      listening.dispose();
      if (this.#view !== view) return;
      this.#view = undefined;
      this.#shown = undefined;
    });
    view.webview.html = chatHtml({
      cspSource: view.webview.cspSource,
      nonce: randomBytes(16).toString('base64'),
      scriptUri: uri('dist', 'chat.js'),
      styleUris: [uri('dist', 'codicon.css'), uri('media', 'chat.css')],
      language: vscode.env.language,
    });
  }

  /** Shows the panel and puts the keyboard in its composer. */
  async focusInput(): Promise<void> {
    await this.#reveal();
    this.#send({ type: 'focus' });
  }

  /** Shows the panel and puts text in its composer, where the cursor is. */
  async insertText(text: string): Promise<void> {
    await this.#reveal();
    this.#send({ type: 'insert', text });
  }

  /** Reads everything anew, e.g. after a setting changed that the session does not report. */
  refresh(): void {
    this.#mark('all');
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#owned.dispose();
  }

  async #reveal(): Promise<void> {
    if (this.#view) this.#view.show(false);
    else await vscode.commands.executeCommand('workbench.view.extension.redline');
  }

  #follow(event: SessionEvent): void {
    if (event.type === 'reset' || (event.type === 'state_changed' && event.state !== 'running'))
      this.#queued = [];
    if (event.type === 'message_end' && event.message.role === 'user') {
      const at = this.#queued.indexOf(event.message.text);
      if (at >= 0) this.#queued.splice(at, 1);
    }
    this.#mark(this.#live.follow(event));
  }

  #mark(effect: Effect): void {
    if (effect === 'none' || !this.#shown) return;
    if (this.#dirty !== 'all') this.#dirty = effect;
    this.#timer ??= setTimeout(() => this.#flush(), THROTTLE_MS);
  }

  #flush(): void {
    this.#timer = undefined;
    const effect = this.#dirty;
    this.#dirty = 'none';
    if (!this.#shown) return;
    if (this.#shown.sessionId !== this.#options.session.id) return this.#sendSnapshot();
    const { items: before, status: oldStatus } = this.#shown;
    const items = effect === 'text' ? this.#withArriving(before) : this.#items();
    const status = this.#status();
    const statusChanged = JSON.stringify(status) !== JSON.stringify(oldStatus);
    const delta = itemDelta(before, items) ?? (statusChanged ? { items: [], texts: [] } : undefined);
    this.#shown.items = items;
    this.#shown.status = status;
    if (delta) this.#post({ type: 'delta', ...delta, ...(statusChanged ? { status } : {}) });
  }

  /** The shown items with what has arrived since; the whole list is not built for a few words. */
  #withArriving(before: readonly ViewItem[]): readonly ViewItem[] {
    const item = arrivingItem(this.#options.session.messages, this.#live.text);
    return before.map(old => (old.key === item.key ? item : old));
  }

  #sendSnapshot(): void {
    const { session } = this.#options;
    this.#shown = { sessionId: session.id, items: this.#items(), status: this.#status() };
    this.#post({
      type: 'snapshot',
      strings: chatStrings(vscode.l10n),
      examples: EXAMPLES,
      items: [...this.#shown.items],
      status: this.#shown.status,
    });
    for (const message of this.#waiting.splice(0)) this.#post(message);
  }

  #items(): ViewItem[] {
    const { session, store } = this.#options;
    return buildTranscript({
      sessionId: session.id,
      state: session.state,
      messages: session.messages,
      arriving: this.#live.text,
      liveResult: id => this.#live.result(id),
      queued: this.#queued,
      previews: store.all(),
      ledger: store.ledger(),
      stats: preview => this.#stats.of(preview),
      strings: this.#strings,
    });
  }

  #status(): ChatStatus {
    const { session, store, mode, modelLabel } = this.#options;
    const pending = store.all().filter(isOpen).length;
    return {
      state: session.state,
      mode: mode.get(),
      model: modelLabel(),
      pending,
      pendingLabel: pending > 0 ? fill(this.#strings.pending, pending) : '',
      line: this.#line(pending),
    };
  }

  #line(pending: number): string {
    switch (this.#options.session.state) {
      case 'idle':
        return '';
      case 'awaitingReview':
        return fill(this.#strings.waiting, pending);
      case 'running': {
        const tool = this.#live.runningTool;
        return tool === undefined ? this.#strings.working : fill(this.#strings.runningTool, tool);
      }
    }
  }

  #send(message: HostMessage): void {
    if (this.#shown) this.#post(message);
    else this.#waiting.push(message);
  }

  #post(message: HostMessage): void {
    void this.#view?.webview.postMessage(message);
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
    const { execute } = this.#options;
    switch (message.type) {
      case 'ready':
        return this.#sendSnapshot();
      case 'prompt':
        return this.#prompt(message.text);
      case 'stop':
        return void (await execute('redline.session.stop'));
      case 'new':
        return void (await execute('redline.session.new'));
      case 'resolve': {
        const { id, action, reason, revision } = message;
        const command = action === 'apply' ? 'redline.preview.apply' : 'redline.preview.discard';
        return void (await execute(command, id, reason ?? '', revision));
      }
      case 'open':
        return void (await execute('redline.preview.open', message.id));
      case 'setMode':
        return this.#setMode(message.mode);
      case 'action':
        return this.#act(message.name);
      case 'openLink':
        return this.#openLink(message.url);
    }
  }

  async #prompt(text: string): Promise<void> {
    const { session, onWillPrompt } = this.#options;
    onWillPrompt();
    if (session.state === 'running') {
      this.#queued.push(text);
      this.refresh();
    }
    await session.prompt(text);
  }

  /** The switch moves before it is set: if setting it fails, it is told where it stands. */
  async #setMode(mode: ModelAuthority): Promise<void> {
    try {
      await this.#options.mode.set(mode);
    } finally {
      if (this.#shown) this.#post({ type: 'delta', items: [], texts: [], status: this.#status() });
    }
  }

  async #act(name: ChatAction): Promise<void> {
    const { execute } = this.#options;
    switch (name) {
      case 'showLog':
        return void (await execute('redline.showLog'));
      case 'setApiKey':
        return void (await execute('redline.setApiKey'));
      case 'continue':
        return void (await execute('redline.session.continue'));
      case 'openSettings':
        return void (await vscode.commands.executeCommand('workbench.action.openSettings', 'redline'));
    }
  }

  /** Only the web; everything else stays text. */
  async #openLink(url: string): Promise<void> {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
      this.#options.logger.warn('The chat panel asked for a link that is not of the web; it was not opened.');
      return;
    }
    await vscode.env.openExternal(vscode.Uri.parse(parsed.href, true));
  }
}
