import { Owner } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/event.ts';
import { lineOnOtherSide } from '../text/hunks.ts';
import { diffLines } from '../text/lineDiff.ts';
import { bareLines } from '../text/lines.ts';
import { hunksOfChange, textOf, type FileChange } from './fileChange.ts';
import { isOpen, pathsOf, type Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';

/** A change of one file, and the preview that it belongs to. */
export interface ProposedChange {
  readonly preview: Preview;
  readonly change: FileChange;
}

/** The files that open previews change. An update costs as much as the preview has files, however many others there are. */
export class PendingFiles extends Owner {
  readonly #store: PreviewStore;
  readonly #changed = new Emitter<readonly string[]>();
  /** By id; when a preview changes, its previous paths. */
  readonly #paths = new Map<string, readonly string[]>();

  /** Reports the workspace paths for which pending changes came, went or changed. */
  readonly onDidChange: Event<readonly string[]> = this.#changed.event;

  constructor(store: PreviewStore) {
    super();
    this.#store = store;
    for (const preview of store.open) this.#note(preview);
    this.own(store.onDidChange(preview => this.#note(preview)));
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  /** Proposed changes of a file, the oldest preview first. A renamed file is at both of its paths. */
  at(path: string): readonly ProposedChange[] {
    return this.#store.open.touching([path]).flatMap(preview => {
      const changes = preview.changes?.filter(each => isAt(each, path)) ?? [];
      return changes.map(change => ({ preview, change }));
    });
  }

  #note(preview: Preview): void {
    const { id } = preview;
    const before = this.#paths.get(id) ?? [];
    const now = isOpen(preview) && this.#store.get(id) ? pathsOf(preview) : [];
    if (before.length === 0 && now.length === 0) return;
    if (now.length > 0) this.#paths.set(id, now);
    else this.#paths.delete(id);
    this.#changed.fire([...new Set([...before, ...now])]);
  }
}

function isAt(change: FileChange, path: string): boolean {
  return change.path === path || (change.kind === 'rename' && change.from === path);
}

/** Lines of a text, counted from 0; `end` is the last one. */
export interface ProposedLines {
  readonly start: number;
  readonly end: number;
}

/**
 * The lines of a text that a change would change, one range for each hunk. The range of a hunk that only inserts lines is the
 * line that follows them.
 * @param text the current text of the file or its editor, which may differ from the base of the change
 */
export async function proposedLines(change: FileChange, text: string): Promise<readonly ProposedLines[]> {
  const now = await bareLines(text);
  const last = Math.max(0, now.length - 1);
  if (change.kind === 'delete') return [{ start: 0, end: last }];
  const hunks = await hunksOfChange(change);
  const { runs } = await diffLines(await bareLines(textOf(change.before)), now);
  return hunks.map(({ beforeStart, beforeEnd }) => {
    const start = Math.min(last, lineOnOtherSide(runs, beforeStart, 'before'));
    const end = Math.min(last, lineOnOtherSide(runs, Math.max(beforeStart, beforeEnd - 1), 'before'));
    return { start, end: Math.max(start, end) };
  });
}
