import * as vscode from 'vscode';
import { shortened } from '../../../agent/base/cutText.ts';
import { adviceOfSet, type SetAdvice } from '../../../agent/hold/preview/changeSet.ts';
import { appliesAny, isOpen } from '../../../agent/hold/preview/preview.ts';
import { DiffStats } from '../diffStats.ts';
import { agentLabel, oneLine, plural } from '../../plainText.ts';
import { countedSet, hunkCount } from '../countedSet.ts';
import { openSelected } from './openSelected.ts';
import type { PendingParts } from './pendingParts.ts';
import { previewsOfSet } from './pendingNodes.ts';
import type { PendingNode } from './pendingNode.ts';

/** Counts of decided and open parts, as a row says them. */
interface Counts {
  readonly short: string;
  readonly long: string;
}

/** The most characters of a prompt in a row: the counts after it must be visible in a narrow side bar, too. */
const MAX_NAME = 24;

/** Makes the rows of change sets, with counts of decided and pending changes. */
export class SetItems implements vscode.Disposable {
  readonly #parts: PendingParts;
  readonly #stats: DiffStats;
  /** By set, the last text of its row: it stays during a recount, else each decision would make it blink. */
  readonly #last = new Map<string, Counts>();

  constructor(parts: PendingParts) {
    this.#parts = parts;
    this.#stats = new DiffStats(parts.logger, () => parts.review.refresh());
  }

  itemOf({ setId, title }: Extract<PendingNode, { kind: 'set' }>): vscode.TreeItem {
    const all = previewsOfSet(this.#parts.store, setId);
    const agent = all[0]?.origin?.agent;
    const name = oneLine(title ?? (agent ? agentLabel(agent) : setId));
    const counts = this.#countsOf(setId);
    const item = new vscode.TreeItem(shortened(name, MAX_NAME), vscode.TreeItemCollapsibleState.Expanded);
    const advice = adviceOfSet(all);
    item.description = counts.short;
    item.iconPath = new vscode.ThemeIcon('checklist');
    item.contextValue = appliesAny(all.filter(isOpen), id => this.#parts.edits.hasUnsaved(id))
      ? 'redline.set'
      : 'redline.blockedSet';
    item.tooltip = [name, counts.long, ...advice.map(adviceText)].join('\n');
    item.accessibilityInformation = { label: [name, counts.long, ...advice.map(adviceText)].join(', ') };
    item.command = openSelected();
    return item;
  }

  dispose(): void {
    this.#stats.dispose();
  }

  /**
   * `3 of 14 decided · 8 files · +31 −12`: how many of all hunks are decided, once any is; then the files and lines that are left,
   * with a `~` if some could not be counted exactly.
   */
  #countsOf(setId: string): Counts {
    const { decided, open, isTooLarge } = countedSet(this.#parts.store, setId);
    const paths = new Set(open.flatMap(({ changes }) => (changes ?? []).map(({ path }) => path)));
    const files = plural(vscode.l10n.t('1 file|{0} files'), paths.size);
    const uncounted = { short: files, long: files };
    if (isTooLarge) return uncounted;
    const sum = { added: 0, removed: 0, hunks: 0, decided: 0, mark: '' };
    for (const preview of [...decided, ...open]) {
      let isCounting = false;
      const hunks = hunkCount(preview, each => {
        const stats = this.#stats.of(each);
        isCounting = !stats;
        return stats;
      });
      if (hunks === undefined) return (isCounting && this.#last.get(setId)) || uncounted;
      sum.hunks += hunks;
      if (!isOpen(preview)) sum.decided += hunks;
      else
        for (const { added, removed, exact } of this.#stats.of(preview) ?? []) {
          [sum.added, sum.removed] = [sum.added + added, sum.removed + removed];
          if (!exact) sum.mark = '~';
        }
    }
    if (sum.hunks === 0) return uncounted;
    const lines = [
      ...(sum.added > 0 ? [`+${sum.mark}${sum.added}`] : []),
      ...(sum.removed > 0 ? [`−${sum.mark}${sum.removed}`] : []),
    ].join(' ');
    const told = vscode.l10n.t('{0} of {1} hunks decided', sum.decided, sum.hunks);
    const text = (...parts: string[]): string => parts.filter(part => part !== '').join(' · ');
    const counts = {
      short: text(
        sum.decided === 0 ? '' : vscode.l10n.t('{0} of {1} decided', sum.decided, sum.hunks),
        files,
        lines,
      ),
      long: text(files, lines, told),
    };
    this.#last.set(setId, counts);
    return counts;
  }
}

/** The model's advice on several previews together. */
function adviceText({ action, reason, count, of }: SetAdvice): string {
  const { l10n } = vscode;
  const why = oneLine(reason) || l10n.t('No reason provided');
  if (count === of)
    return action === 'apply' ? l10n.t('Recommends Apply: {0}', why) : l10n.t('Recommends Discard: {0}', why);
  return action === 'apply'
    ? l10n.t('Recommends Apply of {0}: {1}', count, why)
    : l10n.t('Recommends Discard of {0}: {1}', count, why);
}
