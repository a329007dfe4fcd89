import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { succeeds } from '../../base/async.ts';
import { detailOf, hasCode, messageWithoutPaths } from '../../base/errors.ts';
import { AgentView } from '../../sandbox/agentView/agentView.ts';
import { TooLargeError } from '../../sandbox/agentView/frozenFolder.ts';
import { COPIES, removeLeftCopies } from '../../sandbox/agentView/workCopy.ts';
import { CancelledError } from '../../sandbox/view/copyEngine.ts';
import { runningIn } from '../../sandbox/view/firstProcess.ts';
import { Namespace } from '../../sandbox/view/namespace.ts';
import { emptyWork } from '../../sandbox/view/upperTree.ts';
import { StartedProcesses } from '../../base/system/startedProcesses.ts';
import { isInside } from '../../base/system/realPath.ts';
import { agentNameOf } from '../agentName.ts';
import { LiveView } from './liveView.ts';
import { mountsOf } from './mountsOf.ts';
import { sessionOf } from './terminalSessions.ts';
import { farewell } from './terminalWords.ts';
import type { AgentViewsHost } from './viewsHost.ts';
import { ownerOf, writeOwner, type ViewOwner } from './viewOwner.ts';
import { TerminalFiles } from './terminalFiles.ts';
import { Lines, programSchema, type ProgramMessage, type WindowMessage } from './viewLines.ts';

/** Stands for the root of a view that is not mounted. */
const NOWHERE = '/';
/** Name of the file that marks a view whose changes could not become previews and are kept for the person. */
const KEPT = 'kept';
const NOT_MOUNTED = 'The view is not mounted.';
/** Milliseconds that the view of a killed program may take to go: nothing reports its end. */
const GONE_MS = 5_000;
const GONE_POLL_MS = 50;

/** The views of a window, in which agents work that `redline-run` has started. */
export class AgentViews {
  readonly #host: AgentViewsHost;
  readonly #live = new Map<string, LiveView>();
  /** The connections of programs by their ids, even while their views are made. */
  readonly #served = new Map<string, Connection>();
  /** The preview sessions of the agents at work, by the id of their program. */
  readonly #sessions = new Map<string, string>();
  /** The record of changes taken from a view. Previews that are not stored are this window's alone, and so is their record. */
  #record: string | undefined;
  /** Settles once the records of views are joined that this window kept apart. */
  #joined: Promise<void> = Promise.resolve();
  /** The views that this window has opened, by their folders. */
  readonly #open = new Map<string, AgentView>();
  readonly #terminals: TerminalFiles;
  #isClosed = false;

  constructor(host: AgentViewsHost) {
    this.#host = host;
    const serve = (socket: Duplex, id: string): void => void this.serve(socket, id);
    this.#terminals = new TerminalFiles(host.storage, serve, () => this.#record === undefined);
    if (!host.keepsPreviews) this.#record = `known-${randomUUID()}`;
  }

  /** Lets new terminals of this window in. @returns the file that tells them where @throws the error of the system */
  terminalFile(): Promise<string> {
    return this.#terminals.own();
  }

  /** Lets in the terminals that this window had before a reload. @throws the error of the system */
  goOn(): Promise<void> {
    return this.#terminals.inherit();
  }

