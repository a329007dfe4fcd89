import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Session } from '../../agent/session/session.ts';
import type { SessionLogs } from '../../agent/session/sessionLog.ts';
import { sessionMarkdown } from '../../agent/session/sessionMarkdown.ts';
import { missedResolutions } from '../../agent/session/missedResolutions.ts';
import type { StoredSession } from '../../agent/session/storedSession.ts';
import { oneLine } from '../plainText.ts';
import { confirm, showInfo, showWarning } from '../toast.ts';
import type { CommandHandlers } from './registerCommand.ts';
import { pickSession, type SessionWish } from './sessionPick.ts';

export interface StoredSessionsOptions {
  readonly session: Session;
  readonly sessions: SessionLogs;
  readonly store: PreviewStore;
  /** Whether this window keeps the workspace's storage; another one may be writing there. */
  readonly ownsStorage: boolean;
  readonly log: vscode.LogOutputChannel;
}

const MAX_TITLE = 120;

/** Opening, naming, deleting and exporting conversations. */
export function storedSessionCommands(options: StoredSessionsOptions): CommandHandlers {
  const stored = new StoredSessions(options);
  const idOf = (given: unknown): string => (typeof given === 'string' ? given : options.session.id);
  return {
    'redline.session.open': given => (typeof given === 'string' ? stored.open(given) : stored.choose()),
    'redline.session.rename': given => stored.rename(idOf(given)),
    'redline.session.delete': given => stored.delete(idOf(given)),
    'redline.session.export': (given, file) =>
      stored.export(idOf(given), file instanceof vscode.Uri ? file : undefined),
  };
}

class StoredSessions {
  readonly #options: StoredSessionsOptions;
  /** Settles when the conversation that was asked for last is open. */
  #opening: Promise<void> = Promise.resolve();

  constructor(options: StoredSessionsOptions) {
    this.#options = options;
  }

  /** Asks which one, again after each button until one is opened or the list is closed. */
  async choose(): Promise<void> {
    for (;;) {
      const { session, sessions } = this.#options;
      const wish = await pickSession(sessions, session);
      if (!wish) return;
      if (wish.action === 'open') return this.open(wish.id);
      await this.#do(wish);
    }
  }

  /** A running turn of the conversation that is left is stopped. One after the other: reading a long one takes a while. */
  open(id: string): Promise<void> {
    const opened = this.#opening.then(() => this.#open(id));
    this.#opening = opened.catch(() => undefined);
    return opened;
  }

  async #open(id: string): Promise<void> {
    const { session, sessions } = this.#options;
    if (id === session.id || !this.#mayChange()) return;
    const stored = await this.#stored(id, 'read');
    if (!stored) return;
    await session.open(stored);
    await sessions.touch(id);
  }

  async rename(id: string): Promise<void> {
    const { session, sessions } = this.#options;
    const isOpen = id === session.id;
    if (!isOpen && !this.#mayChange()) return;
    const { title, firstWords } = isOpen
      ? { title: session.title, firstWords: '' }
      : await sessions.describe(id);
    const text = await vscode.window.showInputBox({
      title: vscode.l10n.t('Rename Session'),
      value: title ?? oneLine(firstWords, MAX_TITLE),
      prompt: vscode.l10n.t('A name for this session'),
      validateInput: value => (value.trim() === '' ? vscode.l10n.t('A name has at least one letter.') : null),
    });
    const name = oneLine(text ?? '', MAX_TITLE);
    if (name === '') return;
    // It may have been opened or left while the person typed.
    if (id === session.id) session.rename(name);
    else await sessions.rename(id, name);
  }

  /** Deleting the open one begins a new one first: nothing writes to a log that is gone. */
  async delete(id: string): Promise<void> {
    const { session, sessions } = this.#options;
    if (!this.#mayChange()) return;
    const agreed = await confirm(
      vscode.l10n.t('Delete the session "{0}"?', await this.#nameOf(id)),
      vscode.l10n.t('Its messages are gone for good. Previews and the ledger stay.'),
      vscode.l10n.t('Delete'),
    );
    if (!agreed) return;
    if (id === session.id) await session.new();
    await sessions.delete(id);
  }

  /** The trunk as Markdown, or everything as it is stored. */
  async export(id: string, given?: vscode.Uri): Promise<void> {
    const name = await this.#nameOf(id);
    const file = given ?? (await askFile(name));
    if (!file) return;
    const content = file.path.endsWith('.jsonl') ? await this.#log(id) : await this.#markdown(id, name);
    if (content === undefined) return;
    await vscode.workspace.fs.writeFile(file, content);
    if (given) return;
    const open = vscode.l10n.t('Open');
    const text = vscode.l10n.t('Exported the session to {0}.', path.posix.basename(file.path));
    if ((await showInfo(text, open)) === open) await vscode.window.showTextDocument(file);
  }

  #do({ action, id }: SessionWish): Promise<void> {
    switch (action) {
      case 'open':
        return this.open(id);
      case 'rename':
        return this.rename(id);
      case 'delete':
        return this.delete(id);
      case 'export':
        return this.export(id);
    }
  }

  async #log(id: string): Promise<Uint8Array | undefined> {
    return readFile(this.#options.sessions.fileOf(id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      void showInfo(vscode.l10n.t('Nothing was said yet.'));
      return undefined;
    });
  }

  async #markdown(id: string, name: string): Promise<Uint8Array | undefined> {
    const { session } = this.#options;
    const said = id === session.id ? session : await this.#view(id);
    return said && Buffer.from(sessionMarkdown(said, name));
  }

  /** One that is not open, with what it has not heard of yet. */
  async #view(id: string): Promise<StoredSession | undefined> {
    const stored = await this.#stored(id, 'view');
    const missed = stored ? missedResolutions(stored, this.#options.store) : [];
    for (const resolution of missed) stored?.trail.resolve(stored.tree, resolution);
    return stored;
  }

  async #nameOf(id: string): Promise<string> {
    const { session, sessions } = this.#options;
    if (id === session.id && session.title !== undefined) return session.title;
    const found = await sessions.describe(id).catch(() => undefined); // nothing is stored of a new one
    return oneLine(found?.title ?? found?.firstWords ?? '', MAX_TITLE) || vscode.l10n.t('Session');
  }

  /** For taking it up, or for looking at it. `undefined` for one of a newer version, which the person is told. */
  async #stored(id: string, purpose: 'read' | 'view'): Promise<StoredSession | undefined> {
    try {
      const stored = await this.#options.sessions[purpose](id, this.#options.log);
      await stored.tree.readAhead();
      return stored;
    } catch (error) {
      // By its name: this code has a copy of its own of the class.
      if (!(error instanceof Error) || error.name !== 'UnknownLogVersionError') throw error;
      this.#options.log.warn(error.message);
      void showWarning(
        vscode.l10n.t('A newer version of Redline wrote that session. It was left untouched.'),
      );
      return undefined;
    }
  }

  #mayChange(): boolean {
    if (this.#options.ownsStorage) return true;
    void showInfo(
      vscode.l10n.t('Another window keeps the sessions of this workspace. Open and change them there.'),
    );
    return false;
  }
}

async function askFile(name: string): Promise<vscode.Uri | undefined> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const base = name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '') || 'conversation';
  return vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder.uri, `${base.slice(0, 60)}.md`) } : {}),
    filters: { Markdown: ['md'], [vscode.l10n.t('Log with all branches')]: ['jsonl'] },
    title: vscode.l10n.t('Export Session'),
  });
}
