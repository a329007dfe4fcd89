/** Lanes of a stage: processes side by side, each with a share of its tests. */

/**
 * Runs all lanes at once. Each line that they print begins with the number of its lane.
 * @template Result
 * @param {number} count
 * @param {(print: (text: string | Uint8Array) => void, index: number) => Promise<Result>} run
 * @param {(text: string) => unknown} [write]
 * @returns {Promise<Result[]>} in the order of the lanes
 */
export function runLanes(count, run, write) {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      withPrinter(count === 1 ? '' : `${index + 1} │ `, print => run(print, index), write),
    ),
  );
}

/**
 * Does work whose output is printed in whole lines, so that lanes that run side by side can be told apart.
 * @template Result
 * @param {string} prefix of each line
 * @param {(print: (text: string | Uint8Array) => void) => Promise<Result>} work
 * @param {(text: string) => unknown} [write]
 * @returns {Promise<Result>}
 */
export async function withPrinter(prefix, work, write = text => process.stdout.write(text)) {
  const decoder = new TextDecoder();
  let rest = '';
  const print = text => {
    const all = rest + (typeof text === 'string' ? text : decoder.decode(text, { stream: true }));
    const lines = all.split('\n');
    rest = lines.pop();
    if (lines.length > 0) write(lines.map(line => `${prefix}${line}\n`).join(''));
  };
  try {
    return await work(print);
  } finally {
    if (rest !== '') print('\n');
  }
}

/**
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} LaneCounts `failures` has a line for each
 *
 * @param {readonly LaneCounts[]} lanes the counts of each
 * @returns {LaneCounts}
 */
export function sumOf(lanes) {
  const sum = key => lanes.reduce((total, counts) => total + counts[key], 0);
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    failures: lanes.flatMap(each => each.failures),
  };
}
