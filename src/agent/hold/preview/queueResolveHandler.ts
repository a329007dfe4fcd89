import { safeName } from '../../base/safeName.ts';
import { ToolError } from '../../base/errors.ts';
import { jsonSafe } from '../../base/json.ts';
import type { Localiser } from '../../base/localiser.ts';
import { textOf, type FileChange } from './fileChange.ts';
import type { PreviewDraft } from './log/previewLog.ts';
import type { Overlay } from './overlay.ts';
import type { PendingAction } from './pendingAction.ts';
import type { PreviewContent, PreviewOrigin } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import type { QueuedPreview } from './previewStoreOptions.ts';
import type { Invoker } from './resolve/invoker.ts';

/** Dependencies of staging a preview. */
export interface ResolveHost {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  /** Tells which pending previews of the same conversation new changes build on. */
  readonly overlay: Overlay;
  /** Translates titles for the user. */
  readonly l10n: Localiser;
}

/**
 * The one entry point for all producers of previews: registers the preview with its callbacks. Others hear of it from the store,
 * such as the session that reminds the model and forces an answer. No file is changed.
 * @throws ToolError for an action that changes nothing, or whose texts contain NUL; TypeError for one without `changes` and
 *   `apply`.
 */
export function queueResolveHandler(
  host: ResolveHost,
  action: PendingAction,
  origin: PreviewOrigin | null,
): QueuedPreview {
  if (!action.changes && !action.apply) throw new TypeError('A pending action needs `changes` or `apply`.');
  if (action.changes?.length === 0)
    throw new ToolError(`Nothing to change: ${safeName(action.label)}. Nothing was staged.`);
  for (const change of action.changes ?? []) refuseBinary(change);
  const title = typeof action.title === 'function' ? action.title(host.l10n) : action.title;
  const draft: PreviewDraft = {
    label: action.label,
    ...(action.labelParts ? { labelParts: action.labelParts } : {}),
    ...(title === undefined ? {} : { title }),
    ...(action.modelTitle === undefined ? {} : { modelTitle: action.modelTitle }),
    sourceToolName: action.sourceToolName,
    ...contentOf(action),
    ...(action.purpose ? { purpose: action.purpose } : {}),
    ...(action.humanOnly ? { humanOnly: true } : {}),
    dependsOn: action.changes ? host.overlay.of(origin?.sessionId).dependenciesOf(action.changes) : [],
    ...(action.details === undefined ? {} : { details: jsonSafe(action.details) }),
    ...(action.undoes ? { undoes: action.undoes } : {}),
    ...(action.reopens === undefined ? {} : { reopens: action.reopens }),
    ...(action.changes ? { roots: action.roots ?? host.invoker.roots } : {}),
    origin,
    stagedAt: new Date().toISOString(),
  };
  const { apply, reject } = action;
  const callbacks = { ...(apply ? { apply } : {}), ...(reject ? { reject } : {}) };
  return host.store.stage(draft, id => host.invoker.attach(id, callbacks));
}

/** VS Code shows a text with NUL as binary: no one could see the text that Apply would write. */
function refuseBinary({ path, before, after }: FileChange): void {
  const what = textOf(after).includes('\0')
    ? 'The proposed text'
    : textOf(before).includes('\0')
      ? 'The text'
      : '';
  if (what === '') return;
  throw new ToolError(
    `${what} of ${safeName(path)} contains the character NUL (U+0000), which belongs to binary files and cannot be shown. ` +
      'Remove it. Nothing was staged.',
  );
}

function contentOf({ changes, kind }: PendingAction): PreviewContent {
  return changes ? { kind: 'files', changes } : { kind: kind ?? 'action', changes: null };
}
