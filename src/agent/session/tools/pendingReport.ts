import { safeName } from '../../base/safeName.ts';
import { ToolError } from '../../base/errors.ts';
import { listed, plural } from '../../base/phrases.ts';
import { renewText } from '../../hold/preview/errors.ts';
import { nameOf, type Preview } from '../../hold/preview/preview.ts';
import { MAX_LOOK_CHARS, shownDiff, type ShownDiff } from '../../hold/preview/shownDiffs.ts';
import type { OpenPreview } from './tool.ts';

/** The most previews that are listed, the latest. */
const MAX_LISTED = 100;
/** The most files of a preview that the list names. */
const MAX_PATHS = 5;

/**
 * The open preview with this id as it is now, and its diff from a place in it on.
 * @throws ToolError for an id that none of them has
 */
export async function pendingLook(
  open: readonly OpenPreview[],
  id: string,
  from: number,
): Promise<ShownDiff & { readonly preview: Preview }> {
  const named = open.find(({ preview }) => preview.id === id);
  if (!named)
    throw new ToolError(
      `${id} is not pending in this conversation. Call pending without id to list those that are.`,
    );
  const { text, end } = await shownDiff(named.preview, from, MAX_LOOK_CHARS);
  return {
    preview: named.preview,
    text: [lineOf(named, open), ...renewing([named]), text].join('\n'),
    end,
  };
}

/** The list of the open previews, and those in it. */
export function pendingList(open: readonly OpenPreview[]): {
  readonly text: string;
  readonly listed: readonly Preview[];
} {
  if (open.length === 0) return { text: 'Nothing of this conversation is pending.', listed: [] };
  const left = open.length - MAX_LISTED;
  const more = left > 0 ? [`[${plural(left, 'older one')} not shown]`] : [];
  const shown = open.slice(-MAX_LISTED);
  const previews = shown.map(({ preview }) => preview);
  return {
    text: [...more, ...shown.map(each => lineOf(each, open)), ...renewing(shown)].join('\n'),
    listed: previews,
  };
}

/** What to do about the stale ones among these. */
function renewing(shown: readonly OpenPreview[]): readonly string[] {
  const toRead = shown.flatMap(each => (each.toRead ? [each.toRead] : []));
  const [only, ...others] = toRead;
  if (!only) return [];
  if (others.length === 0) return [renewText(only)];
  const paths = [...new Set(toRead.flat())];
  const reading = paths.length > 0 ? `read ${listed(paths)} again and ` : '';
  return [`Discard the stale ones if you may. If their changes are still needed, ${reading}stage them anew.`];
}

function lineOf({ preview, waits }: OpenPreview, open: readonly OpenPreview[]): string {
  const changes = preview.changes ?? [];
  const files = changes
    .slice(0, MAX_PATHS)
    .map(
      each =>
        `${each.kind} ${each.kind === 'rename' ? `${safeName(each.from)} to ` : ''}${safeName(each.path)}`,
    );
  const more = changes.length > MAX_PATHS ? [`${changes.length - MAX_PATHS} more`] : [];
  const beneath = preview.dependsOn.filter(id => open.some(each => each.preview.id === id));
  const on = beneath.length > 0 ? [`builds on ${beneath.join(', ')}`] : [];
  const about = [...files, ...more, ...on];
  return `${nameOf(preview)}, revision ${preview.revision}: ${waits}${about.length > 0 ? ` [${about.join('; ')}]` : ''}`;
}
