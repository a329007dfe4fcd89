import { Owner } from '../base/disposable.ts';
import { Emitter, type Event } from '../base/event.ts';
import type { FileChange } from './fileChange.ts';
import { isOpen, pathsOf, type Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';

/** A change of one file that waits for a decision. */
export interface ProposedChange {
  readonly preview: Preview;
  readonly change: FileChange;
}

/** Which files open previews change. What one preview does costs as much as it has files, however many others there are. */
export class PendingFiles extends Owner {
  readonly #store: PreviewStore;
  readonly #changed = new Emitter<readonly string[]>();
  /** By path, the ids of previews in the order in which they came. */
  readonly #ids = new Map<string, Set<string>>();
  /** By id. */
  readonly #paths = new Map<string, readonly string[]>();

  /** Tells the workspace paths of which something has changed. */
  readonly onDidChange: Event<readonly string[]> = this.#changed.event;

  constructor(store: PreviewStore) {
    super();
    this.#store = store;
    for (const preview of store.open) this.#note(preview);
    this.own(store.onDidChange(preview => this.#note(preview)));
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** What is proposed for a file, the oldest preview first. A renamed file is at both of its paths. */
  at(path: string): readonly ProposedChange[] {
    return [...(this.#ids.get(path) ?? [])].flatMap(id => {
      const preview = this.#store.get(id);
      const changes = preview?.changes?.filter(each => isAt(each, path)) ?? [];
      return preview ? changes.map(change => ({ preview, change })) : [];
    });
  }

  #note(preview: Preview): void {
    const { id } = preview;
    const before = this.#paths.get(id) ?? [];
    const now = isOpen(preview) && this.#store.get(id) ? pathsOf(preview) : [];
    if (before.length === 0 && now.length === 0) return;
    const kept = new Set(now);
    for (const path of before) {
      if (kept.has(path)) continue;
      const ids = this.#ids.get(path);
      ids?.delete(id);
      if (ids?.size === 0) this.#ids.delete(path);
    }
    for (const path of now) {
      const ids = this.#ids.get(path) ?? new Set();
      this.#ids.set(path, ids.add(id));
    }
    if (now.length > 0) this.#paths.set(id, now);
    else this.#paths.delete(id);
    this.#changed.fire([...new Set([...before, ...now])]);
  }
}

function isAt(change: FileChange, path: string): boolean {
  return change.path === path || (change.kind === 'rename' && change.from === path);
}
