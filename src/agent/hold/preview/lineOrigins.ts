import { onOtherSide } from '../text/hunks.ts';
import { diffLines } from '../text/lineDiff.ts';
import { bareLines } from '../text/lines.ts';
import { textOf, type FileChange, type FileSide } from './fileChange.ts';
import { standingApplies, type LedgerEntry } from './ledger.ts';
import type { Preview } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';

/** A preview that was applied, and the attempt that applied it. */
export interface AppliedPreview {
  readonly preview: Preview;
  readonly entry: LedgerEntry;
}

/** Origin of a line of a file. */
export type LineOrigin = FoundOrigin | UnknownOrigin;

/** The decision that brought a line. */
export interface FoundOrigin extends AppliedPreview {
  /** `applied`: the line is as this preview wrote it. `changedSince`: it replaced a line that this preview wrote. */
  readonly kind: 'applied' | 'changedSince';
  /** The path that the file had in the preview, and the line of its proposal, counted from 0. */
  readonly path: string;
  readonly line: number;
}

/** Why there is no decision for a line. */
export type UnknownOrigin =
  /** It may come from these attempts, whose previews are forgotten with their texts. The newest first. */
  | { readonly kind: 'forgotten'; readonly entries: readonly LedgerEntry[] }
  /** The file has changed too much to tell. */
  | { readonly kind: 'tooDifferent' }
  | { readonly kind: 'notByRedline' };

/** One preview's effect on the file, in the order in which they were applied. */
interface Link extends AppliedPreview {
  readonly change: FileChange;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A line of an older text that is being followed back. */
interface Cursor {
  readonly line: number;
  /** Whether anything but Redline has changed it since. */
  readonly isChanged: boolean;
}

/**
 * Follows a line of a file back through everything that was applied to it, to the decision that brought it. Where a preview undid
 * others, their lines belong to the decisions before.
 * @param text the current text of the file, or of its editor
 * @param line counted from 0
 * @param isHere whether a workspace path of this preview still means the same file
 */
export async function originOfLine(
  store: PreviewStore,
  { path, text, line }: { readonly path: string; readonly text: string; readonly line: number },
  isHere: (preview: Preview, path: string) => boolean,
): Promise<LineOrigin> {
  const { chain, forgotten } = await appliedTo(store, path, isHere);
  const found = await follow(chain, await bareLines(text), [{ line, isChanged: false }]);
  if (found) return found;
  return forgotten.length > 0 ? { kind: 'forgotten', entries: forgotten } : { kind: 'notByRedline' };
}

async function appliedTo(
  store: PreviewStore,
  path: string,
  isHere: (preview: Preview, path: string) => boolean,
): Promise<{ readonly chain: readonly Link[]; readonly forgotten: readonly LedgerEntry[] }> {
  const chain: Link[] = [];
  const forgotten: LedgerEntry[] = [];
  let at = path;
  for (const entry of standingApplies(await store.wholeLedger()).toReversed()) {
    if (!entry.files.some(file => file.path === at)) continue;
    const preview = store.get(entry.previewId);
    if (!preview) {
      forgotten.push(entry);
      continue;
    }
    const change = preview.changes?.findLast(each => each.path === at || isRenamedFrom(each, at));
    if (!change || !isHere(preview, at)) continue;
    const after = isRenamedFrom(change, at) ? [] : await sideLines(change.after);
    chain.push({ entry, preview, change, before: await sideLines(change.before), after });
    if (change.kind === 'rename' && change.path === at) at = change.from;
  }
  return { chain: chain.reverse(), forgotten };
}

function isRenamedFrom(change: FileChange, path: string): boolean {
  return change.kind === 'rename' && change.from === path && change.path !== path;
}

/** Follows lines of a text that was made on top of these. @returns `undefined` if they come from none of them. */
async function follow(
  chain: readonly Link[],
  text: readonly string[],
  lines: readonly Cursor[],
): Promise<LineOrigin | undefined> {
  let newer = text;
  let cursors = lines;
  for (const [at, link] of [...chain.entries()].reverse()) {
    if (cursors.length === 0) return undefined;
    const since = await diffLines(link.after, newer);
    const isTold = since.exact || cursors.every(({ line }) => !onOtherSide(since.runs, line, 'after').run);
    if (!isTold) return { kind: 'tooDifferent' };
    cursors = cursors.flatMap(({ line, isChanged }) => {
      const found = onOtherSide(since.runs, line, 'after');
      if (!found.run) return [{ line: found.line, isChanged }];
      const { run } = found;
      const replaced = Array.from({ length: run.beforeEnd - run.beforeStart }, (_, i) => run.beforeStart + i);
      // The line that stood in its place comes first.
      const same = run.beforeStart + (line - run.afterStart);
      return replaced
        .sort((a, b) => Math.abs(a - same) - Math.abs(b - same))
        .map(each => ({ line: each, isChanged: true }));
    });
    const made = await diffLines(link.before, link.after);
    const written = cursors.filter(({ line }) => onOtherSide(made.runs, line, 'after').run);
    const origin = await originIn(chain, at, written);
    if (origin) return made.exact ? origin : { kind: 'tooDifferent' };
    cursors = cursors.flatMap(({ line, isChanged }) => {
      const found = onOtherSide(made.runs, line, 'after');
      return found.run ? [] : [{ line: found.line, isChanged }];
    });
    newer = link.before;
  }
  return undefined;
}

/** The origin of lines that a preview wrote. */
async function originIn(
  chain: readonly Link[],
  at: number,
  written: readonly Cursor[],
): Promise<LineOrigin | undefined> {
  const [first] = written;
  const link = chain[at];
  if (!first || !link) return undefined;
  const { preview, entry, change } = link;
  const undone = chain.findIndex(
    (each, i) =>
      i < at &&
      preview.undoes?.includes(each.preview.id) === true &&
      each.change.before?.hash === change.after?.hash,
  );
  // A line that an undo brought back is as old as it was before the undone change.
  if (undone >= 0) return follow(chain.slice(0, undone), link.after, written);
  const kind = first.isChanged ? 'changedSince' : 'applied';
  return { kind, preview, entry, path: change.path, line: first.line };
}

function sideLines(side: FileSide | null): Promise<readonly string[]> {
  return bareLines(textOf(side));
}
