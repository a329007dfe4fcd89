import { createRequire } from 'node:module';
import type { GrammarFiles } from '../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { languages } from '../../src/agent/session/tools/ast/engine/languages.ts';

const require = createRequire(import.meta.url);

/** The installed grammars that are compiled for this machine. */
export function installedGrammars(): GrammarFiles {
  const files: Record<string, string> = {};
  for (const { id, grammar } of languages) {
    if (!grammar) continue;
    try {
      files[id] = (require(grammar.packageName) as { libraryPath: string }).libraryPath;
    } catch {
      // There is no build for this platform.
    }
  }
  return files;
}
