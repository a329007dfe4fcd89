import type { PreviewContent } from '../../src/agent/hold/preview/preview.ts';
import type { PreviewDraft } from '../../src/agent/hold/preview/log/previewLog.ts';
import type { StagedPreview } from '../../src/agent/hold/preview/previewSchema.ts';
import { modify } from './changes.ts';

/** A preview to stage in a store: by default the edit of `a.txt` from `a` to `A`. Without changes it is an action. */
export function draft({
  changes = [modify('a.txt', 'a', 'A')],
  ...over
}: Partial<Omit<StagedPreview, 'kind'>> = {}): PreviewDraft {
  const content: PreviewContent = changes ? { kind: 'files', changes } : { kind: 'action', changes };
  return {
    ...content,
    label: 'Edit a.txt',
    sourceToolName: 'test',
    dependsOn: [],
    origin: null,
    stagedAt: '2026-01-01T00:00:00.000Z',
    ...over,
  };
}
