import type { FileChange } from '../../../agent/hold/preview/fileChange.ts';
import { stepsOf } from '../../../agent/hold/preview/fileSteps.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';

/**
 * The revisions that several votes make of each other's previews: each vote rebases those still to come onto its writes. The user
 * has agreed to all of them, so these revisions need not be shown before they are applied.
 */
export class OwnMoves {
  /** The hashes that these votes wrote, by path; `null` where they removed the file. */
  readonly #written = new Map<string, Set<string | null>>();
  /** By preview: runs of revisions in which only these votes have moved it. */
  readonly #moved = new Map<string, { readonly from: number; readonly to: number }[]>();
  readonly #changes = new Map<string, readonly FileChange[]>();
  readonly #following: { dispose(): void };

  constructor(store: PreviewStore) {
    for (const { id, changes } of store.open) if (changes) this.#changes.set(id, changes);
    this.#following = store.onDidRevise(({ preview, by }) => this.#follow(preview, by));
  }

  /** Takes the changes of an applied vote into account. */
  note({ state, changes }: Preview): void {
    if (state.kind !== 'applied') return;
    for (const { path, after } of (changes ?? []).flatMap(stepsOf)) {
      const hashes = this.#written.get(path) ?? new Set();
      this.#written.set(path, hashes.add(after?.hash ?? null));
    }
  }

  /** The revision to vote on for the one that the user saw: the same unless these votes have moved the preview. */
  moved(id: string, seen: number): number {
    return this.#moved.get(id)?.findLast(({ from }) => from <= seen)?.to ?? seen;
  }

  dispose(): void {
    this.#following.dispose();
  }

  #follow({ id, revision, changes }: Preview, by: string): void {
    const before = this.#changes.get(id) ?? [];
    this.#changes.set(id, changes ?? []);
    const isOurs = ({ path, before: base }: FileChange): boolean =>
      before.some(old => old.path === path && old.before?.hash === base?.hash) ||
      this.#written.get(path)?.has(base?.hash ?? null) === true;
    const runs = this.#moved.get(id) ?? [];
    const last = runs.at(-1);
    if (by !== 'rebase' || !(changes ?? []).every(isOurs)) {
      // The user must see changes by others first.
      this.#moved.set(id, [...runs, { from: revision, to: revision }]);
    } else if (last && last.to === revision - 1) {
      this.#moved.set(id, [...runs.slice(0, -1), { from: last.from, to: revision }]);
    } else this.#moved.set(id, [...runs, { from: revision - 1, to: revision }]);
  }
}