  /** Serves one program until it ends or goes away. Never rejects. */
  async serve(socket: Duplex, id: string): Promise<void> {
    const lines: Connection = new Lines(socket, programSchema);
    this.#served.set(id, lines);
    try {
      await this.#serve(lines, id);
    } catch (error) {
      this.#host.logger.error(`The view of an agent failed: ${detailOf(error)}`);
      lines.send({ kind: 'refused', reason: messageWithoutPaths(error) });
    } finally {
      lines.close();
      if (this.#served.get(id) === lines) this.#served.delete(id);
      this.#open.delete(path.join(this.#host.storage, id));
    }
  }

  /**
   * The previews of this window are stored from now on, so the next one must not take them from the views again. Terminals of the
   * window that stored them before are let in. Never rejects.
   */
  async keepRecord(): Promise<void> {
    const record = this.#record;
    this.#record = undefined;
    if (record !== undefined) this.#joined = this.#join(record);
    // A terminal that is not let in now comes back after the next start.
    await this.#joined.then(() => (this.#isClosed ? undefined : this.goOn())).catch(() => undefined);
  }

  async #join(record: string): Promise<void> {
    for (const id of await this.#folders()) {
      const folder = path.join(this.#host.storage, id);
      try {
        const isKnown = await succeeds(fs.access(path.join(folder, `${record}.json`)));
        const view = this.#open.get(folder) ?? (isKnown && (await AgentView.reopen(folder, record)));
        if (view) await view.joinRecord();
      } catch (error) {
        this.#host.logger.error(`What was taken from ${folder} is proposed again: ${detailOf(error)}`);
      }
    }
  }

  /**
   * Takes the changes of programs that ended while no window was open, and lets the others come back.
   * @returns whether some are still at work, or may be
   */
  async recover(): Promise<boolean> {
    let isAnyAtWork = false;
    const folders = await this.#folders();
    await removeLeftCopies(this.#host.storage, folders).catch(() => undefined); // the next start tries again
    for (const id of folders.filter(name => !COPIES.test(name))) {
      const folder = path.join(this.#host.storage, id);
      let owner: ViewOwner | undefined;
      try {
        if (this.#served.has(id) || (await succeeds(fs.access(path.join(folder, KEPT))))) continue;
        owner = await ownerOf(folder);
        const view = await AgentView.reopen(folder);
        if (await view.isBeingMade()) continue;
        if (!owner || (await view.isOver())) await view.remove();
        else if (await view.isMounted(owner.view)) isAnyAtWork = true;
        else await this.#takeAgain(folder, owner);
      } catch (error) {
        if (await isGone(folder)) continue; // a window that was closing has just removed it
        this.#host.logger.error(`What an agent has written is still in ${folder}: ${detailOf(error)}`);
        if (owner) this.#host.onTrouble(owner.agent, error);
        isAnyAtWork = true;
      }
    }
    await (isAnyAtWork ? this.#terminals.inherit() : this.#terminals.clear());
    return isAnyAtWork;
  }

  /** Why no view can be made here, in a sentence; `undefined` if one can. */
  async obstacle(): Promise<string | undefined> {
    const found = await this.#host.mount();
    return found.engine === undefined ? this.#host.sentenceOf(found.why) : undefined;
  }

  /** Stops looking at the views. The agents go on, and their changes are kept for the next window. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#live.values()].map(live => live.stop()));
    this.#live.clear();
    for (const lines of this.#served.values()) lines.close();
    await this.#terminals.close(this.#served.size > 0);
  }

  /** The names of the folders of all views, and of those with copies. */
  async #folders(): Promise<readonly string[]> {
    const entries = await fs.readdir(this.#host.storage, { withFileTypes: true }).catch(() => []);
    return entries.filter(each => each.isDirectory()).map(({ name }) => name);
  }

  async #serve(lines: Connection, id: string): Promise<void> {
    const first = await lines.next();
    if (first?.kind !== 'open' && first?.kind !== 'again') return;
    const agent = agentNameOf({ name: first.agent, version: '' }, this.#host.l10n);
    const folder = path.join(this.#host.storage, id);
    const refusal = first.kind === 'open' ? await this.#refusal(first.cwd) : undefined;
    if (refusal !== undefined) return lines.send({ kind: 'refused', reason: refusal });
    const isOver = first.kind === 'again' && (await isGone(folder));
    if (isOver) return lines.send({ kind: 'refused', reason: NOT_MOUNTED });
    const view = await (first.kind === 'open' ? this.#make(folder, lines) : this.#reopen(folder));
    if (typeof view === 'string') return lines.send({ kind: 'refused', reason: view });
    let keeps = true;
    let live: LiveView | undefined;
    try {
      const sessionId =
        (await ownerOf(folder))?.sessionId ?? sessionOf(agent, this.#host.store.open, this.#sessions, id);
      this.#sessions.set(id, sessionId);
      const owner = { view: NOWHERE, agent, sessionId };
      const entered = first.kind === 'open' ? await this.#begin(lines, view, folder, owner) : first.view;
      if (entered === undefined || !(await view.enter(entered))) {
        // It has gone with its view, perhaps after it had written something.
        lines.send({ kind: 'refused', reason: NOT_MOUNTED });
        lines.close();
        await lines.closed;
        return this.#isClosed ? undefined : await this.#takeAgain(folder, owner);
      }
      if (this.#isClosed) return; // it comes back to the next window, and nobody would stop looking at its view here
      live = this.#liveView(view, owner);
      this.#live.set(id, live);
      live.start();
      lines.send({ kind: 'watching' });
      const ended = await lines.next();
      if (this.#isClosed) return;
      if (ended?.kind === 'ended') await ((await view.isOver()) ? live.stop() : live.end());
      else {
        // It was killed, and the view goes with it.
        await live.stop();
        return await this.#takeAgain(folder, owner);
      }
      keeps = live.notTaken.isTooMuch;
      if (keeps) await keep(view);
      lines.send({ kind: 'taken', lines: farewell(live, view.written, this.#host.l10n) });
    } catch (error) {
      this.#host.logger.error(
        `The view of ${agent.name} failed; what it has written is in ${folder}: ${detailOf(error)}`,
      );
      lines.send({ kind: 'refused', reason: messageWithoutPaths(error) });
    } finally {
      this.#live.delete(id);
      this.#sessions.delete(id);
      // The view must be gone before its parts are removed.
      if (!keeps) {
        await lines.closed;
        await view.remove();
      }
    }
  }

  /**
   * Lets a program begin in the view. From then on it may write, even if nothing is heard of it again.
   * @returns a path to the root of the view; `undefined` if it has gone
   */
  async #begin(
    lines: Connection,
    view: AgentView,
    folder: string,
    owner: ViewOwner,
  ): Promise<string | undefined> {
    await writeOwner(folder, owner);
    lines.send(await mountsOf(view, owner, this.#host));
    const entered = await lines.next();
    if (entered?.kind !== 'entered') return undefined;
    const { view: at, processes } = entered;
    await writeOwner(folder, { ...owner, view: at, processes });
    return at;
  }

  #liveView(view: AgentView, { agent, sessionId }: ViewOwner): LiveView {
    return new LiveView(this.#host, view, { id: sessionId, agent }, what =>
      this.#host.onNotTaken(agent, what),
    );
  }

  async #refusal(cwd: string): Promise<string | undefined> {
    const { folders, l10n, storage } = this.#host;
    const roots = await Promise.all(folders().map(({ fsPath }) => fs.realpath(fsPath)));
    if (!roots.some(root => isInside(cwd, root)))
      return l10n.t('{0} is in no folder that the window of VS Code has open.', cwd);
    await fs.mkdir(storage, { recursive: true, mode: 0o700 });
    return undefined;
  }

  /** @returns why it cannot be made, if that is known */
  async #make(folder: string, lines: Connection): Promise<AgentView | string> {
    const { folders, limits, l10n, mount, sentenceOf, progress } = this.#host;
    const found = await mount();
    if (found.engine === undefined) return sentenceOf(found.why);
    const gone = new AbortController();
    void lines.closed.then(() => gone.abort());
    const copying = found.engine === 'copy' ? { progress, signal: gone.signal } : undefined;
    try {
      return await this.#opened(record => AgentView.create(folders(), folder, limits(), copying, record));
    } catch (error) {
      if (error instanceof CancelledError) return l10n.t('Copying the workspace was cancelled.');
      if (error instanceof TooLargeError)
        return l10n.t('The workspace is larger than what redline.sandbox.maxCopySize allows.');
      return l10n.t('The workspace could not be copied: {0}', messageWithoutPaths(error));
    }
  }

  #reopen(folder: string): Promise<AgentView> {
    return this.#opened(record => AgentView.reopen(folder, record));
  }

  async #opened(opening: (record: string | undefined) => Promise<AgentView>): Promise<AgentView> {
    await this.#joined;
    const record = this.#record;
    const view = await opening(record);
    this.#open.set(view.storage, view);
    if (record !== this.#record) await view.joinRecord();
    return view;
  }

  /** Mounts again the view of a program that has gone, and takes its changes. */
  async #takeAgain(folder: string, owner: ViewOwner): Promise<void> {
    const view = await this.#reopen(folder);
    const former = await ownerOf(folder);
    // Two mounts of one upper tree would not see each other, and processes of the program may still be about to end.
    for (
      let waited = 0;
      former && ((await view.isMounted(former.view)) || (await runningIn(folder)));
      waited += GONE_POLL_MS
    ) {
      if (waited >= GONE_MS) throw new Error('The view is still mounted.');
      await delay(GONE_POLL_MS);
    }
    // `redline-run` was killed; with an overlay, its program goes with it.
    const left = former?.processes && (await StartedProcesses.of(former.processes).end('all'));
    if (left && left.running?.length !== 0) throw new Error('Its processes are still at work.');
    if (await view.isOver()) return await view.remove();
    const { storage, folders, links, copies } = view.mounts;
    if (copies.length > 0) return this.#takeRest(view, NOWHERE, owner);
    // An earlier attempt that broke off may have left a mark; while it is there, the kernel refuses to mount.
    for (const { state } of folders) await emptyWork(path.join(state, 'work'));
    const namespace = new Namespace({
      storage,
      folders,
      links: new Map(links),
      deleted: [],
      cwd: '/',
      program: ['/bin/true'],
      environment: {},
      searchPath: '',
    });
    try {
      const { view: root } = await namespace.ended;
      if (root === undefined) throw new Error('it cannot be mounted');
      await this.#takeRest(view, root, owner, () => namespace.release());
    } finally {
      await namespace.release();
    }
  }

  /** @param release lets go of the mounted view */
  async #takeRest(
    view: AgentView,
    root: string,
    owner: ViewOwner,
    release?: () => Promise<void>,
  ): Promise<void> {
    if (!(await view.enter(root))) throw new Error('it cannot be mounted');
    const live = this.#liveView(view, owner);
    await live.end();
    if (live.notTaken.isTooMuch) return await keep(view);
    await release?.();
    await view.remove();
  }
}

type Connection = Lines<ProgramMessage, WindowMessage>;

/** Whether there is nothing of a view. */
async function isGone(folder: string): Promise<boolean> {
  const left = await fs.readdir(folder).catch((error: unknown) => (hasCode(error, 'ENOENT') ? [] : [error]));
  return left.length === 0;
}

/** Keeps the changes of a view for the person, without set-user-ID and set-group-ID bits. */
async function keep(view: AgentView): Promise<void> {
  await view.clearSetId();
  await fs.writeFile(path.join(view.storage, KEPT), '');
}
