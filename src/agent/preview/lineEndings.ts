import { diffLines } from './lineDiff.ts';
import { splitLines } from './lines.ts';

/**
 * An edited text with the line endings of the original wherever a line was kept. Editors know one line ending for each
 * file: saving there would change every line of a file that mixes them, which nobody asked for and no diff shows.
 */
export async function keepLineEndings(original: string, edited: string): Promise<string> {
  const kinds = new Set(original.match(/\r\n|\r|\n/g));
  if (kinds.size < 2) return edited;
  const [before, after] = [splitLines(original), splitLines(edited)];
  const { runs } = await diffLines(before.map(bare), after.map(bare), { maxEditLength: 400 });
  const end = { beforeStart: before.length, afterStart: after.length, beforeEnd: 0, afterEnd: 0 };
  const lines: string[] = [];
  let [b, a] = [0, 0];
  for (const run of [...runs, end]) {
    // A last line without an ending has none to give: then the edited one stands.
    for (; a < run.afterStart; a++, b++) {
      const [old, now] = [before[b] ?? '', after[a] ?? ''];
      lines.push(bare(old) !== old && bare(now) !== now ? old : now);
    }
    lines.push(...after.slice(run.afterStart, run.afterEnd));
    [b, a] = [run.beforeEnd, run.afterEnd];
  }
  // A return in front of an empty line with a line feed would be one line ending with it.
  for (let i = lines.length - 2; i >= 0; i--) {
    if (lines[i]?.endsWith('\r') && lines[i + 1]?.startsWith('\n')) lines[i] = after[i] ?? '';
  }
  return lines.join('');
}

function bare(line: string): string {
  return line.replace(/[\r\n]+$/, '');
}
