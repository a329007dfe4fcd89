import type { FileChange } from '../../agent/preview/fileChange.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { documentPath, type FileUris, type PreviewAddress } from './previewUri.ts';

/** A file's change, and the preview that it belongs to. */
export interface ShownChange {
  readonly preview: Preview;
  readonly change: FileChange;
}

/**
 * What a preview document shows. A file that was split off its preview stays readable under its old address, as the part
 * that it went into: a multi-file diff keeps showing it, and says what became of it.
 */
export function shownChange(
  store: Pick<PreviewStore, 'get' | 'all'>,
  files: FileUris,
  { previewId, path }: PreviewAddress,
): ShownChange | undefined {
  const own = store.get(previewId);
  const shown = own && changeAt(own, path, files);
  if (shown || !own?.changes) return shown;
  const parts = store.all().filter(({ part }) => part?.previewId === previewId);
  for (const part of parts.reverse()) {
    const split = changeAt(part, path, files);
    if (split) return split;
  }
  return undefined;
}

/** Whether a preview still changes the file itself. */
export function changesFile(preview: Preview, path: string, files: FileUris): boolean {
  return changeAt(preview, path, files) !== undefined;
}

function changeAt(preview: Preview, path: string, files: FileUris): ShownChange | undefined {
  // Making an address is slow, and there may be thousands: only where the end of the path agrees.
  const change = preview.changes?.find(
    candidate => path.endsWith(belowFirst(candidate.path)) && documentPath(candidate.path, files) === path,
  );
  return change && { preview, change };
}

/** A workspace path without its first name, which is that of the workspace folder where several are open. */
function belowFirst(path: string): string {
  return path.slice(path.indexOf('/') + 1);
}
