import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { compare } from '../../../../../../bench/lib/equality.ts';
import { plainSource } from '../../../../../../bench/lib/plainSources.ts';
import { disagreementOn } from '../../../../../../bench/lib/twoParsers.ts';
import { AstGrepNapi } from '../../../../../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { installedGrammars } from '../../../../../support/astGrammars.ts';
import { failureOf, folderWith, searchFolder, startEngine } from '../../../../../support/astFolder.ts';
import { Random } from '../../../../../support/fuzz/random.ts';
import { randomRewrite } from './randomRewrites.ts';

/** `npm run test:soak -- rewrites` compares 2,000. */
const { RUNS = '40', SEED = '1' } = process.env;

describe('random rewrites', () => {
  const engine = startEngine();
  const napi = new AstGrepNapi(() => Promise.resolve({ grammars: installedGrammars() }));
  before(() => napi.load());
  after(() => engine.dispose());

  it('give what the ast-grep CLI gives, and one with a variable that the pattern does not bind is refused', async () => {
    const random = new Random(Number(SEED));
    const different: unknown[] = [];
    let [changed, mixed, misread] = [0, 0, 0];
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
          if (await isReadInTwoWays(napi, folder, name, out)) misread++;
          else different.push({ pat, out, name, line, source: files[name] });
      } finally {
        fs.rmSync(folder, { recursive: true, force: true });
        fs.rmSync(copy, { recursive: true, force: true });
      }
    }
    assert.ok(mixed < changed / 10, `${mixed} files could not be compared, ${changed} were changed`);
    assert.ok(misread <= changed / 200, `${misread} files have syntax errors that the CLI reads otherwise`);
    assert.ok(changed > Number(RUNS) / 3, `${changed} files were changed`);
    assert.deepEqual(different.slice(0, 3), [], `${different.length} differ with SEED=${SEED}`);
  });
});

/** Whether the two parsers recover in two ways from a syntax error of a file, or of the form of it that the CLI is given. */
async function isReadInTwoWays(
  napi: AstGrepNapi,
  folder: string,
  name: string,
  out: string,
): Promise<boolean> {
  const file = `${folder}/${name}`;
  const plain = plainSource(napi, name, fs.readFileSync(file, 'utf8'), out);
  if ((await disagreementOn(napi, file)) !== undefined) return true;
  fs.writeFileSync(file, plain?.text ?? '');
  return (await disagreementOn(napi, file)) !== undefined;
}
