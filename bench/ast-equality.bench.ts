import * as fs from 'node:fs';
import * as path from 'node:path';
import { Structure } from '../src/agent/tools/ast/structure.ts';
import { languageOf } from '../src/agent/tools/ast/languages.ts';
import type { Bench } from './lib/bench.ts';
import { corpus } from './lib/corpus.ts';
import { startEngine } from './lib/engine.ts';
import { compare, rewrites } from './lib/equality.ts';

/**
 * Compares staged text with what the ast-grep program writes, byte for byte, over real sources. Files that the grammar
 * cannot parse may differ and are named: the program parses UTF-8 and the engine's package UTF-16, and how tree-sitter
 * goes on after a syntax error depends on the bytes it has to skip.
 */
export default async function astEquality(bench: Bench): Promise<void> {
  const { folder, packages, files } = corpus(bench.home);
  bench.fact('corpus', packages);
  bench.say(`${files} files of ${packages.length} packages, ${rewrites.length} rewrites\n`);
  const structure = new Structure({});
  await structure.load();
  const broken = (name: string): boolean => {
    const language = languageOf(name)?.id ?? 'TypeScript';
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    return structure.parse(language, text).find({ rule: { kind: 'ERROR' } }) !== null;
  };
  const engine = startEngine();
  const explained = new Set<string>();
  try {
    for (const rewrite of rewrites) {
      const { changed, replacements, different } = await compare(
        engine,
        folder,
        path.join(bench.home, 'copy'),
        rewrite,
      );
      const unexplained = different.filter(name => !broken(name));
      for (const name of different) if (!unexplained.includes(name)) explained.add(name);
      const syntax = different.length - unexplained.length;
      bench.row({
        what: rewrite.shape,
        value: `${changed} files, ${replacements} replacements, ${unexplained.length} differ${syntax > 0 ? ` (and ${syntax} with syntax errors)` : ''}`,
        target: 'none differ',
        met: unexplained.length === 0,
      });
      for (const name of unexplained) bench.say(`    ${name}`);
    }
  } finally {
    engine.dispose();
    fs.rmSync(path.join(bench.home, 'copy'), { recursive: true, force: true });
  }
  bench.fact('differ for their syntax errors', [...explained].sort());
  bench.say(
    `\nDiffer because the grammar cannot parse them (see above): ${[...explained].sort().join(', ') || 'none'}`,
  );
}
