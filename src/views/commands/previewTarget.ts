import * as vscode from 'vscode';
import type { SeenRevisions } from '../../agent/preview/preview.ts';
import { views } from '../contributions.ts';
import { parsePreviewUri } from '../preview/previewUri.ts';

/** A preview that a person pointed at. */
export interface PreviewTarget {
  readonly id: string;
  /** The revision that the row showed. */
  readonly revision?: number;
  /** The file that the row stands for. */
  readonly path?: string;
}

/** Whether a keybinding that was pressed in the pending tree passed this: it means the rows there. */
export function isFromTree(argument: unknown): boolean {
  return (
    typeof argument === 'object' && argument !== null && 'view' in argument && argument.view === views.pending
  );
}

/**
 * The previews that a command's arguments name: an id (with a revision as third argument), the URI of an editor whose title was clicked, or rows of a tree
 * (VS Code passes the clicked row, then all selected ones). Empty when nothing is named.
 */
export function targetsOf([first, second, third]: readonly unknown[]): readonly PreviewTarget[] {
  if (typeof first === 'string')
    return [{ id: first, ...(typeof third === 'number' ? { revision: third } : {}) }];
  if (first instanceof vscode.Uri) {
    const id = parsePreviewUri(first)?.previewId;
    return id === undefined ? [] : [{ id }];
  }
  const rows: readonly unknown[] = Array.isArray(second) ? second : [first];
  return distinct(rows.flatMap(row => rowTarget(row) ?? []));
}

/** The revisions that an argument carries; `undefined` for anything else that VS Code or a link may pass. */
export function seenRevisions(argument: unknown): SeenRevisions | undefined {
  if (typeof argument !== 'object' || argument === null || Array.isArray(argument)) return undefined;
  return Object.values(argument).every(value => typeof value === 'number')
    ? (argument as SeenRevisions)
    : undefined;
}

/** Each once; a preview's own row stands for those of its files, too. */
function distinct(targets: readonly PreviewTarget[]): PreviewTarget[] {
  const whole = new Set(targets.filter(({ path }) => path === undefined).map(({ id }) => id));
  const byName = new Map<string, PreviewTarget>();
  for (const target of targets) {
    const { id, path } = target;
    if (path === undefined || !whole.has(id)) byName.set(JSON.stringify([id, path]), target);
  }
  return [...byName.values()];
}

function rowTarget(row: unknown): PreviewTarget | undefined {
  if (typeof row !== 'object' || row === null || !('previewId' in row)) return undefined;
  const { previewId, revision, path } = row as Record<string, unknown>;
  if (typeof previewId !== 'string') return undefined;
  return {
    id: previewId,
    ...(typeof revision === 'number' ? { revision } : {}),
    ...(typeof path === 'string' ? { path } : {}),
  };
}
