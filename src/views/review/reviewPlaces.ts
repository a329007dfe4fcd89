import * as vscode from 'vscode';
import type { Disposable } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { hunksOfChange, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { Hunk } from '../../agent/hold/text/hunks.ts';
import type { Agent } from '../agent.ts';
import { DiffStats } from './diffStats.ts';
import { oneLine } from '../plainText.ts';
import { countedSet, hunkCount, setKey } from './countedSet.ts';
import { parsePreviewUri, type PreviewSide } from '../workspace/previewUri.ts';
import type { ReviewList } from './reviewList.ts';
import { shownChange } from './shownChange.ts';

/** Where a hunk is in its change set. All of it counts, whatever is decided, so that the numbers go up as the review goes on. */
export interface ReviewPlace {
  /** From 1. */
  readonly hunk: number;
  readonly hunks: number;
  /** From 1. */
  readonly file: number;
  readonly files: number;
}

/** How far into a change set each file of its open previews is. */
interface Table {
  readonly hunks: number;
  readonly files: number;
  /** How many hunks come before those of a file in a preview. */
  readonly before: ReadonlyMap<string, number>;
  /** The number of each file, from 1. */
  readonly file: ReadonlyMap<string, number>;
}

/** Tells where hunks are in their change sets: what is decided comes first, then what is open, in the order of the review. */
export class ReviewPlaces implements Disposable {
  readonly #agent: Agent;
  readonly #review: ReviewList;
  readonly #stats: DiffStats;
  readonly #changed = new Emitter<void>();
  readonly #following: Disposable;
  #tables = new Map<string, Table | undefined>();

  /** More was counted. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(agent: Agent, review: ReviewList) {
    this.#agent = agent;
    this.#review = review;
    this.#stats = new DiffStats(agent.logger, () => {
      this.#tables.clear();
      this.#changed.fire();
    });
    this.#following = review.onDidChange(() => this.#tables.clear());
  }

  /**
   * The place of a hunk of an open preview.
   * @param change absent for a preview without files
   * @returns `undefined` until the hunks of the set are counted, or if there are too many
   */
  of(preview: Preview, change: FileChange | undefined, hunk: number): ReviewPlace | undefined {
    const key = setKey(preview);
    if (!this.#tables.has(key)) this.#tables.set(key, this.#tableOf(key));
    const table = this.#tables.get(key);
    const before = table?.before.get(placeKey(preview.id, change?.path));
    if (!table || before === undefined) return undefined;
    const file = change ? (table.file.get(change.path) ?? 0) : 0;
    return { hunk: before + hunk + 1, hunks: table.hunks, file, files: table.files };
  }

  /** Where the cursor of a preview editor is: `Hunk 3 of 14 · cart.ts 2 of 8`; empty if nothing is to be decided there. */
  async textAt({ document, selection }: vscode.TextEditor): Promise<string> {
    const { store, files } = this.#agent;
    const address = parsePreviewUri(document.uri);
    const shown = address && shownChange(store, files, address);
    if (!address || shown?.preview.state.kind !== 'pending') return '';
    const { preview, change } = shown;
    const hunk = Math.max(0, hunkAt(await hunksOnce(change), address.side, selection.active.line));
    const place = this.of(preview, change, hunk);
    if (!place) return '';
    const { l10n } = vscode;
    const name = oneLine(change.path.slice(change.path.lastIndexOf('/') + 1), 40);
    const atHunk = l10n.t('Hunk {0} of {1}', place.hunk, place.hunks);
    return place.files < 2
      ? atHunk
      : `${atHunk} · ${l10n.t('{0} {1} of {2}', name, place.file, place.files)}`;
  }

  dispose(): void {
    this.#following.dispose();
    this.#stats.dispose();
  }

  #tableOf(key: string): Table | undefined {
    const { decided, open, isTooLarge } = countedSet(this.#agent.store, key);
    if (isTooLarge) return undefined;
    // What a filter hides is left, too: it comes last.
    const left = new Map(open.map(each => [each.id, each]));
    const listed = new Set([...this.#review.list().flatMap(({ id }) => left.get(id) ?? []), ...open]);
    let hunks = 0;
    for (const each of decided) {
      const count = hunkCount(each, preview => this.#stats.of(preview));
      if (count === undefined) return undefined;
      hunks += count;
    }
    const toDo = new Set([...listed].flatMap(({ changes }) => (changes ?? []).map(({ path }) => path)));
    const done = new Set(decided.flatMap(({ changes }) => (changes ?? []).map(({ path }) => path)));
    const file = new Map<string, number>();
    for (const path of done) if (!toDo.has(path)) file.set(path, file.size + 1);
    for (const path of toDo) file.set(path, file.size + 1);
    const before = new Map<string, number>();
    for (const each of listed) {
      const stats = each.changes ? this.#stats.of(each) : [];
      if (!stats || (each.changes && stats.length < each.changes.length)) return undefined;
      if (!each.changes) before.set(placeKey(each.id), hunks++);
      for (const [index, { path }] of (each.changes ?? []).entries()) {
        before.set(placeKey(each.id, path), hunks);
        hunks += Math.max(1, stats[index]?.hunks ?? 1);
      }
    }
    return { hunks, files: file.size, before, file };
  }
}

function placeKey(id: string, path = ''): string {
  return `${id} ${path}`;
}

/** The index of the hunk at a line of one side: the one that holds it, else the last one above; -1 above the first. */
export function hunkAt(hunks: readonly Hunk[], side: PreviewSide, line: number): number {
  return hunks.findLastIndex(
    ({ afterStart, beforeStart }) => (side === 'proposal' ? afterStart : beforeStart) <= line,
  );
}

const known = new WeakMap<FileChange, Promise<readonly Hunk[]>>();

/** The hunks of a change, computed once while it stays the same. */
export function hunksOnce(change: FileChange): Promise<readonly Hunk[]> {
  const hunks = known.get(change) ?? hunksOfChange(change);
  known.set(change, hunks);
  return hunks;
}
