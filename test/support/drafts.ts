import type { StagedPreview } from '../../src/agent/preview/previewLog.ts';
import { modify } from './changes.ts';

/** A preview to stage in a store: by default the edit of `a.txt` from `a` to `A`. */
export function draft(over: Partial<StagedPreview> = {}): Omit<StagedPreview, 'id'> {
  return {
    label: 'Edit a.txt',
    sourceToolName: 'test',
    changes: [modify('a.txt', 'a', 'A')],
    dependsOn: [],
    origin: null,
    stagedAt: '2026-01-01T00:00:00.000Z',
    ...over,
  };
}
