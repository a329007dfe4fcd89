import { createRequire } from 'node:module';
import { languages } from '../../src/agent/tools/ast/languages.ts';
import type { GrammarFiles } from '../../src/agent/tools/ast/structure.ts';

const require = createRequire(import.meta.url);

/** The grammars among our packages that are compiled for this machine. */
export function installedGrammars(): GrammarFiles {
  const files: Record<string, string> = {};
  for (const { id, grammar } of languages) {
    if (!grammar) continue;
    try {
      files[id] = (require(grammar.packageName) as { libraryPath: string }).libraryPath;
    } catch {
      // None for this platform.
    }
  }
  return files;
}
