import type { PreviewLogEntry } from './log/previewLog.ts';
import type { Preview } from './preview.ts';

/** How many revisions of a preview one line announces. */
const ANNOUNCED = 1_000;

/**
 * Pending previews whose last rebases are not stored, since the next start makes them again. For each of them, the log only has a
 * number that none of its revisions reaches, so that no revision is given out twice.
 */
export class UnstoredRebases {
  readonly #below = new Map<string, number>();

  get ids(): readonly string[] {
    return [...this.#below.keys()];
  }

  /** Notes that a preview is being rebased to this revision. @returns the entry to write before anyone hears of it, if any. */
  add(id: string, revision: number): PreviewLogEntry | undefined {
    if (revision < (this.#below.get(id) ?? 0)) return undefined;
    const below = revision + ANNOUNCED;
    this.#below.set(id, below);
    return { type: 'rebasing', id, below };
  }

  /** Entries that store the last rebases of these previews, for a caller about to write something that depends on them. */
  take(ids: readonly string[], get: (id: string) => Preview | undefined): readonly PreviewLogEntry[] {
    return ids
      .filter(id => this.#below.delete(id))
      .flatMap(id => {
        const preview = get(id);
        if (!preview?.changes) return [];
        const { revision, changes, dependsOn, state } = preview;
        const by = { by: 'rebase', announced: true } as const;
        const revised: PreviewLogEntry = { type: 'revised', id, revision, changes, dependsOn, ...by };
        const paths = state.kind === 'pending' ? state.stale : [];
        return paths.length > 0 ? [revised, { type: 'stale', id, paths } as const] : [revised];
      });
  }
}
