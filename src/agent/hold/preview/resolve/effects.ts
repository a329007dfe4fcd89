import { ToolError } from '../../../base/errors.ts';
import type * as Commit from '../commit/commitChanges.ts';
import { NO_EDITORS, type LoadEditors } from '../commit/landed/editors.ts';
import type { Landings } from '../commit/landed/landings.ts';
import type { Syncs } from '../commit/syncs.ts';
import { composedSteps, touchedSteps } from '../fileSteps.ts';
import { answerOf, type PendingAction } from '../pendingAction.ts';
import { nameOf, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { ActiveResolutions } from './activeResolutions.ts';
import { refuseElsewhere, type ResolvingFiles } from './refusals.ts';
import type { Resolved, ResolveRequest } from './resolved.ts';

/** The end of an attempt that was made. */
export type Attempted = Extract<Resolved, { kind: 'applied' | 'returnedError' | 'discarded' }>;

/** The way to apply previews of one kind. */
interface Effect {
  /**
   * Applies previews as one transaction, the requested one last. Nothing happens before it is in the journal.
   * @throws the error that stops it; then nothing has changed, except what Redline could not undo.
   */
  apply(group: readonly Preview[], request: ResolveRequest): Promise<Attempted>;
}

/** Modules that the first apply loads. */
interface Writing {
  readonly commitChanges: typeof Commit.commitChanges;
  readonly landings: Landings;
  readonly syncs: Syncs;
}

/** Redline writes the changes of previews of files. */
export class FilesEffect implements Effect {
  readonly #store: PreviewStore;
  readonly #files: ResolvingFiles;
  readonly #load: () => Promise<Writing>;
  #writing: Promise<Writing> | undefined;

  /** @param onLost called with each preview that is pending again because its applied change did not stay. */
  constructor(
    store: PreviewStore,
    files: ResolvingFiles,
    editors: LoadEditors = () => Promise.resolve(NO_EDITORS),
    onLost: (preview: Preview) => void = () => undefined,
  ) {
    this.#store = store;
    this.#files = files;
    this.#load = async () => {
      const [{ commitChanges }, { Landings }, { Syncs }] = await Promise.all([
        import('../commit/commitChanges.ts'),
        import('../commit/landed/landings.ts'),
        import('../commit/syncs.ts'),
      ]);
      const landings = new Landings(store, files, await editors(), onLost);
      return { commitChanges, landings, syncs: new Syncs(store, files) };
    };
  }

  async apply(group: readonly Preview[], vote: ResolveRequest): Promise<Attempted> {
    const ids = group.map(({ id }) => id);
    const changes = group.flatMap(each => each.changes ?? []);
    this.#writing ??= this.#load();
    const { commitChanges, landings, syncs } = await this.#writing;
    const paths = touchedSteps(changes).map(({ path }) => path);
    await syncs.settled(paths);
    refuseElsewhere(group, this.#files);
    const landing = landings.begin(group, composedSteps(changes));
    try {
      const { unsaved } = await commitChanges(
        this.#files,
        changes,
        async rollback => {
          await this.#store.beginCommit(ids, rollback, vote);
          refuseElsewhere(group, this.#files); // other folders may have been opened meanwhile
        },
        this.#store.blobs,
      );
      landing.wrote(unsaved);
      const isSaved = (path: string): boolean => !unsaved.includes(path);
      const recorded = this.#store.onDidResolve(entries => {
        if (!entries.some(({ previewId }) => previewId === ids[0])) return;
        recorded.dispose();
        syncs.add(ids, paths.filter(isSaved));
      });
      return { kind: 'applied', vote, preview: lastOf(group), group, unsaved };
    } catch (error) {
      landing.failed();
      throw error;
    }
  }
}

/** Functions of a producer that run when its preview is resolved. */
export type Callbacks = Pick<PendingAction, 'apply' | 'reject'>;

/** The callbacks of producers: applying an opaque preview runs one, discarding any preview may. */
export class CallbackEffect implements Effect {
  readonly #store: PreviewStore;
  readonly #resolutions: ActiveResolutions;
  readonly #callbacks = new Map<string, Callbacks>();

  constructor(store: PreviewStore, resolutions: ActiveResolutions) {
    this.#store = store;
    this.#resolutions = resolutions;
  }

  attach(id: string, callbacks: Callbacks): void {
    this.#callbacks.set(id, callbacks);
  }

  /** Drops the callbacks: the preview is resolved, or its producer is gone. */
  detach(id: string): void {
    this.#callbacks.delete(id);
  }

  async apply(group: readonly Preview[], vote: ResolveRequest): Promise<Attempted> {
    const preview = lastOf(group);
    const apply = this.#callbacks.get(preview.id)?.apply;
    if (!apply)
      throw new ToolError(`${nameOf(preview)} has no action to apply, so it can only be discarded.`);
    // Awaited only if it must be: an abort that comes in between is one before the start.
    const writing = this.#store.beginAction(preview.id, vote);
    if (writing) {
      await writing;
      vote.signal?.throwIfAborted();
    }
    const { reason, extra } = vote;
    const answer = answerOf(await this.#resolutions.call(() => apply(reason, extra)));
    if (answer.isError === true) return { kind: 'returnedError', vote, preview, answer };
    return { kind: 'applied', vote, preview, group, unsaved: [], answer };
  }

  async reject(preview: Preview, vote: ResolveRequest): Promise<Attempted> {
    const reject = this.#callbacks.get(preview.id)?.reject;
    const { reason, extra } = vote;
    const answer: unknown = reject && (await this.#resolutions.call(() => reject(reason, extra)));
    return { kind: 'discarded', vote, preview, answer: answerOf(answer) };
  }
}

function lastOf(group: readonly Preview[]): Preview {
  const last = group.at(-1);
  if (!last) throw new Error('Nothing to apply');
  return last;
}
