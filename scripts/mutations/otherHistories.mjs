/**
 * Faults that other histories than those of the runtime must find: those of checks and of the sandbox. See `mutations.mjs`.
 *
 * @type {typeof import('./mutations.mjs').mutations}
 */
export const otherHistories = [
  {
    rule: 'checks: a proof is about the files at the moment of the vote',
    file: 'checks/checks.ts',
    from: 'return current.every(Boolean) ?',
    to: 'return current.length > 0 ?',
    histories: 'checkHistories',
  },
  {
    rule: 'checks: what changed while a check ran, it has not seen',
    file: 'checks/checkRunner.ts',
    from: 'saw = before && after && isSame(before, after) ? after : undefined;',
    to: 'saw = after;',
    histories: 'checkHistories',
  },
  {
    rule: 'checks: a result is about the contents that it saw',
    file: 'checks/checkedFiles.ts',
    from: '!== hash) return false;',
    to: '!== hash) continue;',
    histories: 'checkHistories',
  },
  {
    rule: 'checks: only what passed lands',
    file: 'checks/checks.ts',
    from: "if (results.some(({ outcome }) => outcome !== 'passed')) return unproved('failed');",
    to: '',
    histories: 'checkHistories',
  },
  {
    histories: 'sandboxHistories',
    rule: 'sandbox: what a command leaves is one preview',
    file: 'tools/command/runInSandbox.ts',
    from: '[...stage(changes, false), ...stage(conflicts, true)]',
    to: '[...changes.flatMap(one => stage([one], false)), ...stage(conflicts, true)]',
  },
  {
    histories: 'sandboxHistories',
    rule: 'sandbox: nothing of what a command leaves is lost',
    file: 'tools/command/runInSandbox.ts',
    from: '[...stage(changes, false), ...stage(conflicts, true)]',
    to: '[...stage(changes, false)]',
  },
  {
    histories: 'sandboxHistories',
    rule: 'sandbox: what a command leaves is brought onto what there is now',
    file: 'elsewhere/foreignChange.ts',
    from: "rebaseChange({ kind: 'modify', path, before, after, ...bits }, current)",
    to: "rebaseChange({ kind: 'modify', path, before, after, ...bits }, before)",
  },
  {
    histories: 'sandboxHistories',
    rule: 'sandbox: what a command leaves builds on the previews that it touched',
    file: 'preview/overlay.ts',
    from: '(side?.hash ?? null) === (before?.hash ?? null)',
    to: "(side?.hash ?? null) === '0'",
  },
  {
    histories: 'sandboxHistories',
    rule: 'sandbox: nothing lands but by an apply',
    file: 'tools/command/runInSandbox.ts',
    from: 'const label = commandLabel(plan.command, 80);',
    to: "const label = commandLabel(plan.command, 80); for (const one of changes) if (one.kind === 'modify') await workspace.write(one.path, Buffer.from(one.after.text), one.before.hash, one.after.encoding).catch(() => undefined);",
  },
];
