import * as z from 'zod/mini';
import { safeName } from '../../base/safeName.ts';
import { ToolError } from '../../base/errors.ts';
import { plural } from '../../base/phrases.ts';
import { isBinary, isLink, textOf, type FileChange } from '../../hold/preview/fileChange.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { nameOf } from '../../hold/preview/preview.ts';
import { defineTool, type OpenPreview } from './tool.ts';

/** The most previews that are listed, the latest. */
const MAX_LISTED = 100;
/** The most files of a preview that the list names. */
const MAX_PATHS = 5;
/** The most files whose diffs are shown. */
const MAX_DIFFS = 10;

/** Lists the pending previews of the conversation, or shows one preview as it is now. */
export const pendingTool = defineTool({
  name: 'pending',
  label: 'Pending',
  description:
    'List the pending previews: revision, files, and on whom each waits. With id, show its diff as it is now.',
  parameters: z.object({ id: z.optional(z.string()) }),
  readOnly: true,
  async execute({ id }, { own }) {
    const open = (await (await own?.())?.open()) ?? [];
    const named = open.find(({ preview }) => preview.id === id);
    if (named) return textResult(await shown(named));
    if (id !== undefined)
      throw new ToolError(
        `${id} is not pending in this conversation. Call pending without id to see what is.`,
      );
    if (open.length === 0) return textResult('Nothing is pending.');
    const left = open.length - MAX_LISTED;
    const more = left > 0 ? [`[${plural(left, 'older one')} not shown]`] : [];
    return textResult([...more, ...open.slice(-MAX_LISTED).map(lineOf)].join('\n'));
  },
});

function lineOf({ preview, waits }: OpenPreview): string {
  const changes = preview.changes ?? [];
  const files = changes.slice(0, MAX_PATHS).map(({ kind, path }) => `${kind} ${safeName(path)}`);
  const more = changes.length > MAX_PATHS ? [`${changes.length - MAX_PATHS} more`] : [];
  const on = preview.dependsOn.length > 0 ? [`builds on ${preview.dependsOn.join(', ')}`] : [];
  const about = [...files, ...more, ...on];
  return `${nameOf(preview)}, revision ${preview.revision}: ${waits}${about.length > 0 ? ` [${about.join('; ')}]` : ''}`;
}

async function shown(open: OpenPreview): Promise<string> {
  return [lineOf(open), ...(await diffsOf(open.preview.changes ?? []))].join('\n');
}

/** The diffs of the first files, as the model is shown them. */
export async function diffsOf(changes: readonly FileChange[]): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const change of changes.slice(0, MAX_DIFFS)) texts.push(await diffOf(change));
  const left = changes.length - MAX_DIFFS;
  return [...texts, ...(left > 0 ? [`[${plural(left, 'more file')} not shown]`] : [])];
}

async function diffOf({ kind, path, before, after }: FileChange): Promise<string> {
  if ([before, after].some(side => side !== null && (isLink(side) || isBinary(side))))
    return `${safeName(path)} (${kind}): a symbolic link or binary file, before or after, which has no diff.`;
  const { rewriteSummary } = await import('./files/rewriteSummary.ts');
  return rewriteSummary(safeName(path), textOf(before), textOf(after));
}
