import * as vscode from 'vscode';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import { hunksOfChange, type Hunk } from '../../agent/preview/hunks.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { parsePreviewUri, type FileUris, type PreviewSide } from '../preview/previewUri.ts';
import { shownChange } from '../preview/shownChange.ts';
import { targetsOf } from './previewTarget.ts';

/** A file of a preview that a person pointed at, or a hunk of it. */
export interface PartTarget {
  readonly id: string;
  readonly path: string;
  /** What the person saw. */
  readonly revision: number;
  readonly hunk?: number;
}

interface Source {
  readonly store: Pick<PreviewStore, 'get' | 'all'>;
  readonly files: FileUris;
}

/** The file that arguments name (an id and a path, or a tree row), else the one in the active preview editor. */
export function fileTarget(source: Source, args: readonly unknown[]): PartTarget | undefined {
  const [first] = typeof args[0] === 'string' ? [] : targetsOf(args);
  const id = first?.id ?? args[0];
  const path = first?.path ?? args[1];
  const seen = first?.revision ?? args[2];
  const preview = typeof id === 'string' ? source.store.get(id) : undefined;
  if (preview && typeof path === 'string') {
    return { id: preview.id, path, revision: typeof seen === 'number' ? seen : preview.revision };
  }
  const shown = activeChange(source);
  return shown && targetOf(shown);
}

/** The hunk that arguments name by its index, else the one at the cursor of the active preview editor. */
export async function hunkTarget(source: Source, args: readonly unknown[]): Promise<PartTarget | undefined> {
  const [id, path, hunk, revision] = args;
  if (typeof hunk === 'number') {
    const target = fileTarget(source, [id, path, revision]);
    return target && { ...target, hunk };
  }
  const shown = activeChange(source);
  if (!shown) return undefined;
  const { side, change, line } = shown;
  const hunks = await hunksOfChange(change);
  const at = hunks.findIndex(candidate => holds(candidate, side, line));
  return at < 0 ? undefined : { ...targetOf(shown), hunk: at };
}

interface ActiveChange {
  readonly preview: Preview;
  readonly change: FileChange;
  readonly side: PreviewSide;
  readonly line: number;
}

function activeChange({ store, files }: Source): ActiveChange | undefined {
  const editor = vscode.window.activeTextEditor;
  const address = editor && parsePreviewUri(editor.document.uri);
  const shown = address && shownChange(store, files, address);
  return shown && { ...shown, side: address.side, line: editor.selection.active.line };
}

function targetOf({ preview, change }: ActiveChange): PartTarget {
  return { id: preview.id, path: change.path, revision: preview.revision };
}

/** A side on which a hunk has no lines shows it between two lines: it belongs to the one below. */
function holds(hunk: Hunk, side: PreviewSide, line: number): boolean {
  const [start, end] =
    side === 'proposal' ? [hunk.afterStart, hunk.afterEnd] : [hunk.beforeStart, hunk.beforeEnd];
  return line >= start && line < Math.max(end, start + 1);
}
