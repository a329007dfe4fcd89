import * as vscode from 'vscode';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { views } from '../../contributions.ts';
import { isFromLens } from '../../commandRegistry.ts';
import { showInfo } from '../../toast.ts';
import type { PreviewTabs } from '../previewTabs.ts';
import { parsePreviewUri, type PreviewAddress } from '../../workspace/previewUri.ts';
import type { ShownRevisions } from '../shownRevisions.ts';
import type { Ctx } from '../../ctx.ts';

/** A preview that a command acts on. */
export interface PreviewTarget {
  readonly id: string;
  /** The revision that the row or the editor showed. */
  readonly revision?: number;
  /** The file, if the row was a file's. */
  readonly path?: string;
  /** Whether the row stood for all pending previews. */
  readonly isOfAll?: boolean;
}

/** Finds the previews that a command acts on. */
export class PreviewTargets {
  readonly #ctx: Ctx;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  /** In the order of staging, except that each comes after those that it builds on. */
  pending(): readonly Preview[] {
    return this.#ctx.store.list('oldestFirst').filter(preview => preview.state.kind === 'pending');
  }

  /** The first of the pending view. */
  get head(): Preview | undefined {
    return this.#ctx.review.list()[0];
  }

  /**
   * The previews that were named or are focused, else the one in the active editor. An editor names the revision that it
   * shows at the time of the call.
   */
  async named(args: readonly unknown[]): Promise<readonly PreviewTarget[]> {
    const { pendingView, tabs, shown } = this.#ctx;
    if (isFromTree(args[0])) {
      const rows = await pendingView.focused();
      if (rows[0]?.kind === 'all') return this.pending().map(({ id }) => ({ id, isOfAll: true }));
      return targetsOf([undefined, rows]);
    }
    const named = targetsOf(args);
    // A title button of a tab that shows several previews acts on all of them.
    const together = args[0] instanceof vscode.Uri && named.length === 0 ? this.#pendingIn(tabs) : [];
    const active = named.length > 0 || together.length > 0 ? undefined : tabs.activeId();
    if (active === undefined && !(args[0] instanceof vscode.Uri)) return named;
    return (active === undefined ? [...named, ...together] : [{ id: active }]).map(({ id }) => {
      const revision = shown.of(id);
      return { id, revision };
    });
  }

  #pendingIn(tabs: PreviewTabs): readonly PreviewTarget[] {
    const ids = new Set(tabs.togetherIn());
    return this.pending().filter(({ id }) => ids.has(id));
  }

  /** Opens the head, so that a user who named no preview sees it instead of resolving it unseen. */
  async openHead(): Promise<void> {
    const { head } = this;
    if (head) await this.#ctx.opener.open(head);
    else void showInfo(vscode.l10n.t('Nothing is pending.'));
  }
}

/** Position of the cursor in a preview document, and the revision that its editor shows. */
export interface ActivePlace {
  readonly address: PreviewAddress;
  /** Counted from 0. */
  readonly line: number;
  readonly revision: number | undefined;
  /** The revision that it showed when the key was pressed, if the key had to wait. */
  readonly pressedAt?: number | undefined;
}

/**
 * The place of the cursor in the active editor, if that shows a preview.
 * @param pressed the place when the key was pressed, if the key had to wait: it acts on what is next by now, as long as only the
 *   person's own decisions have changed the preview
 */
export function activePlace(shown: ShownRevisions, pressed?: ActivePlace): ActivePlace | undefined {
  const editor = vscode.window.activeTextEditor;
  const address = editor && parsePreviewUri(editor.document.uri);
  if (!address) return undefined;
  const { previewId } = address;
  const place = { address, line: editor.selection.active.line, revision: shown.of(previewId) };
  return pressed?.address.previewId === previewId ? { ...place, pressedAt: pressed.revision } : place;
}

/** Whether the argument comes from a keybinding in the pending tree, which acts on the rows there. */
export function isFromTree(argument: unknown): boolean {
  return (
    typeof argument === 'object' && argument !== null && 'view' in argument && argument.view === views.pending
  );
}

/**
 * Whether the focus belongs in the editor after a command: if its keys, lenses or title buttons, or the palette, ran the command.
 * After a command in a multi-file diff, whose pane goes away, it always does.
 */
export function isFromEditor(args: readonly unknown[], tabs: PreviewTabs): boolean {
  const [first] = args;
  if (isFromLens(args)) return true;
  return first === undefined || first === null || first instanceof vscode.Uri || tabs.isMultiDiffActive;
}

/**
 * The previews that a command's arguments name: an id (with a revision as the third argument), the URI of an editor whose
 * title button was clicked, or tree rows (VS Code passes the clicked row, then all selected ones). Empty if nothing is
 * named.
 */
export function targetsOf([first, second, third]: readonly unknown[]): readonly PreviewTarget[] {
  if (typeof first === 'string')
    return [{ id: first, ...(typeof third === 'number' ? { revision: third } : {}) }];
  if (first instanceof vscode.Uri) {
    const id = parsePreviewUri(first)?.previewId;
    return id === undefined ? [] : [{ id }];
  }
  const rows: readonly unknown[] = Array.isArray(second) ? second : [first];
  return distinct(rows.flatMap(rowTargets));
}

/** Each target once. A preview's own row covers the rows of its files. */
function distinct(targets: readonly PreviewTarget[]): PreviewTarget[] {
  const whole = new Set(targets.filter(({ path }) => path === undefined).map(({ id }) => id));
  const byName = new Map<string, PreviewTarget>();
  for (const target of targets) {
    const { id, path } = target;
    if (path === undefined || !whole.has(id)) byName.set(JSON.stringify([id, path]), target);
  }
  return [...byName.values()];
}

/** The targets of a row: a preview, one of its files, or the open previews of a change set. */
function rowTargets(row: unknown): readonly PreviewTarget[] {
  if (typeof row === 'object' && row !== null && 'open' in row && Array.isArray(row.open))
    return row.open.flatMap(one => rowTarget(one) ?? []);
  return [rowTarget(row) ?? []].flat();
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
