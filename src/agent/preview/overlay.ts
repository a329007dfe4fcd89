import type { Disposable } from '../base/disposable.ts';
import { bytesOfSide, stepsOf, type FileChange, type FileSide } from './fileChange.ts';
import { isOpen, type Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import type { Workspace } from './workspace.ts';

/** What a path would hold if the pending previews were applied, and the last preview that has a say in it. */
export interface PendingContent {
  readonly previewId: string;
  /** `null`: there would be no file. */
  readonly side: FileSide | null;
}

/**
 * The workspace as if the pending previews were applied: what tools read and build on. Stale previews have no part in
 * it, for they cannot be applied as they are.
 */
export class Overlay implements Disposable {
  readonly #store: PreviewStore;
  readonly #subscription: Disposable;
  #index: Map<string, PendingContent> | undefined;

  constructor(store: PreviewStore) {
    this.#store = store;
    this.#subscription = store.onDidChange(preview => this.#follow(preview));
  }

  /** What a pending preview makes of the path, if one does. */
  at(path: string): PendingContent | undefined {
    this.#index ??= indexOf(this.#store.list('oldestFirst'));
    return this.#index.get(path);
  }

  /** Paths that pending previews change. */
  paths(): readonly string[] {
    this.#index ??= indexOf(this.#store.list('oldestFirst'));
    return [...this.#index.keys()];
  }

  /** Ids of the pending previews that these changes are made on. */
  dependenciesOf(changes: readonly FileChange[]): readonly string[] {
    const ids = changes.flatMap(stepsOf).flatMap(step => {
      const pending = this.at(step.path);
      return pending && (pending.side?.hash ?? null) === (step.before?.hash ?? null)
        ? [pending.previewId]
        : [];
    });
    return [...new Set(ids)];
  }

  /** The workspace with the overlay on top of its files. Writing goes past it. */
  on(workspace: Workspace): Workspace {
    return {
      resolvePath: input => workspace.resolvePath(input),
      list: (glob, limit, signal) => workspace.list(glob, limit, signal),
      write: (path, bytes, expected, mode) => workspace.write(path, bytes, expected, mode),
      placeOf: path => workspace.placeOf(path),
      tidy: (paths, folders) => workspace.tidy(paths, folders),
      encodingOf: path => {
        const pending = this.at(path);
        return pending?.side ? Promise.resolve(pending.side.encoding) : workspace.encodingOf(path);
      },
      read: async path => {
        const pending = this.at(path);
        if (!pending) return workspace.read(path);
        return pending.side ? bytesOfSide(pending.side) : undefined;
      },
    };
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /**
   * Thousands may be staged one after the other: a preview of files that no other one changes joins the index; whatever
   * else happens has it made anew when somebody asks.
   */
  #follow(preview: Preview): void {
    if (!this.#index) return;
    const added = hasSay(preview) && preview.revision === 1 ? contentsOf(preview) : undefined;
    if (added?.every(([path]) => !this.#index?.has(path)))
      for (const [path, content] of added) this.#index.set(path, content);
    else this.#index = undefined;
  }
}

/** Stale previews have none, for they cannot be applied as they are. */
function hasSay(preview: Preview): boolean {
  return isOpen(preview) && !(preview.state.kind === 'pending' && preview.state.stale.length > 0);
}

function contentsOf({ id, changes }: Preview): (readonly [path: string, PendingContent])[] {
  return (changes ?? []).flatMap(stepsOf).map(step => [step.path, { previewId: id, side: step.after }]);
}

function indexOf(previews: readonly Preview[]): Map<string, PendingContent> {
  const index = new Map<string, PendingContent>();
  for (const preview of previews.filter(hasSay))
    for (const [path, content] of contentsOf(preview)) index.set(path, content);
  return index;
}
