/** Faults of checks whose result is a proof; each is found by a file of tests that `npm test` runs. */
export const proofFaults = [
  {
    rule: 'proofs: time in a view only goes forward',
    file: 'sandbox/view/pastFiles.ts',
    from: 'returned?.stamp === stamp ? returned.time : new Date();',
    to: 'stat.mtime;',
    test: 'sandbox/checks/freshProof.test.ts',
  },
  {
    rule: 'proofs: no output of another state is there',
    file: 'sandbox/checks/checkRunner.ts',
    from: 'await sandbox.reset();',
    to: '',
    test: 'sandbox/checks/freshProof.test.ts',
  },
  {
    rule: 'proofs: a check that changes what it checks is none',
    file: 'sandbox/checks/checkRunner.ts',
    from: 'exitCode === 0 && end.changed.length > 0',
    to: 'exitCode === 0 && end.changed.length > 99',
    test: 'sandbox/checks/proof.test.ts',
  },
  {
    rule: 'proofs: a preview of an ignored file is forgotten with it',
    file: 'sandbox/view/layers.ts',
    from: 'paths.filter(each => !contents.get(layer)?.has(each)),',
    to: 'paths,',
    and: [{ from: 'await tree.clear(relative);', to: '' }],
    test: 'sandbox/checks/freshProof.test.ts',
  },
  {
    rule: 'proofs: all names of a file hold what is pending for one',
    file: 'sandbox/view/hardLinks.ts',
    from: 'stat.nlink < 2',
    to: 'stat.nlink < 99',
    test: 'sandbox/checks/freshProof.test.ts',
  },
  {
    rule: 'proofs: as before only if all that passed still passes',
    file: 'sandbox/checks/report/testReport.ts',
    from: "if (outcome === 'passed' && same.outcome !== 'passed') return false;",
    to: '',
    and: [
      {
        from: "if (same?.outcome !== 'failed' || same.count < count) return false;",
        to: 'if (!same || same.outcome === "passed") continue;',
      },
    ],
    test: 'sandbox/checks/report.test.ts',
  },
  {
    rule: 'proofs: as before only if all that ran still runs',
    file: 'sandbox/checks/report/testReport.ts',
    from: "if (!same || same.count < count || same.outcome === 'skipped') return false;",
    to: 'if (!same) continue;',
    test: 'sandbox/checks/report.test.ts',
  },
  {
    rule: 'proofs: what fails from scratch does not count as passed',
    file: 'sandbox/checks/checks.ts',
    from: 'if (hasEnded(copy) && !isGreen(copy) && !isSameEnd(result, copy)) this.#keep(copy);',
    to: '',
    test: 'sandbox/checks/fromScratch.test.ts',
  },
];
