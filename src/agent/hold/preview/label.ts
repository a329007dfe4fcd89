import { plural } from '../../base/phrases.ts';
import type { FileChange } from './fileChange.ts';

/** A label with counts that follow the changes of its preview: `AST Edit: `, 12 replacements, ` in `, 3 files. */
export type LabelParts = readonly (string | LabelCount)[];

interface LabelCount {
  readonly noun: 'file' | 'change' | 'edit' | 'replacement';
  readonly count: number;
}

/** The fields of a preview for such a label. */
export function counted(...labelParts: LabelParts): { label: string; labelParts: LabelParts } {
  const label = labelParts
    .map(part => (typeof part === 'string' ? part : plural(part.count, part.noun)))
    .join('');
  return { label, labelParts };
}

/** The same label for other changes. A count that they do not give stays as it was. */
export function recounted(labelParts: LabelParts, changes: readonly FileChange[]): LabelParts {
  return labelParts.map(part => {
    if (typeof part === 'string') return part;
    const isOfFiles = part.noun === 'file' || part.noun === 'change';
    return { ...part, count: (isOfFiles ? changes.length : editCount(changes)) ?? part.count };
  });
}

/** Number of edits in the changes, at least one for each; `undefined` if it is not known for all. */
function editCount(changes: readonly FileChange[]): number | undefined {
  let count = 0;
  for (const change of changes) {
    if (change.kind !== 'modify' || !change.edits) return undefined;
    // A part has no edits of its own if another part has those that they share.
    count += Math.max(1, change.edits.length);
  }
  return count;
}
