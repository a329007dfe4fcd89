import { plural } from '../../text/plural.ts';
import type { FileChange } from '../fileChange.ts';

type Changes = readonly FileChange[];

/**
 * The label of a preview whose changes have become others, e.g. because some were split off: `AST Edit: 12 replacements in 3
 * files` becomes `AST Edit: 11 replacements in 2 files`. Only counts that were right before are replaced.
 */
export function recounted(label: string, before: Changes, after: Changes): string {
  return label.replace(/\b(\d+) (file|change|edit|replacement)s?\b/g, (text, count: string, noun: string) => {
    const isOfFiles = noun === 'file' || noun === 'change';
    const [was, is] = [before, after].map(changes => (isOfFiles ? changes.length : editCount(changes)));
    return is !== undefined && Number(count) === was ? plural(is, noun) : text;
  });
}

/** How many edits the changes consist of; `undefined` if that is not known of all. */
function editCount(changes: Changes): number | undefined {
  let count = 0;
  for (const change of changes) {
    if (change.kind !== 'modify' || !change.edits) return undefined;
    count += change.edits.length;
  }
  return count;
}
