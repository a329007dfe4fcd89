import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import { riskKinds } from '../../agent/preview/reading/risks.ts';
import type { Agent } from '../agent.ts';
import { DiffStats } from '../chat/transcript/diffStats.ts';
import { contextKeys } from '../contributions.ts';
import { escapeInvisible, oneLine } from '../plainText.ts';
import type { ProposalEdits } from '../review/documents/proposalEdits.ts';
import type { LookedAt } from '../review/lookedAt.ts';
import type { ReviewList } from '../review/reviewList.ts';
import {
  arrange,
  filterChoices,
  isFilter,
  noFilter,
  sortKeys,
  type FilterState,
  type PendingFilter,
  type SortKey,
} from './arrange.ts';

/** Where the order is kept for the next start of the window. */
export const SORT_KEY = 'redline.pending.sort';

/** What the pending view is built on. */
export interface PendingParts extends Agent {
  readonly review: ReviewList;
  readonly looks: LookedAt;
  /** What is typed into proposals and not saved. */
  readonly edits: ProposalEdits;
  /** Keeps how the rows are sorted. */
  readonly memory: vscode.Memento;
  /** The folder of this window's storage. */
  readonly storage: string;
}

/** One entry of the filter's list. */
interface FilterPick extends vscode.QuickPickItem {
  readonly adds?: Partial<PendingFilter>;
}

/**
 * How the user sorts and filters the pending previews. The order is kept; the filter ends with the review, so that it hides
 * nothing that comes later.
 */
export class Arranger extends Owner {
  readonly #ctx: PendingParts;
  readonly #stats: DiffStats;
  #sort: SortKey;
  #filter = noFilter;

