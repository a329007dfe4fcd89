import { isText, type FileStep } from '../../fileChange.ts';
import { lostEntry, type LostFile } from '../../ledger.ts';
import { pathsOf, type Preview } from '../../preview.ts';
import type { PreviewStore } from '../../previewStore.ts';
import type { ReadableFiles } from '../../workspace.ts';
import { heldReader } from '../held.ts';
import type { Editors } from './editors.ts';
import { LandedFile } from './landedFile.ts';

/** How late the editor may report a document that it opened before its file was written, in milliseconds. */
const LATE_MS = 10_000;

/** A followed file, and the previews that wrote it. */
interface Landed {
  readonly ids: readonly string[];
  /** Those of them whose change went into an editor, and those among these that came before the last commit. */
  inEditor: readonly string[];
  readonly earlier: readonly string[];
  readonly file: LandedFile;
  readonly dispose: () => void;
}

/** A commit whose files are about to be written. */
export interface Landing {
  /** All files are written. @param unsaved those whose change went into an editor. */
  wrote(unsaved: readonly string[]): void;
  /** No file was written. */
  failed(): void;
}

/**
 * Keeps applied changes applied: follows each file after it was written, until no editor can save its old content over it. If
 * the change can neither stay nor go into the editor, its previews are pending again, as a second ledger entry says.
 */
export class Landings {
  readonly #store: PreviewStore;
  readonly #files: ReadableFiles;
  readonly #editors: Editors;
  readonly #onLost: (preview: Preview) => void;
  readonly #landed = new Map<string, Landed>();
  /** Files that lost their change before the ledger had the apply. */
  readonly #early = new Map<string, LostFile>();

  /** @param onLost called with each preview that is pending again. */
  constructor(
    store: PreviewStore,
    files: ReadableFiles,
    editors: Editors,
    onLost: (preview: Preview) => void,
  ) {
    this.#store = store;
    this.#files = files;
    this.#editors = editors;
    this.#onLost = onLost;
    store.onDidResolve(entries => {
      for (const { previewId } of entries) this.#reportEarly(previewId);
    });
  }

  /** Starts to listen to the editors of files that are about to be written. */
  begin(group: readonly Preview[], steps: readonly FileStep[]): Landing {
    const earlier = steps.flatMap(({ path }) => this.#landed.get(path) ?? []);
    for (const { file } of earlier) file.pause();
    const writers = new Map<string, string[]>();
    for (const preview of group)
      for (const path of pathsOf(preview)) writers.set(path, [...(writers.get(path) ?? []), preview.id]);
    const begun = steps.map(step => this.#follow(step, writers.get(step.path) ?? []));
    return {
      wrote: unsaved => {
        const editors = new Set(unsaved);
        for (const { path, base, landed, start } of begun) {
          const earlier = this.#landed.get(path);
          this.#landed.set(path, landed);
          void earlier?.file.handOver(base).catch(() => undefined); // its texts are gone: nobody can tell
          earlier?.dispose();
          start(editors.has(path));
        }
      },
      failed: () => {
        for (const { landed } of begun) {
          landed.file.abandon();
          landed.dispose();
        }
        for (const { file } of earlier) file.resume();
      },
    };
  }

  #follow(step: FileStep, writers: readonly string[]) {
    const { path } = step;
    const before = this.#landed.get(path);
    const net = before && joinedSteps(before.file.step, step);
    // An editor that has not seen an earlier change has not seen this one either.
    const missed = net && before.file.isUnseen ? before.file : undefined;
    // An editor that has not saved an earlier change may drop it together with this one.
    const inEditor = (net ? before.inEditor : before?.earlier) ?? [];
    const earlier = inEditor.filter(id => !writers.includes(id));
    const ids = before && net ? [...new Set([...before.ids, ...writers])] : [...earlier, ...writers];
    const read = heldReader(this.#files, [step]);
    const file = new LandedFile(
      step,
      missed,
      () => read(step),
      (finding, hasMissed) => {
        landed.dispose();
        if (this.#landed.get(path) === landed) this.#landed.delete(path);
        if (finding === 'stays') return;
        const isOwn = missed ? !hasMissed : finding === 'sameLines';
        const isDropped = finding === 'dropped';
        const lost = isDropped ? earlier : isOwn ? writers : ids;
        for (const id of lost) this.#report(id, { path, why: isDropped ? 'notSaved' : finding });
      },
    );
    const watch = this.#editors.watch(path, (document, event) => file.note(document, event));
    const late = setTimeout(() => file.noteLate(), LATE_MS);
    late.unref();
    const dispose = (): void => {
      clearTimeout(late);
      watch.dispose();
    };
    const landed: Landed = { ids, inEditor: earlier, earlier, file, dispose };
    const start = (isInEditor: boolean): void => {
      if (isInEditor) landed.inEditor = [...earlier, ...writers];
      file.begin(isInEditor ? 'editor' : 'disk', watch.documents);
    };
    return { path, base: step.before, landed, start };
  }

  /** Makes a preview pending again, once the ledger says that it was applied. */
  #report(id: string, lost: LostFile): void {
    const preview = this.#store.get(id);
    if (preview?.state.kind === 'applying') return void this.#early.set(id, lost);
    // Pending already because of another of its files, undone or forgotten.
    if (preview?.state.kind !== 'applied') return;
    const applied = this.#store.ledger().findLast(({ previewId }) => previewId === id);
    if (applied?.outcome !== 'applied') return;
    void this.#store.recordLost(lostEntry(applied, [lost]));
    const again = this.#store.get(id);
    if (again?.state.kind === 'pending') this.#onLost(again);
  }

  #reportEarly(id: string): void {
    const lost = this.#early.get(id);
    this.#early.delete(id);
    if (lost) this.#report(id, lost);
  }
}

/** Both steps as one; `undefined` if the second one reverts the first one. */
function joinedSteps({ before }: FileStep, { path, after }: FileStep): FileStep | undefined {
  const isTakenBack = before?.hash === after?.hash;
  return isTakenBack || !before || !isText(before) ? undefined : { path, before, after };
}
