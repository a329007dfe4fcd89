import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { compare } from '../../../../../bench/lib/equality.ts';
import { AstGrepNapi } from '../../../../../src/agent/tools/ast/engine/astGrepNapi.ts';
import { installedGrammars } from '../../../../support/astGrammars.ts';
import { failureOf, folderWith, searchFolder, startEngine } from '../../../../support/astFolder.ts';
import { Random } from '../../../../support/fuzz/random.ts';
import { randomRewrite } from '../../../../support/randomRewrites.ts';

/** `npm run test:soak -- rewrites` compares 2,000. */
const { RUNS = '40', SEED = '1' } = process.env;

describe('random rewrites', () => {
  const engine = startEngine();
  const napi = new AstGrepNapi(installedGrammars());
  before(() => napi.load());
  after(() => engine.dispose());

  it('give what the ast-grep CLI gives, and one with a variable that the pattern does not bind is refused', async () => {
    const random = new Random(Number(SEED));
    const different: unknown[] = [];
    let [changed, mixed] = [0, 0];
    for (let n = 0; n < Number(RUNS); n++) {
      const { files, pat, out, unbound } = randomRewrite(random);
      const folder = folderWith(files);
      const copy = `${folder}-copy`;
      try {
        if (unbound.length > 0) {
          const failure = await failureOf(searchFolder(engine, folder, [{ pat, out }])).catch(String);
          if (typeof failure === 'string' || failure.code !== 'unbound')
            different.push({ n, pat, out, failure });
          continue;
        }
        const result = await compare(engine, napi, folder, copy, { pat, out });
        changed += result.changed;
        mixed += result.mixed.length;
        for (const { name, line } of result.different)
          different.push({ pat, out, name, line, source: files[name] });
      } finally {
        fs.rmSync(folder, { recursive: true, force: true });
        fs.rmSync(copy, { recursive: true, force: true });
      }
    }
    assert.ok(mixed < changed / 10, `${mixed} files could not be compared, ${changed} were changed`);
    assert.ok(changed > Number(RUNS) / 3, `${changed} files were changed`);
    assert.deepEqual(different.slice(0, 3), [], `${different.length} differ with SEED=${SEED}`);
  });
});
