import { ToolError } from '../base/errors.ts';
import type { FileChange } from './fileChange.ts';
import { hunksOfChange, patchText } from './hunks.ts';
import type { Invoker, ResolveRequest } from './invoker.ts';
import type { AgentToolResult } from './pendingAction.ts';
import type { PreviewStore } from './previewStore.ts';
import { revisedText, unknownPreviewText } from './resolveTexts.ts';
import { splitPreview, type PreviewPart } from './splitPreview.ts';

/** The most lines of a part that the model is told. */
const MAX_PATCH_LINES = 60;

/**
 * Resolves one file or one hunk of a preview: splits it off into a preview of its own and hands that to the invoker, so that
 * once-only, ledger, undo and what the model hears need no second rule. A part that is all there is resolves the preview
 * itself.
 * @param request names the preview, and the revision that was seen.
 * @throws ToolError when the preview is not pending, is at another revision, or has no such part; else as the invoker.
 */
export async function resolvePart(
  { store, invoker }: { readonly store: PreviewStore; readonly invoker: Invoker },
  request: ResolveRequest & { readonly revision: number },
  part: PreviewPart,
): Promise<AgentToolResult> {
  const seen = store.get(request.id);
  if (!seen) throw new ToolError(unknownPreviewText(request.id));
  if (seen.revision !== request.revision) throw new ToolError(revisedText(seen, request.revision));
  if (seen.state.kind !== 'pending') return invoker.resolve(request);
  const split = await splitPreview(seen, part, request.action);
  if (!split) return invoker.resolve(request);
  const { patch, hunks } = await describe(split.part);
  const now = store.get(request.id);
  if (now !== seen) {
    if (now && now.revision !== seen.revision) throw new ToolError(revisedText(now, request.revision));
    if (now?.state.kind !== 'pending') return invoker.resolve(request);
  }
  const { id } = store.split(
    seen.id,
    { changes: split.rest, buildsOnPart: split.restBuildsOnPart },
    {
      label: partLabel(seen.label, part),
      sourceToolName: seen.sourceToolName,
      changes: split.part,
      dependsOn: seen.dependsOn,
      origin: seen.origin,
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
