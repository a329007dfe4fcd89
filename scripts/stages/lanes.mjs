/** Lanes of a stage: processes side by side, each with a share of its tests. */
import { OutputInTurn } from './outputInTurn.mjs';

/**
 * Runs all lanes at once, and prints what each wrote in one piece.
 * @template Result
 * @param {readonly string[]} names of the lanes, as they are printed
 * @param {(name: string, print: (text: string | Uint8Array) => void, index: number) => Promise<Result>} run
 * @param {(text: string | Uint8Array) => unknown} [write]
 * @returns {Promise<Result[]>} in the order of the names
 */
export async function runLanes(names, run, write = text => process.stdout.write(text)) {
  const output = new OutputInTurn(names, write);
  return Promise.all(
    names.map(async (name, index) => {
      output.begin(name);
      try {
        return await run(name, text => output.write(name, text), index);
      } finally {
        output.end(name);
      }
    }),
  );
}

/**
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} LaneCounts `failures` says what failed
 *
 * @param {readonly LaneCounts[]} lanes what each of them counted
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
