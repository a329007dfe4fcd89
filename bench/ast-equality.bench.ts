import * as fs from 'node:fs';
import * as path from 'node:path';
import { AstGrepNapi } from '../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import type { Bench } from './lib/bench.ts';
import { corpus } from './lib/corpus.ts';
import { installedGrammars } from '../test/support/astGrammars.ts';
import { startEngine } from './lib/engine.ts';
import { compare, rewrites } from './lib/equality.ts';
import { disagreementOn, type Disagreement } from './lib/twoParsers.ts';

/** Among all benchmarks every so many rewrites are compared. */
const PART = 3;

/**
 * Compares the staged text with what the ast-grep CLI writes, byte for byte, over real sources: where it lays out worse, with what
 * it writes for the plain form of the source (`lib/plainSources.ts`). Each difference is explained
 * by parsing the file with both: the results may differ only where the two parsers find different syntax errors in the same
 * bytes (`lib/twoParsers.ts` explains why they do). Among all benchmarks only a part of the rewrites is compared.
 */
export default async function astEquality(bench: Bench): Promise<void> {
  const { folder, packages, files } = corpus(bench.home);
  bench.fact('corpus', packages);
  const compared = rewrites.filter((_, n) => !bench.isOneOfAll || n % PART === 0);
  bench.say(`${files} files of ${packages.length} packages, ${compared.length} rewrites\n`);
  const sum = { changed: 0, different: 0, unexplained: 0 };
  const napi = new AstGrepNapi(() => Promise.resolve({ grammars: installedGrammars() }));
  await napi.load();
  const known = new Map<string, Disagreement | undefined>();
  const engine = startEngine();
  try {
    for (const rewrite of compared) {
      const copy = path.join(bench.home, 'copy');
      const { changed, replacements, different, mixed } = await compare(engine, napi, folder, copy, rewrite);
      for (const { name } of different)
        if (!known.has(name)) known.set(name, await disagreementOn(napi, path.join(folder, name)));
      const unexplained = different.filter(({ name }) => !known.get(name)).length;
      sum.changed += changed;
      sum.different += different.length;
      sum.unexplained += unexplained;
      bench.say(
        `  ${rewrite.shape.padEnd(52)} ${changed} files, ${replacements} replacements, ${different.length} differ, ${unexplained} unexplained, ${mixed.length} mixed`,
      );
      for (const { name, line } of different) bench.say(`    ${name}:${line}`);
    }
  } finally {
    engine.dispose();
    fs.rmSync(path.join(bench.home, 'copy'), { recursive: true, force: true });
  }
  bench.row({
    what: `files that ${compared.length} of ${rewrites.length} rewrites changed, unlike the CLI's`,
    value: `${sum.unexplained} unexplained`,
    baseline: `ast-grep CLI changed ${sum.changed}, ${sum.different} differ where its parser does`,
    target: '0 unexplained',
    met: sum.unexplained === 0,
  });
  bench.fact('differ', Object.fromEntries(known));
  bench.say('\nWhy these differ: the number of syntax errors that each parser finds in the same bytes');
  for (const [name, why] of [...known].sort()) {
    const reason = why
      ? `CLI ${why.cli}, package ${why.napi}, first difference at line ${why.line}`
      : 'both parse it alike: UNEXPLAINED';
    bench.say(`  ${name.padEnd(50)} ${reason}`);
  }
}
