import fc from 'fast-check';

/** The settings of a person's editor that decide when it saves, and what it does if the file changed meanwhile. */
const settings = fc.record({
  'files.autoSave': fc.constantFrom('off', 'afterDelay', 'afterDelay', 'onFocusChange', 'onWindowChange'),
  'files.autoSaveDelay': fc.constantFrom(100, 1_000),
  'files.saveConflictResolution': fc.constantFrom('askUser', 'overwriteFileOnDisk'),
});

const typing = fc.record({
  /** Milliseconds between the first key and the vote; negative: the vote comes first. */
  lead: fc.oneof(fc.integer({ min: -40, max: 40 }), fc.integer({ min: -100, max: 600 })),
  /** Milliseconds between two keys. */
  gaps: fc.array(fc.integer({ min: 20, max: 200 }), { minLength: 2, maxLength: 9 }),
  at: fc.constantFrom('elsewhere', 'elsewhere', 'elsewhere', 'the change'),
  /** The key that is followed by an undo. */
  undoAfter: fc.option(fc.integer({ min: 0, max: 8 }), { freq: 3 }),
});

const subject = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constantFrom(
        'modify' as const,
        'modify' as const,
        'modify' as const,
        'rename' as const,
        'delete' as const,
      ),
      by: fc.constantFrom('click' as const, 'model' as const, 'applyAll' as const, 'agent' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('undo' as const), by: fc.constant('click' as const) }),
  },
);

/** Whether the change keeps the size of the file, by which VS Code judges whether it changed. */
const keepsSize = fc.boolean();

export const round = fc.record({ settings, typing, subject, keepsSize });

/** What a person does in an editor while something is applied to its file, and how the editor is set. */
export type Round = typeof round extends fc.Arbitrary<infer T> ? T : never;

/** The same rounds for the same seed. Those with the same settings follow each other, since changing them takes long. */
export function roundsOf(seed: number, count: number): readonly Round[] {
  const rounds = fc.sample(round, { seed, numRuns: count });
  return rounds.sort((a, b) => settingsOf(a).localeCompare(settingsOf(b)));
}

const settingsOf = ({ settings: set }: Round): string => JSON.stringify(set);

/** In a few words. */
export function nameOf({
  settings: set,
  typing: { lead, gaps, at, undoAfter },
  subject: { what, by },
  keepsSize: same,
}: Round): string {
  const auto =
    set['files.autoSave'] === 'afterDelay'
      ? `afterDelay ${set['files.autoSaveDelay']}`
      : set['files.autoSave'];
  const undone = undoAfter === null || undoAfter >= gaps.length ? '' : `, undo after ${undoAfter}`;
  return `${what} by ${by}, ${same ? 'same' : 'other'} size, ${auto}, ${set['files.saveConflictResolution']}, lead ${lead}, keys ${gaps.join('-')} ${at}${undone}`;
}
