import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, describe, it } from 'node:test';
import { compare } from '../../../../../bench/lib/equality.ts';
import { failureOf, folderWith, searchFolder, startEngine } from '../../../../support/astFolder.ts';
import { Random } from '../../../../support/fuzz/random.ts';
import { randomRewrite } from '../../../../support/randomRewrites.ts';

/** `npm run test:soak -- rewrites` compares 2,000. */
const { RUNS = '40', SEED = '1' } = process.env;

describe('random rewrites', () => {
  const engine = startEngine();
  after(() => engine.dispose());

  it('give what the ast-grep CLI gives, and one with a variable that the pattern does not bind is refused', async () => {
    const random = new Random(Number(SEED));
    const different: unknown[] = [];
    let changed = 0;
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
        const result = await compare(engine, folder, copy, { pat, out });
        changed += result.changed;
        for (const { name, line } of result.different) different.push({ n, pat, out, name, line, files });
      } finally {
        fs.rmSync(folder, { recursive: true, force: true });
        fs.rmSync(copy, { recursive: true, force: true });
      }
    }
    assert.ok(changed > Number(RUNS) / 3, `${changed} files were changed`);
    assert.deepEqual(different.slice(0, 3), [], `${different.length} differ with SEED=${SEED}`);
  });
});
