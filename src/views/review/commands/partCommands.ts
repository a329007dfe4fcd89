import * as vscode from 'vscode';
import type { ProposedChange } from '../../../agent/hold/preview/pendingFiles.ts';
import { hunksOfChange, isText, type FileChange } from '../../../agent/hold/preview/fileChange.ts';
import type { Preview, ResolveAction } from '../../../agent/hold/preview/preview.ts';
import { conflictPaths } from '../../../agent/hold/preview/rebase/conflictMarkers.ts';
import { seenPart } from '../../../agent/hold/preview/resolve/ownParts.ts';
import { resolvePart } from '../../../agent/hold/preview/resolve/resolvePart.ts';
import { splitPreview } from '../../../agent/hold/preview/resolve/splitPreview.ts';
import { humanReason } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import type { Agent } from '../../agent.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';
import { changeUri, opaqueUri } from '../../workspace/previewUri.ts';
import { hunkAt } from '../reviewPlaces.ts';
import { shownChange } from '../shownChange.ts';
import { ApplyGuard, askReason } from './applyGuard.ts';
import { BulkVotes } from './bulkVotes.ts';
import { askImports, revisionNow } from './importGuard.ts';
import { targetsOf, type ActivePlace } from './previewTargets.ts';
import { seenNow } from './seenNow.ts';
import { showHunk } from './showHunk.ts';

/**
 * The commands for single files and hunks, and those that edit or rebase a proposal. `at` is the position of the cursor when the
 * command was called, which may be some time ago.
 */
