import { withLineFeeds } from '../../../text/lines.ts';
import { mergeTexts } from '../../../text/threeWayMerge.ts';
import { isText, type FileStep } from '../../fileChange.ts';

/** The texts of a change, in which every line ends with a line feed. */
export interface LandedText {
  readonly before: string;
  readonly after: string;
}

/** Whether a text has a change: `absent` if it lacks at least a part of it; `completed` is the text with all of it. */
export type Standing =
  | { readonly kind: 'held' }
  | { readonly kind: 'overlaps' }
  | { readonly kind: 'absent'; readonly completed: string };

/** The texts of a step; `undefined` if an editor cannot hold both sides, or shows them alike: then only bytes can be compared. */
export function landedText({ before, after }: FileStep): LandedText | undefined {
  if (!before || !after || !isText(before) || !isText(after)) return undefined;
  const texts = { before: withLineFeeds(before.text), after: withLineFeeds(after.text) };
  return texts.before === texts.after ? undefined : texts;
}

/** Finds a change in a text that may have others. Where both changed the same lines, or lines side by side, they overlap. */
export async function standingOf({ before, after }: LandedText, text: string): Promise<Standing> {
  if (text === after) return { kind: 'held' };
  const merged = await mergeTexts(before, text, after, { current: '', proposed: '' });
  if (merged.conflicts > 0) return { kind: 'overlaps' };
  return merged.text === text ? { kind: 'held' } : { kind: 'absent', completed: merged.text };
}
