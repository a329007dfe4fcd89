import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DisposableStore } from '../../base/disposable.ts';
import { detailOf, ToolError } from '../../base/errors.ts';
import { english, type Sentence } from '../../base/localiser.ts';
import type { Logger } from '../../base/logger.ts';
import type { AgentView } from '../../sandbox/agentView/agentView.ts';
import { NO_FACTS } from '../../sandbox/agentView/collected.ts';
import type { Stayed } from '../../sandbox/agentView/stayed.ts';
import { placeForeign } from '../../hold/external/foreignChange.ts';
import { inPreviews, type LeftOut } from '../../hold/external/gathered.ts';
import { contentOf } from '../../hold/preview/blobs.ts';
import { UnsavedEditorError } from '../../hold/preview/errors.ts';
import type { FileChange } from '../../hold/preview/fileChange.ts';
import { foldersAbove, stepsOf } from '../../hold/preview/fileSteps.ts';
import { pathsOf, type AgentName, type Preview, type Purpose } from '../../hold/preview/preview.ts';
import { queueResolveHandler, type ResolveHost } from '../../hold/preview/queueResolveHandler.ts';
import type { FileContent, Workspace } from '../../hold/preview/workspace.ts';
import { MAX_PENDING } from '../agentClient.ts';
import { OwnPreviews } from '../ownPreviews.ts';
import { firstOf } from './fileWords.ts';
import { Followed } from './followed.ts';
import { KeptKeys } from './keptKeys.ts';
import { pendingOf } from './terminalSessions.ts';
import { AGENT_SETTINGS } from './terminalAgents.ts';
import { statusOf } from './viewStatus.ts';

/** How often to check for writes, in milliseconds. */
const POLL_MS = 400;
/** How many files the title of a preview names. */
const MAX_NAMED = 3;
/** The largest share of the time that checking may take. */
const LOOK_SHARE = 0.1;

/** When a view is looked at, and when its agent counts as resting. */
export interface ViewPace {
  /** How long the agent must write nothing to count as resting, in milliseconds. */
  readonly restMs: number;
  /** The longest wait before the view is looked at while something is still being written, in milliseconds. */
  readonly longestMs: number;
  /** Milliseconds on a clock that nobody sets. */
  now(): number;
  /** Settles when the next look is due, by default after `ms` milliseconds; at once when `signal` is aborted. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The pace at which people work. */
export const viewPace: ViewPace = {
  restMs: 2_000,
  longestMs: 8_000,
  now: () => performance.now(),
  wait: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
};

/** The ports of the views of a window. */
export interface ViewHost extends ResolveHost {
  readonly workspace: Workspace;
  readonly logger: Logger;
  readonly pace: ViewPace;
  /** Tells the person that the files of an agent cannot be read or written, perhaps since the disk is full. It is tried again. */
  readonly onTrouble: (agent: AgentName, error: unknown) => void;
}

/** Files of a view that are in no preview, to tell the person and the agent. */
export interface NotTaken {
  readonly leftOut: readonly LeftOut[];
  readonly isTooMuch: boolean;
  readonly commits: number;
  readonly lostGit: boolean;
  /** At the end: ignored files, which are gone with the view. */
  readonly stayed: readonly Stayed[];
}

/**
 * An agent at work in a view. Once it rests, its changes become previews, which build on its earlier ones and join their change set
 * while any of those is pending; decisions change the files of the view while it rests. So, like all agents, it sees the files as
 * if its own pending previews were applied.
 */
export class LiveView {
  readonly #host: ViewHost;
  readonly #view: AgentView;
  readonly #id: string;
  readonly #agent: AgentName;
  readonly #previews: OwnPreviews;
  readonly #onNotTaken: (what: NotTaken) => void;
  readonly #owned = new DisposableStore();
  readonly #ending = new AbortController();
  /** Workspace paths on which something was decided that the view has not followed yet. */
  readonly #decided = new Set<string>();
  /** Those of them that could not be read or written at the last attempt, each with the error. */
  readonly #behind = new Map<string, unknown>();
  readonly #followed: Followed;
  /** What the person was told of {@link #leftOut}. */
  readonly #reported: KeptKeys;
  #leftOut: LeftOut[] = [];
  #last = NO_FACTS;
  #stayed: readonly Stayed[] = [];
  #told = '';
  #watching: Promise<void> | undefined;

  /**
   * @param id unique to this agent, in the origins of its previews.
   * @param onNotTaken called when more files are not taken.
   */
  constructor(
    host: ViewHost,
    view: AgentView,
    { id, agent }: { readonly id: string; readonly agent: AgentName },
    onNotTaken: (what: NotTaken) => void,
  ) {
    this.#host = host;
    this.#view = view;
    this.#id = id;
    this.#agent = agent;
    this.#previews = new OwnPreviews(host.store, id);
    this.#onNotTaken = onNotTaken;
    this.#followed = new Followed(view.storage);
    this.#reported = new KeptKeys(path.join(view.storage, 'reported.json'));
    this.#owned.add(host.store.onDidChange(preview => this.#follow(preview)));
  }

