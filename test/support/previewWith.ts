import type { Preview } from '../../src/agent/hold/preview/preview.ts';

/** A pending preview with these fields. */
export function previewWith(fields: Partial<Preview>): Preview {
  return {
    id: 'p1',
    label: 'a',
    sourceToolName: 'edit_file',
    dependsOn: [],
    origin: null,
    revision: 1,
    stagedAt: '2026-01-01T00:00:00.000Z',
    kind: 'files',
    changes: [],
    state: { kind: 'pending', stale: [] },
    ...fields,
  } as Preview;
}
