import { ToolError } from '../../base/errors.ts';
import { patchText } from '../../text/hunks.ts';
import { hunksOfChange, type FileChange } from '../fileChange.ts';
import type { AgentToolResult } from '../pendingAction.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { Invoker, ResolveRequest } from './invoker.ts';
import { outdatedVoteText, unknownPreviewText } from './resolveTexts.ts';
import { splitPreview, type PreviewPart } from './splitPreview.ts';

/** The longest patch of a part that the model is told, in lines. */
const MAX_PATCH_LINES = 60;

/**
 * Resolves one file or one hunk of a preview. It is split off into a preview of its own, which the invoker resolves, so that
 * execution, ledger, undo and the model's messages need no rules for parts. If the part is the whole preview, that is
 * resolved as it is.
 * @param request names the preview and the revision that was seen.
 * @throws ToolError if the preview is unknown, has another revision, or has no such part; and whatever the invoker throws.
 */
export async function resolvePart(
  { store, invoker }: { readonly store: PreviewStore; readonly invoker: Invoker },
  request: ResolveRequest & { readonly revision: number },
  part: PreviewPart,
): Promise<AgentToolResult> {
  const seen = store.get(request.id);
  if (!seen) throw new ToolError(unknownPreviewText(request.id));
  if (seen.revision !== request.revision) throw new ToolError(outdatedVoteText(seen, request.revision));
  if (seen.state.kind !== 'pending') return invoker.resolve(request);
  const split = await splitPreview(seen, part, request.action);
  if (!split) return invoker.resolve(request);
  const { patch, hunks } = await describe(split.part);
  const now = store.get(request.id);
  if (now !== seen) {
    if (now && now.revision !== seen.revision) throw new ToolError(outdatedVoteText(now, request.revision));
    if (now?.state.kind !== 'pending') return invoker.resolve(request);
  }
  const { id } = store.split(
    seen.id,
    { changes: split.rest, buildsOnPart: split.restBuildsOnPart },
    {
      label: partLabel(seen.label, part),
      sourceToolName: seen.sourceToolName,
      kind: 'files',
      ...(seen.humanOnly ? { humanOnly: true } : {}),
      changes: split.part,
      dependsOn: seen.dependsOn,
      // The user decides on it separately: the model is only told the outcome.
      origin: seen.origin && { ...seen.origin, asksModel: false },
      part: { previewId: seen.id, hunks, patch },
      stagedAt: new Date().toISOString(),
    },
  );
  return invoker.resolve({ ...request, id, revision: 1 });
}

function partLabel(label: string, { path, hunk }: PreviewPart): string {
  return hunk === undefined ? `${label}: ${path}` : `${label}: ${path}, hunk ${hunk + 1}`;
}

async function describe(changes: readonly FileChange[]): Promise<{ patch: string; hunks: number }> {
  let hunks = 0;
  const patches: string[] = [];
  for (const change of changes) {
    const own = await hunksOfChange(change);
    hunks += Math.max(1, own.length);
    patches.push(patchText(change.path, own, MAX_PATCH_LINES));
  }
  return { patch: patches.join('\n'), hunks };
}
