import * as vscode from 'vscode';
import type { Logger } from '../../agent/base/log.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import { isOpen, type Preview, type ResolveAction } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';
import { planOf } from '../../agent/session/planMode.ts';
import type { Session } from '../../agent/session/session.ts';
import { oneLine } from '../plainText.ts';
import type { FileUris } from '../preview/previewUri.ts';
import type { ProposalEdits } from '../preview/proposalEdits.ts';
import type { Restaging } from '../preview/restaging.ts';
import { showInfo } from '../toast.ts';
import { ApplyGuard } from './applyGuard.ts';
import type { BulkVotes } from './bulkVotes.ts';
import type { PreviewChoice } from './previewChoice.ts';
import { seenRevisions, type PreviewTarget } from './previewTarget.ts';

export interface PreviewVotesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly session: Session;
  readonly restaging: Restaging;
  readonly edits: ProposalEdits;
  readonly files: FileUris;
  readonly logger: Logger;
}

/** A person's Apply and Discard of whole previews, from the arguments of a command to the invoker. */
export class PreviewVotes {
  readonly #options: PreviewVotesOptions;
  readonly #choice: PreviewChoice;
  readonly #guard: ApplyGuard;

  constructor(options: PreviewVotesOptions, choice: PreviewChoice) {
    this.#options = options;
    this.#choice = choice;
    this.#guard = new ApplyGuard(options);
  }

  /** One vote on each that was named; on a file, where a row of one was. With nothing named the head opens instead. */
  async vote(action: ResolveAction, args: readonly unknown[]): Promise<unknown> {
    const named = await this.#choice.targets(args);
    const [first] = named;
    if (named.length > 1)
      return action === 'apply'
        ? (await this.#bulk()).applyAll(named)
        : (await this.#bulk()).discardAll(named);
    if (first?.path !== undefined) {
      const command = `redline.preview.${action}File`;
      return vscode.commands.executeCommand(command, first.id, first.path, first.revision);
    }
    const { store, invoker } = this.#options;
    const preview = first && store.get(first.id);
    if (!preview) return this.#choice.openHead();
    if (!isOpen(preview)) return void showInfo(alreadyText(preview));
    const consent = action === 'apply' ? await this.#guard.ask(preview, seenRevisions(args[3])) : {};
    if (!consent) return undefined;
    const typed = typeof args[1] === 'string' ? args[1] : undefined;
    const asks = action === 'discard' && typed === undefined && planOf(preview) !== undefined;
    const reason = asks ? await askReason(preview) : (typed ?? '');
    if (reason === undefined) return undefined;
    return invoker.resolve({
      id: preview.id,
      revision: first.revision ?? preview.revision,
      action,
      reason: humanReason(action, reason),
      actor: 'human',
      ...consent,
    });
  }

  /** Asks for the reason first. */
  async discardWithReason(args: readonly unknown[]): Promise<unknown> {
    const named = await this.#choice.targets(args);
    const [first] = named;
    const preview = first && this.#options.store.get(first.id);
    if (!preview) return this.#choice.openHead();
    const isWhole = named.length === 1 && first.path === undefined;
    const reason = await (isWhole ? askReason(preview) : askReasonOfSeveral(named.length));
    if (reason === undefined) return undefined;
    if (!isWhole) return (await this.#bulk()).discardAll(named, reason);
    return this.vote('discard', [preview.id, reason, first.revision ?? preview.revision]);
  }

  async applyAll(): Promise<unknown> {
    const all = this.#choice.pending();
    return all.length === 0 ? this.#choice.openHead() : (await this.#bulk()).applyAll(all.map(targetOf));
  }

  /** Whoever discards everything does not want the session to go on about it by itself. */
  async discardAll(): Promise<unknown> {
    const all = this.#choice.pending();
    if (all.length === 0) return this.#choice.openHead();
    this.#options.session.endReview();
    return (await this.#bulk()).discardAll(all.map(targetOf));
  }

  /** Loaded on first use: activation does not pay for it. */
  async #bulk(): Promise<BulkVotes> {
    return new (await import('./bulkVotes.ts')).BulkVotes(this.#options);
  }
}

function targetOf({ id, revision }: Preview): PreviewTarget {
  return { id, revision };
}

/** The person's words for a discard; `undefined` when they think better of it. */
function askReason(preview: Preview): Thenable<string | undefined> {
  const plan = planOf(preview);
  return vscode.window.showInputBox(
    plan
      ? {
          title: vscode.l10n.t('Send back the plan “{0}”', oneLine(plan.title)),
          prompt: vscode.l10n.t('What should be different? The model refines the plan with your words.'),
        }
      : {
          title: vscode.l10n.t('Discard {0}', oneLine(preview.label)),
          prompt: vscode.l10n.t('Why? The model is told your words.'),
        },
  );
}

function askReasonOfSeveral(count: number): Thenable<string | undefined> {
  const title =
    count === 1 ? vscode.l10n.t('Discard 1 file') : vscode.l10n.t('Discard all {0} selected', count);
  return vscode.window.showInputBox({ title, prompt: vscode.l10n.t('Why? The model is told your words.') });
}

/** Why there is nothing left to vote on. */
function alreadyText({ id, label, state }: Preview): string {
  const name = `${oneLine(label)} (${id})`;
  switch (state.kind) {
    case 'applied':
      return vscode.l10n.t('{0} is already applied: {1}', name, oneLine(state.by.reason));
    case 'discarded':
      return vscode.l10n.t('{0} is already discarded: {1}', name, oneLine(state.by.reason));
    default:
      return vscode.l10n.t('{0} has expired: what it would have run is gone.', name);
  }
}
