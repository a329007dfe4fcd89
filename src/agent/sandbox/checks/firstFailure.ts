import { beginningOf, endOf } from '../../base/cutText.ts';
import { fenced } from '../../base/phrases.ts';
import { safeName } from '../../base/safeName.ts';
import { isGreen, type CheckResult } from './check.ts';

/** The most characters of the failure. */
const MAX_CHARS = 1_000;
/** The most lines of an output. */
const MAX_LINES = 15;

/**
 * A failure that a model can act on: the name of the first test that fails, with its place and message or the lines below its
 * name, or else the end of the output of the first check that is not green.
 * @returns `undefined` if that check did not fail by itself
 */
export function firstFailure(results: readonly CheckResult[]): string | undefined {
  const result = results.find(each => !isGreen(each));
  if (result?.outcome !== 'failed' && result?.outcome !== 'timedOut') return undefined;
  const { report, problems, output } = result;
  const name = safeName(result.name);
  const [test] = [...(report?.tests ?? [])].find(([, { isOwnFailure }]) => isOwnFailure) ?? [];
  const problem = problems.find(({ isWarning }) => !isWarning);
  const lines = output.trim().split('\n');
  const place =
    problem &&
    [`${problem.path}:${problem.line}: ${problem.message}`, ...restOf(problem.message, lines)].join('\n');
  const found = [test, place ?? (test && below(test, lines))].filter(line => line !== undefined).join('\n');
  if (found !== '') return `The first failure of ${name}:\n${fenced(beginningOf(found, MAX_CHARS))}`;
  const end = endOf(lines.slice(-MAX_LINES).join('\n'), MAX_CHARS);
  return end === '' ? `${name} wrote nothing.` : `The end of the output of ${name}:\n${fenced(end)}`;
}

/** The lines of an output with the rest of a message that ends in a colon. */
function restOf(message: string, lines: readonly string[]): readonly string[] {
  const end = message.trimEnd().split('\n').at(-1) ?? '';
  const at = end.endsWith(':') ? lines.findIndex(line => line.trimEnd().endsWith(end)) : -1;
  return at < 0 ? [] : lines.slice(at + 1, at + MAX_LINES);
}

/** The lines of an output below the one that names the test as failed; `undefined` if there is none. */
function below(test: string, lines: readonly string[]): string | undefined {
  const name = test.split(' > ').at(-1) ?? test;
  const at = lines.findIndex(line => line.includes(name) && /not ok|fail|[✖✕✗×]/i.test(line));
  return at < 0 ? undefined : lines.slice(at + 1, at + MAX_LINES).join('\n');
}