export class PartCommands {
  readonly #ctx: Ctx;
  readonly #guard: ApplyGuard;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
    this.#guard = new ApplyGuard(ctx);
  }

  async voteOnFile(
    action: ResolveAction,
    args: readonly unknown[],
    at: ActivePlace | undefined,
  ): Promise<unknown> {
    return this.#vote(action, fileTarget(this.#ctx, args, at), typedIn(args[3]));
  }

  async voteOnHunk(
    action: ResolveAction,
    args: readonly unknown[],
    at: ActivePlace | undefined,
  ): Promise<unknown> {
    return this.#vote(action, await hunkTarget(this.#ctx, args, at), typedIn(args[4]));
  }

  async discardFileWithReason(args: readonly unknown[], at: ActivePlace | undefined): Promise<unknown> {
    return this.#discardWithReason(fileTarget(this.#ctx, args, at));
  }

  async discardHunkWithReason(args: readonly unknown[], at: ActivePlace | undefined): Promise<unknown> {
    return this.#discardWithReason(await hunkTarget(this.#ctx, args, at));
  }

  async rebase(args: readonly unknown[]): Promise<void> {
    const { store, rebaser, opener } = this.#ctx;
    const preview = await this.#named(args);
    if (preview?.state.kind !== 'pending') return;
    const [conflict] = await rebaser.rebaseNow(preview.id);
    const rebased = store.get(preview.id);
    if (!rebased) return;
    if (conflict === undefined) await opener.open(rebased);
    else await this.#editFile(rebased, conflict);
  }

  async edit(args: readonly unknown[], at: ActivePlace | undefined): Promise<void> {
    const preview = await this.#named(args);
    if (!preview) return;
    const [conflict] = conflictPaths(preview.changes ?? []);
    await this.#editFile(preview, fileTarget(this.#ctx, args, at)?.path ?? conflict);
  }

  async #vote(action: ResolveAction, target: PartTarget | undefined, typed?: string): Promise<unknown> {
    if (!target) return void showInfo(noPartText());
    const { store, invoker, opener } = this.#ctx;
    const { id, path } = target;
    const preview = store.get(id);
    const seen = preview && (await seenNow(this.#ctx, preview, target.revision, target));
    // A second click on it, or a key meant for the hunk just decided.
    if (seen?.kind === 'decided') return undefined;
    const hunk = seen?.hunk;
    const revision = preview?.revision ?? target.revision;
    // Unsaved typing moves the hunks below it.
    if (preview && hunk !== undefined && this.#guard.refusesUnsaved([preview])) return undefined;
    const consent = action === 'apply' && preview ? await this.#guard.ask(preview) : {};
    if (!consent) return undefined;
    const part = preview && action === 'apply' ? await changesOfPart(preview, { path, hunk }) : [];
    const before = await askImports(store, part);
    if (!before) return undefined;
    const bulk = new BulkVotes(this.#ctx);
    if (before.length > 0 && !(await opener.together(() => bulk.applyAll(before)))) return undefined;
    if (preview && before.length > 0 && this.#guard.refusesTyped(preview)) return undefined;
    const own = preview?.changes?.filter(change => change.path === path) ?? [];
    const { kind } = await resolvePart(
      { store, invoker, l10n: vscode.l10n },
      {
        id,
        revision: preview && before.length > 0 ? revisionNow(store, preview, own) : revision,
        action,
        reason: humanReason(action, typed),
        actor: 'human',
        ...consent,
      },
      { path, hunk },
    );
    const isLeft = store.get(id)?.state.kind === 'pending';
    if (hunk !== undefined && isLeft) await showHunk(this.#ctx, { id, path, hunk });
    return kind;
  }

  /** Asks for the reason, then discards. */
  async #discardWithReason(target: PartTarget | undefined): Promise<unknown> {
    if (!target) return void showInfo(noPartText());
    const preview = this.#ctx.store.get(target.id);
    if (preview && target.hunk !== undefined && this.#guard.refusesUnsaved([preview])) return undefined;
    const reason = await askReason(partTitle(target));
    return reason === undefined ? undefined : this.#vote('discard', target, reason);
  }

  /** The preview that was named or is active. If there is neither, the head opens, so that the user sees it first. */
  async #named(args: readonly unknown[]): Promise<Preview | undefined> {
    const id = targetsOf(args)[0]?.id ?? this.#ctx.tabs.activeId();
    if (id === undefined) await vscode.commands.executeCommand('redline.preview.open');
    return id === undefined ? undefined : this.#ctx.store.get(id);
  }

  async #editFile(preview: Preview, path: string | undefined): Promise<void> {
    const { opener, edits, files } = this.#ctx;
    if (preview.state.kind === 'pending' && planOf(preview)) {
      edits.begin(opaqueUri(preview, 'proposal'));
      return opener.open(preview);
    }
    const changes = preview.state.kind === 'pending' ? (preview.changes ?? []) : [];
    const change =
      changes.find(candidate => candidate.path === path) ?? (path === undefined ? changes[0] : undefined);
    if (!change?.after || !isText(change.after)) {
      return void showInfo(vscode.l10n.t('This file has no proposed text that you could edit.'));
    }
    edits.begin(changeUri(preview.id, change, 'proposal', files));
    await opener.open(preview, change.path);
  }
}

/** The file or hunk that a command acts on. */
interface PartTarget {
  readonly id: string;
  readonly path: string;
  /** The revision that the user saw. */
  readonly revision: number;
  readonly hunk?: number;
}

/** The changes that applying a part writes. */
async function changesOfPart(
  preview: Preview,
  { path, hunk }: { readonly path: string; readonly hunk: number | undefined },
): Promise<readonly FileChange[]> {
  if (hunk === undefined) return preview.changes?.filter(change => change.path === path) ?? [];
  return (await splitPreview(preview, { path, hunk }, 'apply'))?.part ?? preview.changes ?? [];
}

/** The file that the arguments name (an id and a path, or a tree row), else the one in the active preview editor. */
function fileTarget(
  source: Agent,
  args: readonly unknown[],
  at: ActivePlace | undefined,
): PartTarget | undefined {
  const [first] = typeof args[0] === 'string' ? [] : targetsOf(args);
  const id = first?.id ?? args[0];
  const path = first?.path ?? args[1];
  const seen = first?.revision ?? args[2];
  const preview = typeof id === 'string' ? source.store.get(id) : undefined;
  if (preview && typeof path === 'string') {
    return { id: preview.id, path, revision: typeof seen === 'number' ? seen : preview.revision };
  }
  const shown = at && shownChange(source.store, source.files, at.address);
  return shown && targetOf(shown, at);
}

/** The hunk that the arguments name by its index, else the one at the cursor in the active preview editor. */
async function hunkTarget(
  source: Agent,
  args: readonly unknown[],
  at: ActivePlace | undefined,
): Promise<PartTarget | undefined> {
  const [id, path, hunk, revision] = args;
  if (typeof hunk === 'number') {
    const target = fileTarget(source, [id, path, revision], at);
    return target && { ...target, hunk };
  }
  const shown = at && shownChange(source.store, source.files, at.address);
  if (!shown) return undefined;
  const target = targetOf(shown, at);
  const seen = Math.min(target.revision, at.pressedAt ?? target.revision);
  // Somebody else has changed it since; the vote will be refused.
  if (seenPart(source.store, shown.preview, seen).kind === 'outdated') return { ...target, revision: seen };
  // The editor shows an older revision, so its cursor is at no hunk of the current one.
  if (target.revision !== shown.preview.revision) return undefined;
  const hunks = await hunksOfChange(shown.change);
  if (hunks.length === 0) return undefined;
  // The one that the status bar names: above the first hunk, that is the first.
  return { ...target, hunk: Math.max(0, hunkAt(hunks, at.address.side, at.line)) };
}

/** A file that was split off is shown in the document of the whole, but has revisions of its own. */
function targetOf({ preview, change }: ProposedChange, { address, revision }: ActivePlace): PartTarget {
  const seen = preview.id === address.previewId ? revision : undefined;
  return { id: preview.id, path: change.path, revision: seen ?? preview.revision };
}

function typedIn(argument: unknown): string | undefined {
  return typeof argument === 'string' ? argument : undefined;
}

function noPartText(): string {
  return vscode.l10n.t('No change is at the cursor.');
}

/** The question for the reason to discard a part. */
function partTitle({ path, hunk }: PartTarget): string {
  return hunk === undefined
    ? vscode.l10n.t('Discard {0}', oneLine(path))
    : vscode.l10n.t('Discard this hunk of {0}', oneLine(path));
}
