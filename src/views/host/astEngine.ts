import * as fs from 'node:fs';
import * as path from 'node:path';
import { WorkerAstEngine } from '../../agent/tools/ast/client.ts';
import { languages } from '../../agent/tools/ast/languages.ts';

/** The structural engine as it is packaged: a worker's script, and native files in a folder beside it. */
export function createAstEngine(extensionPath: string): WorkerAstEngine {
  const dist = path.join(extensionPath, 'dist');
  const grammars: Record<string, string> = {};
  for (const { id, grammar } of languages) {
    const file = path.join(dist, 'native', `grammar-${id}.node`);
    if (grammar && fs.existsSync(file)) grammars[id] = file;
  }
  return new WorkerAstEngine(path.join(dist, 'astWorker.cjs'), { grammars });
}
