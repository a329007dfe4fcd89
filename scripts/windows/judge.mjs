/** Compares the results of tests under Wine with Wine's known limits. */
/**
 * The limits of Wine, and the tests that meet them. A name may end with `*`; one of a file may be `*`, for all of its tests.
 * @typedef {{
 *   reasons: Record<string, string>,
 *   notRun: Record<string, string[]>,
 *   errors: Record<string, string>, by reason, the words of an error that this reason alone explains
 *   fail: Record<string, Record<string, string[]>>,
 * }} Listed
 */

/**
 * @param {readonly import('../stages/fileLanes.mjs').EndedTest[]} tests
 * @param {Listed} listed
 * @param {{ isPart: boolean }} options only some tests of each file were run
 * @returns {{ text: string, passed: number, failed: number }} failed are those that are not listed
 */
export function judge(tests, { reasons, notRun, errors, fail }, { isPart }) {
  const entries = Object.entries(fail).flatMap(([reason, files]) =>
    Object.entries(files).flatMap(([file, names]) =>
      names.map(name => ({ reason, file, name, failed: 0, ended: 0 })),
    ),
  );
  const unlisted = [];
  const explained = Object.fromEntries(Object.keys(reasons).map(reason => [reason, 0]));
  for (const { file, name, outcome, error } of tests) {
    const known = entries.filter(one => one.file === file && isNamed(one.name, name));
    for (const one of known) {
      if (outcome !== 'skipped') one.ended++;
      if (outcome === 'failed') one.failed++;
    }
    if (outcome !== 'failed' || known.length > 0) continue;
    const reason = Object.keys(errors).find(each => error?.includes(errors[each]));
    if (reason) explained[reason]++;
    else unlisted.push(`✖ ${file}: ${name}\n${indented(error ?? '')}`);
  }
  const count = outcome => tests.filter(test => test.outcome === outcome).length;
  const byReason = Object.entries(reasons).map(([reason, text]) => {
    const own = entries.filter(one => one.reason === reason);
    const failed = own.reduce((sum, one) => sum + one.failed, explained[reason]);
    const files = notRun[reason]?.length ?? 0;
    return `  ${[failed > 0 && `${failed} failed`, files > 0 && `${files} left out`].filter(Boolean).join(', ') || 'none'}: ${text}`;
  });
  const pass = entries.filter(one => one.failed === 0 && one.ended > 0);
  const ran = new Set(tests.map(test => test.file));
  const gone = isPart ? [] : entries.filter(one => one.ended === 0 && ran.has(one.file));
  const text = [
    'What Wine cannot do:',
    ...byReason,
    ...[...pass].map(one => `ℹ passes although it is listed (${one.reason}): ${one.file}: ${one.name}`),
    ...gone.map(one => `ℹ is listed, but is not there (${one.reason}): ${one.file}: ${one.name}`),
    ...unlisted,
    `${count('skipped')} skipped, ${count('failed') - unlisted.length} failed as listed`,
  ].join('\n');
  return { text, passed: count('passed'), failed: unlisted.length };
}

const isNamed = (pattern, name) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

const indented = text =>
  text
    .split('\n')
    .slice(0, 12)
    .map(line => `    ${line}`)
    .join('\n');
