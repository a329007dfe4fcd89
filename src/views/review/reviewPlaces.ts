import * as vscode from 'vscode';
import type { Disposable } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { hunksOfChange, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import { hunkNumber } from '../../agent/hold/preview/resolve/ownParts.ts';
import type { Hunk } from '../../agent/hold/text/hunks.ts';
import type { DiffStat } from '../../agent/hold/text/lineDiff.ts';
import type { Agent } from '../agent.ts';
import { DiffStats } from './diffStats.ts';
import { oneLine } from '../plainText.ts';
import { setKey } from './countedSet.ts';
import { placeTable, slotKey, type PlaceOrder, type PlaceTable } from './placeTable.ts';
import { parsePreviewUri, type PreviewSide } from '../workspace/previewUri.ts';
import type { ReviewList } from './reviewList.ts';
import { shownChange } from './shownChange.ts';

/** Position of a hunk in its change set. All hunks count, decided or not. */
export interface ReviewPlace {
  /** From 1. */
  readonly hunk: number;
  readonly hunks: number;
  /** From 1. */
  readonly file: number;
  readonly files: number;
}

/** The hunk at a cursor. */
export interface HunkAt {
  /** `Hunk 3 of 14 · cart.ts` */
  readonly text: string;
  readonly id: string;
  readonly path: string;
  /** Its index among the remaining hunks of its file, from 0. */
  readonly hunk: number;
}

/** Finds the positions of hunks in their change sets. A hunk keeps its number while the others are decided. */
export class ReviewPlaces implements Disposable {
  readonly #agent: Agent;
  readonly #order: PlaceOrder;
  readonly #stats: DiffStats;
  readonly #changed = new Emitter<void>();
  readonly #following: Disposable;
  #tables = new Map<string, PlaceTable | undefined>();

  /** More was counted. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(agent: Agent, review: ReviewList) {
    this.#agent = agent;
    this.#order = { previews: ofSet => review.inOrder(ofSet), paths: new Map() };
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
    if (!this.#tables.has(key)) {
      const { store } = this.#agent;
      const statsOf = (each: Preview): readonly DiffStat[] | undefined => this.#stats.of(each);
      this.#tables.set(key, placeTable(store, key, this.#order, statsOf));
    }
    const table = this.#tables.get(key);
    const slots = table?.slots.get(slotKey(preview.id, change?.path));
    if (!table || !slots) return undefined;
    const file = change ? (table.file.get(change.path) ?? 0) : 0;
    const number = slots.before + hunkNumber(hunk, slots.gone);
    return { hunk: number, hunks: table.hunks, file, files: table.file.size };
  }

  /** The hunk at the cursor of a preview editor; `undefined` if there is nothing to decide. */
  async at({ document, selection }: vscode.TextEditor): Promise<HunkAt | undefined> {
    const { store, files } = this.#agent;
    const address = parsePreviewUri(document.uri);
    const shown = address && shownChange(store, files, address);
    if (!address || shown?.preview.state.kind !== 'pending') return undefined;
    const { preview, change } = shown;
    const hunk = Math.max(0, hunkAt(await hunksOnce(change), address.side, selection.active.line));
    const place = this.of(preview, change, hunk);
    if (!place) return undefined;
    const { l10n } = vscode;
    const name = oneLine(change.path.slice(change.path.lastIndexOf('/') + 1), 40);
    const atHunk = l10n.t('Hunk {0} of {1}', place.hunk, place.hunks);
    const text = place.files < 2 ? atHunk : `${atHunk} · ${name}`;
    return { text, id: preview.id, path: change.path, hunk };
  }

  dispose(): void {
    this.#following.dispose();
    this.#stats.dispose();
  }
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
