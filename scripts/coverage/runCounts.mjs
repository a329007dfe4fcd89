/** Adds up what the processes and workers of a run wrote into the folder `NODE_V8_COVERAGE`. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * How often each character of some sources ran, in all processes together. V8 writes ranges that differ from process to
 * process, so ranges cannot be merged, but counts can be added.
 * @param {string} folder
 * @param {ReadonlyMap<string, string>} sources texts by absolute path
 * @returns {{ counts: Map<string, Float64Array>, unreadable: string[] }} `counts` by absolute path, for UTF-16 units, zero for a
 *   file that was never loaded; `unreadable` names files of a process that could not finish writing
 */
export function runCounts(folder, sources) {
  const counts = new Map([...sources].map(([file, text]) => [file, new Float64Array(text.length)]));
  const byUrl = new Map([...counts].map(([file, sums]) => [pathToFileURL(file).href, sums]));
  const unreadable = [];
  for (const name of fs.readdirSync(folder)) {
    const scripts = read(path.join(folder, name));
    if (scripts === undefined) unreadable.push(name);
    for (const { url, functions } of scripts ?? []) {
      const sums = byUrl.get(url);
      if (sums) add(sums, functions);
    }
  }
  return { counts, unreadable };
}

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).result;
  } catch {
    return undefined;
  }
}

/**
 * What is inside comes after what is around it, functions as well as ranges, so that the innermost count remains. A function
 * that has run without block coverage counts as not run: V8 does not say which parts have (a profiler in a process ends its block
 * coverage).
 */
function add(sums, functions) {
  const counts = new Float64Array(sums.length);
  for (const { ranges, isBlockCoverage } of functions)
    for (const { startOffset, endOffset, count } of ranges)
      counts.fill(isBlockCoverage ? count : 0, startOffset, endOffset);
  for (let at = 0; at < sums.length; at++) sums[at] += counts[at];
}
