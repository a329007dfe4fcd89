import * as fs from 'node:fs';
import * as path from 'node:path';
import { Structure } from '../src/agent/tools/ast/structure.ts';
import type { Bench } from './lib/bench.ts';
import { corpus } from './lib/corpus.ts';
import { startEngine } from './lib/engine.ts';
import { compare, rewrites } from './lib/equality.ts';
import { disagreementOn, type Disagreement } from './lib/twoParsers.ts';

/**
 * Compares staged text with what the ast-grep program writes, byte for byte, over real sources, and explains each
 * difference by parsing that file with both: it may differ only where the two parsers see other syntax errors in the same
 * bytes (`lib/twoParsers.ts` tells why they do). A file that both parse alike must come out alike.
 */
export default async function astEquality(bench: Bench): Promise<void> {
  const { folder, packages, files } = corpus(bench.home);
  bench.fact('corpus', packages);
  bench.say(`${files} files of ${packages.length} packages, ${rewrites.length} rewrites\n`);
  const structure = new Structure({});
  await structure.load();
  const known = new Map<string, Disagreement | undefined>();
  const engine = startEngine();
  try {
    for (const rewrite of rewrites) {
      const copy = path.join(bench.home, 'copy');
      const { changed, replacements, different } = await compare(engine, folder, copy, rewrite);
      for (const { name } of different)
        if (!known.has(name)) known.set(name, await disagreementOn(structure, path.join(folder, name)));
      const unexplained = different.filter(({ name }) => !known.get(name)).length;
      bench.row({
        what: rewrite.shape,
        value: `${changed} files, ${replacements} replacements, ${different.length} differ, ${unexplained} without a reason`,
        target: '0 without a reason',
        met: unexplained === 0,
      });
      for (const { name, line } of different) bench.say(`    ${name}:${line}`);
    }
  } finally {
    engine.dispose();
    fs.rmSync(path.join(bench.home, 'copy'), { recursive: true, force: true });
  }
  bench.fact('differ', Object.fromEntries(known));
  bench.say('\nWhy these differ: syntax errors in the same bytes, as the two parsers see them');
  for (const [name, why] of [...known].sort()) {
    const reason = why
      ? `program ${why.program}, engine ${why.engine}, from line ${why.line} on`
      : 'both parse it alike: NO REASON';
    bench.say(`  ${name.padEnd(50)} ${reason}`);
  }
}
