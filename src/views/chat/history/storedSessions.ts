import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { beginningOf } from '../../../agent/base/cutText.ts';
import { hasCode } from '../../../agent/base/errors.ts';
import { UnknownLogVersionError } from '../../../agent/base/log/logFormat.ts';
import { missedResolutions } from '../../../agent/session/conversation/auditTrail.ts';
import { sessionMarkdown } from '../../../agent/session/conversation/storage/sessionMarkdown.ts';
import type { StoredSession } from '../../../agent/session/conversation/storage/storedSession.ts';
import { oneLine } from '../../plainText.ts';
import { confirm, showInfo, showWarning } from '../../toast.ts';
import { pickSession, type SessionChoice } from './sessionPick.ts';
import type { Agent } from '../../agent.ts';

const MAX_TITLE = 120;

/** Opens, renames, deletes and exports stored sessions. */
export class StoredSessions {
  readonly #agent: Agent;
  /** Settles when the session that was requested last is open. */
  #opening: Promise<void> = Promise.resolve();

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** Lets the user choose, again after each button, until a session is opened or the list is closed. */
  async choose(): Promise<void> {
    for (;;) {
      const { session, sessions } = this.#agent;
      const choice = await pickSession(sessions, session);
      if (!choice) return;
      if (choice.action === 'open') return this.open(choice.id);
      await this.#run(choice);
    }
  }

  /** Opens a session, which stops a running turn of the current one. Requests are queued, since reading can take a while. */
  open(id: string): Promise<void> {
    const opened = this.#opening.then(() => this.#open(id));
    this.#opening = opened.catch(() => undefined);
    return opened;
  }

  async #open(id: string): Promise<void> {
    const { session, sessions } = this.#agent;
    if (id === session.id || !(await this.#mayChange(id))) return;
    const stored = await this.#read(id, 'readAndRepair');
    if (!stored) return;
    await session.open(stored);
    await sessions.touch(id);
  }

  async rename(id: string): Promise<void> {
    const { session, sessions } = this.#agent;
    const isOpen = id === session.id;
    if (!isOpen && !(await this.#mayChange(id))) return;
    const { title, firstWords } = isOpen
      ? { title: session.title, firstWords: '' }
      : await sessions.summarize(id);
    const text = await vscode.window.showInputBox({
      title: vscode.l10n.t('Rename Session'),
      value: title ?? oneLine(firstWords, MAX_TITLE),
      prompt: vscode.l10n.t('A name for this session'),
      validateInput: value => (value.trim() === '' ? vscode.l10n.t('Enter a name.') : null),
    });
    const name = oneLine(text ?? '', MAX_TITLE);
    if (name === '') return;
    // It may have been opened or closed while the user was typing.
    if (id === session.id) session.rename(name);
    else await sessions.rename(id, name);
  }

  /** Deleting the current session starts a new one first, so that nothing writes to a deleted log. */
  async delete(id: string): Promise<void> {
    const { session, sessions } = this.#agent;
    if (!(await this.#mayChange(id))) return;
    const agreed = await confirm(
      vscode.l10n.t('Delete the session “{0}”?', await this.#nameOf(id)),
      vscode.l10n.t('Its messages are deleted permanently. Previews and the ledger are kept.'),
      vscode.l10n.t('Delete'),
    );
    if (!agreed) return;
    if (id === session.id) await session.new();
    await session.logs.discard(id);
    await sessions.delete(id);
  }

  /** Writes the trunk as Markdown, or the log itself with all branches if the file's name ends in `.jsonl`. */
  async export(id: string, given?: vscode.Uri): Promise<void> {
    const name = await this.#nameOf(id);
    const file = given ?? (await askFile(name));
    if (!file) return;
    const content = file.path.endsWith('.jsonl') ? await this.#readLog(id) : await this.#markdown(id, name);
    if (content === undefined) return;
    await vscode.workspace.fs.writeFile(file, content);
    if (given) return;
    const open = vscode.l10n.t('Open');
    const text = vscode.l10n.t('Exported the session to {0}.', path.posix.basename(file.path));
    if ((await showInfo(text, open)) === open) await vscode.window.showTextDocument(file);
  }

  #run({ action, id }: SessionChoice): Promise<void> {
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

  async #readLog(id: string): Promise<Uint8Array | undefined> {
    if (!(await this.#isSaved(id))) return undefined;
    return readFile(this.#agent.sessions.fileOf(id)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
      void showInfo(vscode.l10n.t('This session has no messages yet.'));
      return undefined;
    });
  }

  async #markdown(id: string, name: string): Promise<Uint8Array | undefined> {
    const { session } = this.#agent;
    const source = id === session.id ? session : await this.#readForExport(id);
    if (!source) return undefined;
    return sessionMarkdown(source, name);
  }

  /** A session that is not open, brought up to date with previews that were resolved since. */
  async #readForExport(id: string): Promise<StoredSession | undefined> {
    const stored = await this.#read(id, 'read');
    const missed = stored ? missedResolutions(stored, this.#agent.store) : [];
    for (const resolution of missed) stored?.trail.recordResolution(stored.tree, resolution);
    return stored;
  }

  async #nameOf(id: string): Promise<string> {
    const { session, sessions } = this.#agent;
    if (id === session.id && session.title !== undefined) return session.title;
    const found = await sessions.summarize(id).catch(() => undefined); // a new session is not stored yet
    return oneLine(found?.title ?? found?.firstWords ?? '', MAX_TITLE) || vscode.l10n.t('Session');
  }

  /** Reads a session to open it, or only to view it. `undefined` if that fails, in which case the user is told. */
  async #read(id: string, purpose: 'readAndRepair' | 'read'): Promise<StoredSession | undefined> {
    if (!(await this.#isSaved(id))) return undefined;
    try {
      const stored = await this.#agent.sessions[purpose](id, this.#agent.logger);
      await stored.tree.readAhead();
      return stored;
    } catch (error) {
      if (!(error instanceof UnknownLogVersionError)) throw error;
      this.#agent.logger.warn(error.message);
      void showWarning(
        vscode.l10n.t('That session was written by a newer version of Redline. It was left unchanged.'),
      );
      return undefined;
    }
  }

  /** Whether the log holds the whole session; if not, the user is told. */
  async #isSaved(id: string): Promise<boolean> {
    if (await this.#agent.session.logs.drain(id)) return true;
    void showWarning(
      vscode.l10n.t(
        'Part of that session is not saved yet, since Redline cannot save to its storage. Try again once it can.',
      ),
    );
    return false;
  }

  async #mayChange(id: string): Promise<boolean> {
    const { ownsStorage, sessions } = this.#agent;
    const isHeld = ownsStorage && (await sessions.isHeld(id));
    if (ownsStorage && !isHeld) return true;
    void showInfo(
      isHeld
        ? vscode.l10n.t('This session is open in another window. Change it there.')
        : vscode.l10n.t('Another window manages the sessions of this workspace. Open or change them there.'),
    );
    return false;
  }
}

async function askFile(name: string): Promise<vscode.Uri | undefined> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const base = name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'conversation';
  return vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder.uri, `${beginningOf(base, 60)}.md`) } : {}),
    filters: { Markdown: ['md'], [vscode.l10n.t('Log with all branches')]: ['jsonl'] },
    title: vscode.l10n.t('Export Session'),
  });
}
