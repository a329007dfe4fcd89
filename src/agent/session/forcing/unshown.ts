import { fenced } from '../../base/phrases.ts';
import { hunksOfChange, type FileChange } from '../../hold/preview/fileChange.ts';
import { nameOf, type Preview } from '../../hold/preview/preview.ts';
import { diffsOf, MAX_LOOK_CHARS } from '../../hold/preview/shownDiffs.ts';

/**
 * Answers an apply of lines that the model was not shown, and shows them; `undefined` if it was shown all of them.
 * @param shown the preview as the model was last shown it; `undefined` if it was shown only a part.
 * @param isTold whether the model knows of this revision; of another one, it must have been shown neither less nor more.
 */
export async function unshownText(
  preview: Preview,
  shown: Preview | undefined,
  isTold: boolean,
): Promise<string | undefined> {
  const { revision } = preview;
  const changes = preview.changes ?? [];
  const known = shown && (await linesOf(shown.changes ?? []));
  const now = await linesOf(changes);
  if (known && (isTold || known.size === now.size) && [...now].every(lines => known.has(lines)))
    return undefined;
  const { text, isWhole } = await diffsOf(changes, MAX_LOOK_CHARS);
  const rest = isWhole ? '' : ' It is cut off: call read_file to see more of the files.';
  return `Nothing was changed, since you have not been shown all of ${nameOf(preview)} at revision ${revision}. Its diff follows; vote on it in your next message.${rest}\n${fenced(text)}`;
}

/** What the changes do to each run of lines, or to a whole file, but not at which lines: a rebase moves these. */
async function linesOf(changes: readonly FileChange[]): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const change of changes) {
    const { kind, path, before, after } = change;
    const hunks = await hunksOfChange(change);
    if (hunks.length === 0) lines.add(JSON.stringify([kind, path, before?.hash, after?.hash]));
    for (const hunk of hunks) lines.add(JSON.stringify([kind, path, hunk.before, hunk.after]));
  }
  return lines;
}
