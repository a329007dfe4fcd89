import { isDeepStrictEqual } from 'node:util';
import { jsonSafe } from '../../base/json.ts';
import type { TextEdit } from '../../text/textEdit.ts';
import { holds, isPresent, startsBridge, valueAt, type ConfigEntry, type ConfigValue } from './entries.ts';

/** An entry that Redline added to a configuration file. */
export interface AddedEntry {
  readonly entry: ConfigEntry;
  /** What it replaced; absent if there was nothing. */
  readonly was?: unknown;
  /** How many of the keys of its path were there before. */
  readonly existing: number;
}

/** What Redline added to one file of an agent's configuration. JSON. */
export interface FileRecord {
  /** There was no such file. */
  readonly created?: true;
  readonly added: readonly AddedEntry[];
  /** The edits that give back the file as it was, for a file that still has the text with this hash. */
  readonly undo?: { readonly hash: string; readonly edits: readonly TextEdit[] };
}

/** The entries that a change brought, and those of before that it left. */
export function addedSince(
  old: readonly AddedEntry[],
  before: ConfigValue,
  after: ConfigValue,
  entries: readonly ConfigEntry[],
): readonly AddedEntry[] {
  return entries.flatMap(entry => {
    if (!isPresent(after, entry)) return [];
    const known = old.find(each => isSamePlace(each.entry, entry));
    if (known) return [known];
    const was = valueAt(before, entry.path);
    if (entry.kind !== 'value') return holds(before, entry) ? [] : [addedEntry(entry, before)];
    if (isDeepStrictEqual(was, valueAt(after, entry.path))) return [];
    const isOther = was !== undefined && !(entry.contradictedBy && startsBridge(was));
    return [{ ...addedEntry(entry, before), ...(isOther ? { was: jsonSafe(was) } : {}) }];
  });
}

function addedEntry(entry: ConfigEntry, before: ConfigValue): AddedEntry {
  const existing = entry.path.findIndex(
    (_, at) => valueAt(before, entry.path.slice(0, at + 1)) === undefined,
  );
  return { entry, existing: existing === -1 ? entry.path.length : existing };
}

function isSamePlace(a: ConfigEntry, b: ConfigEntry): boolean {
  const member = (entry: ConfigEntry): string => (entry.kind === 'value' ? '' : entry.member);
  return a.kind === b.kind && isDeepStrictEqual(a.path, b.path) && member(a) === member(b);
}
