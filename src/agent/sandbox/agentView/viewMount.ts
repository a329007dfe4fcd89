import { isInside, realPathSync } from '../../base/system/realPath.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import type { NoOverlay } from '../view/probe.ts';
import { whyNoOverlay } from '../view/sandboxes.ts';

/** How a view can be made: an overlay at the workspace's own path, or a copy elsewhere; or why there is none. */
export type ViewMount =
  { readonly mount: 'overlay' | 'copy' } | { readonly mount: undefined; readonly why: NoOverlay };

/**
 * @param storage of the views; it exists
 * @param engine which mounts the user allows; `off` concerns commands only
 */
export async function viewMount(
  folders: readonly FolderRoot[],
  storage: string,
  engine: 'auto' | 'overlay' | 'copy' | 'off',
): Promise<ViewMount> {
  if (folders.length === 0) return { mount: undefined, why: { reason: 'noFolder' } };
  const why = engine === 'copy' ? undefined : await whyNoOverlay(folders, storage);
  if (engine !== 'copy' && !why) return { mount: 'overlay' };
  // A copy would hold itself.
  const state = realPathSync(storage);
  if (folders.some(({ fsPath }) => isInside(state, realPathSync(fsPath))))
    return { mount: undefined, why: why ?? { reason: 'copy' } };
  return engine === 'overlay' && why ? { mount: undefined, why } : { mount: 'copy' };
}
