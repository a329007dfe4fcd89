import { ToolError } from '../base/errors.ts';
import { jsonSafe } from '../base/json.ts';
import type { Invoker } from './invoker.ts';
import type { Overlay } from './overlay.ts';
import type { PendingAction } from './pendingAction.ts';
import type { Preview, PreviewOrigin } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';

/** What a session lends to those who stage previews in it. */
export interface ResolveHost {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  /** What of the pending previews new changes are made on. */
  readonly overlay: Overlay;
  /** Makes the model look at the preview: directive and reminder, as the settings have it. */
  remind(preview: Preview): void;
}

/** A preview that was just registered; `stored` settles when it is safe on disk. */
export interface QueuedPreview {
  readonly preview: Preview;
  readonly stored: Promise<void>;
}

/**
 * The one entry point for everybody who produces previews: registers the preview with its callbacks and has the
 * session force and remind the model. Nothing is changed by it.
 * @throws ToolError for an action that changes nothing; TypeError for one that is none.
 */
export function queueResolveHandler(
  host: ResolveHost,
  action: PendingAction,
  origin: PreviewOrigin | null,
): QueuedPreview {
  if (!action.changes && !action.apply) throw new TypeError('A pending action needs `changes` or `apply`.');
  if (action.changes?.length === 0)
    throw new ToolError(`Nothing to change: ${action.label}. Nothing was staged.`);
  const queued = host.store.stage({
    label: action.label,
    sourceToolName: action.sourceToolName,
    changes: action.changes ?? null,
    dependsOn: action.changes ? host.overlay.dependenciesOf(action.changes) : [],
    ...(action.details === undefined ? {} : { details: jsonSafe(action.details) }),
    ...(action.undoes ? { undoes: action.undoes } : {}),
    origin,
    stagedAt: new Date().toISOString(),
  });
  host.invoker.attach(queued.preview.id, {
    ...(action.apply ? { apply: action.apply } : {}),
    ...(action.reject ? { reject: action.reject } : {}),
  });
  host.remind(queued.preview);
  return queued;
}