  constructor(ctx: PendingParts) {
    super();
    this.#ctx = ctx;
    const { store, review, memory, logger, risks, looks } = ctx;
    this.#stats = this.own(new DiffStats(logger, () => this.#sort === 'size' && review.refresh()));
    const kept = memory.get(SORT_KEY);
    this.#sort = sortKeys.find(key => key === kept) ?? 'reading';
    this.own(risks.onDidChange(() => this.#sort === 'risk' && review.refresh()));
    for (const event of [looks.onDidChange, looks.onDidMove])
      this.own(event(() => this.#filter.notLookedAt && review.refresh()));
    this.own(
      store.onDidChange(() => {
        if (store.openCount === 0 && isFilter(this.#filter)) this.clearFilter();
      }),
    );
    this.#update();
  }

  /** Asks for the order, and sorts by it. */
  async sort(): Promise<void> {
    const picks = sortKeys.map(key => ({ key, ...sortText(key), picked: key === this.#sort }));
    const title = vscode.l10n.t('Sort Pending Previews By');
    const chosen = await vscode.window.showQuickPick(
      picks.map(({ picked, ...pick }) => ({
        ...pick,
        iconPath: new vscode.ThemeIcon(picked ? 'check' : 'blank'),
      })),
      { title },
    );
    if (!chosen) return;
    this.#sort = chosen.key;
    await this.#ctx.memory.update(SORT_KEY, this.#sort === 'reading' ? undefined : this.#sort);
    this.#update();
  }

  /** Asks what to show. Nothing chosen shows everything. */
  async filter(): Promise<void> {
    const chosen = await pickFilters(this.#filterPicks());
    if (!chosen) return;
    const added = chosen.map(({ adds }) => adds ?? {});
    this.#filter = {
      agents: added.flatMap(({ agents }) => agents ?? []),
      folders: added.flatMap(({ folders }) => folders ?? []),
      states: added.flatMap(({ states }) => states ?? []),
      notLookedAt: added.some(({ notLookedAt }) => notLookedAt),
    };
    this.#update();
  }

  clearFilter(): void {
    this.#filter = noFilter;
    this.#update();
  }

  #update(): void {
    const [sort, filter] = [this.#sort, this.#filter];
    const { review, looks } = this.#ctx;
    const isFiltered = isFilter(filter);
    void vscode.commands.executeCommand('setContext', contextKeys.isFiltered, isFiltered);
    if (!isFiltered && sort === 'reading') return review.setArrangement(undefined);
    const facts = {
      sizeOf: (preview: Preview) => this.#sizeOf(preview),
      riskOf: (preview: Preview) => this.#riskOf(preview),
      isDoneWith: (preview: Preview) => looks.hasAll(preview) && !looks.isVisible(preview.id),
    };
    review.setArrangement({
      arrange: previews => arrange(previews, sort, filter, facts),
      isReading: sort === 'reading',
      filter: isFiltered ? filterText(filter) : undefined,
    });
  }

  /** Of many files only the first are counted. */
  #sizeOf(preview: Preview): number | undefined {
    const stats = this.#stats.of(preview);
    if (!stats || stats.length === 0) return undefined;
    const lines = stats.reduce((sum, { added, removed }) => sum + added + removed, 0);
    return (lines / stats.length) * (preview.changes?.length ?? 0);
  }

  /** A doubt of the model itself is as grave as what it deletes. */
  #riskOf(preview: Preview): number | undefined {
    const { state } = preview;
    const kinds = this.#ctx.risks.of(preview).map(({ kind }) => kind);
    const doubts = state.kind === 'pending' && state.recommendation?.action === 'discard';
    const [gravest] = [...kinds, ...(doubts ? (['deletes'] as const) : [])]
      .map(kind => riskKinds.indexOf(kind))
      .sort((one, other) => one - other);
    return gravest;
  }

  #filterPicks(): FilterPick[] {
    const { store, looks } = this.#ctx;
    const { l10n } = vscode;
    const open = [...store.open];
    const { agents, folders, states } = filterChoices(open);
    const { Separator } = vscode.QuickPickItemKind;
    const heading = (label: string): FilterPick => ({ label, kind: Separator });
    const picks: FilterPick[] = [heading(l10n.t('State'))];
    picks.push({
      label: notLookedAtText(),
      description: String(open.filter(preview => !looks.hasAll(preview)).length),
      picked: this.#filter.notLookedAt,
      adds: { notLookedAt: true },
    });
    for (const [state, count] of states)
      picks.push({
        label: filterStateText(state),
        description: String(count),
        picked: this.#filter.states.includes(state),
        adds: { states: [state] },
      });
    if (agents.size > 1) picks.push(heading(l10n.t('Agent')));
    if (agents.size > 1)
      for (const [agent, count] of agents)
        picks.push({
          label: agentText(agent),
          description: String(count),
          picked: this.#filter.agents.includes(agent),
          adds: { agents: [agent] },
        });
    if (folders.size > 0) picks.push(heading(l10n.t('Folder')));
    for (const [folder, count] of folders)
      picks.push({
        label: folderText(folder),
        description: String(count),
        picked: this.#filter.folders.includes(folder),
        adds: { folders: [folder] },
      });
    return picks;
  }
}

/** The chosen entries. Whoever types and presses Enter means the entry that they see marked, which VS Code alone would not choose. */
function pickFilters(items: readonly FilterPick[]): Promise<readonly FilterPick[] | undefined> {
  const pick = vscode.window.createQuickPick<FilterPick>();
  pick.title = vscode.l10n.t('Filter Pending Previews');
  pick.placeholder = vscode.l10n.t('Show only what matches. Nothing chosen shows all.');
  pick.canSelectMany = true;
  pick.matchOnDescription = true;
  pick.items = items;
  pick.selectedItems = items.filter(({ picked }) => picked);
  const before = new Set(pick.selectedItems);
  return new Promise(resolve => {
    pick.onDidAccept(() => {
      const { selectedItems, activeItems, value } = pick;
      const isSame = selectedItems.length === before.size && selectedItems.every(item => before.has(item));
      resolve(value !== '' && isSame ? [...new Set([...selectedItems, ...activeItems])] : selectedItems);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

function sortText(key: SortKey): { readonly label: string; readonly description: string } {
  const { l10n } = vscode;
  switch (key) {
    case 'reading':
      return {
        label: l10n.t('Reading Order'),
        description: l10n.t('what is imported first, then tests, moves and deletions'),
      };
    case 'risk':
      return {
        label: l10n.t('Risk'),
        description: l10n.t('secrets, deletions, weaker tests, exports, configuration'),
      };
    case 'proposed':
      return { label: l10n.t('Order Proposed'), description: l10n.t('as the setting “Order” says') };
    case 'path':
      return { label: l10n.t('File Path'), description: l10n.t('of the first file of each preview') };
    case 'size':
      return { label: l10n.t('Size'), description: l10n.t('most changed lines first') };
  }
}

/** What the filter lets through, in one line. */
function filterText({ agents, folders, states, notLookedAt }: PendingFilter): string {
  const anyOf = (texts: readonly string[]): string => texts.join(' | ');
  return [
    ...(notLookedAt ? [notLookedAtText()] : []),
    anyOf(states.map(filterStateText)),
    anyOf(agents.map(agentText)),
    anyOf(folders.map(folderText)),
  ]
    .filter(text => text !== '')
    .join(', ');
}

function notLookedAtText(): string {
  return vscode.l10n.t('not yet viewed');
}

function filterStateText(state: FilterState): string {
  switch (state) {
    case 'stale':
      return vscode.l10n.t('stale');
    case 'conflicts':
      return vscode.l10n.t('with conflicts');
    case 'failed':
      return vscode.l10n.t('last attempt failed');
    case 'recommended':
      return vscode.l10n.t('with a recommendation');
  }
}

function agentText(agent: string): string {
  return oneLine(agent) || 'Redline';
}

function folderText(folder: string): string {
  return `${escapeInvisible(folder)}/`;
}