  /** Previews that wait for a decision. */
  get open(): readonly Preview[] {
    return this.#previews.open;
  }

  get notTaken(): NotTaken {
    return { leftOut: this.#leftOut, ...this.#last, stayed: this.#stayed };
  }

  /** Looks at the view until {@link end}. */
  start(): void {
    this.#watching ??= this.#watch();
  }

  /** Takes the remaining changes. @throws Error if the view cannot be read any more */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    this.#owned.dispose();
    await this.#take(0, true);
    this.#stayed = await this.#view.stayed();
    if (this.#stayed.length > 0) this.#onNotTaken({ ...this.notTaken, leftOut: [], isTooMuch: false });
  }

  /** Stops looking; later changes stay in the view. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    this.#owned.dispose();
  }

  #follow(preview: Preview): void {
    if (!this.#previews.has(preview) || this.#followed.has(preview)) return;
    for (const path of pathsOf(preview)) this.#decided.add(path);
  }

  /** The upper tree of an overlay tells no one when something is written into it. */
  async #watch(): Promise<void> {
    let seen = '';
    let taken: string | undefined;
    let pause = POLL_MS;
    let isInTrouble = false;
    const { pace, logger } = this.#host;
    let since = pace.now();
    let lastTurn = since;
    /** Once, until it is over. */
    const tellTrouble = (error: unknown): void => {
      pause = Math.max(pause, pace.restMs);
      if (isInTrouble) return;
      isInTrouble = true;
      logger.error(`Looking at the view of an agent failed: ${detailOf(error)}`);
      this.#host.onTrouble(this.#agent, error);
    };
    try {
      await this.#followed.load();
      // There may already be previews that an earlier terminal left pending, and decisions made just before a reload.
      for (const preview of this.#host.store.all()) this.#follow(preview);
      await this.#bringUpToDate();
      await this.#tell();
    } catch (error) {
      logger.error(`An agent is told nothing: ${detailOf(error)}`);
    }
    for (;;) {
      const { signal } = this.#ending;
      await pace.wait(pause, signal);
      if (signal.aborted) return;
      const began = pace.now();
      try {
        const now = await this.#view.fingerprint();
        // Limited: if the machine slept during a look, its length says nothing about the next one.
        pause = Math.min(pace.longestMs, Math.max(POLL_MS, (pace.now() - began) / LOOK_SHARE));
        const isNews = now !== seen;
        seen = now;
        if (isNews) since = pace.now();
        const isResting = !isNews && pace.now() - since >= pace.restMs;
        // A file that is written again and again holds up only itself.
        if (isResting || began - lastTurn >= pace.longestMs) {
          if (now !== taken && this.#previews.open.length < MAX_PENDING) {
            await this.#take(isResting ? 0 : pace.restMs);
            taken = isResting ? now : undefined;
          }
          await this.#bringUpToDate();
          await this.#tell();
          lastTurn = pace.now();
          isInTrouble &&= this.#behind.size > 0;
          for (const error of this.#behind.values()) tellTrouble(error);
        }
      } catch (error) {
        tellTrouble(error);
      }
    }
  }

  async #take(restMs = 0, isEnd = false): Promise<void> {
    const collection = await this.#view.collect(restMs, isEnd);
    const { effects, isTooMuch, commits, lostGit, busy, bulk, ignored, offered, notes } = collection;
    const { workspace, overlay, store } = this.#host;
    const pending = overlay.of(this.#id);
    const placed = await placeForeign(effects, {
      workspace: pending.on(workspace),
      blobs: store.blobs,
      pending,
    });
    // A file that is written again and again is named once.
    const told = new Set(this.#leftOut.map(leftOutKey));
    const leftOut = [...collection.leftOut, ...placed.leftOut].filter(each => !told.has(leftOutKey(each)));
    await this.#reported.load();
    const news = leftOut.filter(each => !this.#reported.has(leftOutKey(each)));
    const isSecret = ({ path }: FileChange): boolean => collection.settings.includes(path);
    const [own, foreign] = split(placed.changes, ({ path }) => AGENT_SETTINGS.test(path));
    const [secret, others] = split(foreign, isSecret);
    const [secretConflicts, conflicts] = split(placed.conflicts, isSecret);
    const { name } = this.#agent;
    const secretly =
      (title: string): Sentence =>
      l10n =>
        l10n.t('Ignored by git, perhaps secret · {0}', title);
    const inConflict =
      (files: string): Sentence =>
      l10n =>
        l10n.t('Conflicts with {0} · {1}', name, files);
    await collection.accept(async () => {
      await this.#stage(others, files => () => files);
      await this.#stage(own, files => l10n => l10n.t('Settings of {0} · {1}', name, files));
      await this.#stage(secret, secretly, 'secret');
      await this.#stage(conflicts, inConflict);
      await this.#stage(secretConflicts, files => l10n => secretly(inConflict(files)(l10n))(l10n), 'secret');
    });
    // What became no preview, since the files have it, may be only a part of what they hold.
    const left = new Set(placed.leftOut.map(({ path }) => path));
    for (const { path } of effects) if (!left.has(path)) this.#decided.add(path);
    const isNews = news.length > 0 || (isTooMuch && !this.#last.isTooMuch);
    this.#leftOut.push(...leftOut);
    this.#last = { isTooMuch, commits, lostGit, busy, bulk, ignored, offered, notes };
    if (isNews) this.#onNotTaken({ ...this.notTaken, leftOut: news });
    await this.#reported.add(news.map(leftOutKey)).catch(() => undefined); // it is told again after a reload
  }

  async #stage(
    changes: readonly FileChange[],
    title: (files: string) => Sentence,
    purpose?: Purpose,
  ): Promise<void> {
    for (const group of inPreviews(changes)) {
      const named = title(namesOf(group));
      const own = { label: named(english), title: named, ...(purpose ? { purpose } : {}) };
      await queueResolveHandler(
        this.#host,
        { ...own, sourceToolName: 'agent_terminal', changes: group },
        { sessionId: this.#id, agent: this.#agent, asksModel: false, setId: this.#previews.setId },
      ).stored;
    }
  }

  /**
   * Writes decisions into the files of the view, including those made meanwhile: the agent must not hear of a decision before its
   * files show it, or that they do not. A file that the agent has changed since then follows once that change is taken; one that
   * cannot be read or written is tried again at the next look.
   */
  async #bringUpToDate(): Promise<void> {
    if (this.#decided.size === 0) return;
    this.#behind.clear();
    while (this.#decided.size > 0) await this.#putDecided();
    for (const path of this.#behind.keys()) this.#decided.add(path);
    if (this.#behind.size === 0) await this.#followed.add(this.#previews.ended);
  }

  async #putDecided(): Promise<void> {
    const wanted = new Map<string, Wanted | undefined>();
    for (const path of this.#decided) {
      this.#decided.delete(path);
      if (this.#isUnsettled(path)) continue;
      try {
        wanted.set(path, await this.#wantedAt(path));
      } catch (error) {
        // Skip what is no text file, such as a folder, unless a file must replace it.
        if (error instanceof ToolError && !(error instanceof UnsavedEditorError)) wanted.set(path, undefined);
        else this.#behind.set(path, error);
      }
    }
    const isFile = (path: string): boolean => !!wanted.get(path)?.content;
    const isBelowFile = (path: string): boolean => foldersAbove(path).some(isFile);
    const [below, others] = split([...wanted.keys()], isBelowFile);
    const [files, rest] = split(others, isFile);
    const above = new Set(files.flatMap(foldersAbove));
    const put = (path: string, { content = null, mode }: Partial<Wanted> = {}): Promise<unknown> =>
      this.#view.put(path, content, mode).catch((error: unknown) => this.#behind.set(path, error));
    // Removals come first, to make room.
    for (const path of [...below, ...rest.filter(each => wanted.get(each) ?? above.has(each))])
      await put(path);
    for (const path of files) await put(path, wanted.get(path));
  }

  /** The content for the agent at a path, and its permission bits: those of the file on disk, unless a preview changes them. */
  async #wantedAt(path: string): Promise<Wanted> {
    const { overlay, workspace, store } = this.#host;
    const pending = overlay.of(this.#id).at(path);
    const place = await workspace.placeOf(path);
    const changed = this.#previews.open
      .flatMap(({ changes }) => changes ?? [])
      .findLast(change => change.path === path && 'mode' in change);
    const mode = (changed && 'mode' in changed ? changed.mode : undefined) ?? place.mode;
    if (pending) return { content: pending.side && (await contentOf(pending.side, store.blobs)), mode };
    if (place.link !== undefined) return { content: { link: place.link }, mode };
    return { content: (await workspace.read(path)) ?? null, mode };
  }

  /** The agent does not see a stale preview; its file stays as the agent has written it until the preview is settled. */
  #isUnsettled(path: string): boolean {
    return this.#previews.open.some(
      ({ state, changes }) =>
        (state.kind !== 'pending' || state.stale.length > 0) &&
        (changes ?? []).flatMap(stepsOf).some(step => step.path === path),
    );
  }

  async #tell(): Promise<void> {
    const { others } = pendingOf(this.#agent.name, this.#id, this.#host.store.open);
    const text = statusOf(this.#previews, {
      ...this.#last,
      leftOut: this.#leftOut,
      copies: this.#view.mounts.copies,
      others,
      behind: [...this.#behind.keys()],
    });
    if (text === this.#told) return;
    await this.#view.tell(text);
    this.#told = text;
  }
}

/** The content for the agent at a path. */
interface Wanted {
  readonly content: FileContent | null;
  readonly mode: number | undefined;
}

function leftOutKey({ path, why }: LeftOut): string {
  return `${path} ${why}`;
}

/** The items for which `holds` is true, and the others. */
function split<T>(all: readonly T[], holds: (each: T) => boolean): readonly [T[], T[]] {
  const { yes = [], no = [] } = Object.groupBy(all, each => (holds(each) ? 'yes' : 'no'));
  return [yes, no];
}

/** The names of the first files. */
function namesOf(changes: readonly FileChange[]): string {
  const names = changes.map(({ path: at }) => path.posix.basename(at));
  return firstOf(names, MAX_NAMED);
}
