import type { ProposedChange } from '../../agent/hold/preview/pendingFiles.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { documentPath, type FileUris, type PreviewAddress } from '../workspace/previewUri.ts';

/**
 * The change that a preview document shows. A file that was split off stays readable at its old URI, as the change of
 * its part: a multi-file diff keeps showing it, with its outcome.
 */
export function shownChange(
  store: PreviewStore,
  files: FileUris,
  { previewId, path }: PreviewAddress,
): ProposedChange | undefined {
  const own = store.get(previewId);
  const shown = own && changeAt(own, path, files);
  if (shown || own?.kind !== 'files') return shown;
  const parts = store.all().filter(({ part }) => part?.previewId === previewId);
  for (const part of parts.reverse()) {
    const split = changeAt(part, path, files);
    if (split) return split;
  }
  return undefined;
}

/** Whether a preview still changes the file; `false` if the file was split off. */
export function changesFile(preview: Preview, path: string, files: FileUris): boolean {
  return changeAt(preview, path, files) !== undefined;
}

function changeAt(preview: Preview, path: string, files: FileUris): ProposedChange | undefined {
  // Resolving a path is slow and there may be thousands of changes, so the ends of the paths are compared first.
  const change = preview.changes?.find(
    candidate =>
      path.endsWith(withoutFirstSegment(candidate.path)) && documentPath(candidate.path, files) === path,
  );
  return change && { preview, change };
}

/** A workspace path without its first segment, which is the folder's name if several folders are open. */
function withoutFirstSegment(path: string): string {
  return path.slice(path.indexOf('/') + 1);
}
