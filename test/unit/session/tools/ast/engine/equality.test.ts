import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { compare, rewrites } from '../../../../../../bench/lib/equality.ts';
import { AstGrepNapi } from '../../../../../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { installedGrammars } from '../../../../../support/astGrammars.ts';
import { folderWith, startEngine } from '../../../../../support/astFolder.ts';

const long = `const wide = [${'12345, '.repeat(90)}`;

/** Sources with everything that makes byte-for-byte equality hard. */
const files: Record<string, string> = {
  'src/plain.ts': `import { a, b } from 'mod'
export const x = [1, 2]
debugger
type T = string | number
class A extends B {
  m() {
    return this.x ? {
      a: 1,

      b: [
        2,
      ],
    } : undefined
  }
}
function f(list: Set<number>) {
  console.log("hi", {
    deep: true,
  })
  list.push(list.push(1))
  if (list && list()) {
    Object.freeze(list)
  } else if (x === x) { list.push(3) }
  switch (typeof list) {
    case 'a':
      return foo(1, 2, 3, 4)
    default:
      return foo(
        1,
        (p, q) => ({
          p, q
        }), 9)
  }
}
p.then(a => b, () => {
  let y = 1
  let z = function () {
  return 2
  }
})
`,
  'src/tabs.ts': `function f() {
\tif (a) {
\t\treturn call(
\t\t\t1,
\t\t  2,
\t\t)
\t}
\tlet q = (a, b) =>
\t\ta ? b
\t\t  : [
\t\t\t1]
}
`,
  'src/accents.ts': `// ünïcödé 😀
const größe = '😀'; console.log('é', größe, \`
   😀 \${größe}
 \`)
  let naïve = größe ? {
     a: 1
   } : '…'
if (größe === größe) { list.push('日本語'); }
`,
  'src/wide.ts': `{
${long} () => {
  return 1
}]
    ${' '.repeat(600)}list.push({
  a: 1
    })
    /* ${'é'.repeat(300)} */ list.push({
      b: 1
    })
    /* ${'é'.repeat(200)} */ list.push({
      b: 1
    })
}
`,
  'src/broken.js': `function ( {
console.log(1)
let a = 1;
}}} list.push(2)
`,
  'src/view.tsx': `export const V = () => <div onClick={() => console.log('x')}>{list.push(1)}{a ? <b/> : <i>
  text
</i>}</div>
`,
  'src/page.html': `<html><head><style>a { color: red }</style></head>
<body>
  <script>
    console.log({
      a: 1,
    })
    let a = (x) => x;
  </script>
  <script lang="ts">
    type T = string
    list.push(1 as number)
  </script>
</body></html>
`,
  'src/.hidden.ts': `console.log('hidden')\n`,
  'src/empty.ts': '',
  'src/nothing.py': 'print(1)\n',
};
for (const name of ['plain', 'tabs', 'accents', 'wide']) {
  files[`crlf/${name}.ts`] = (files[`src/${name}.ts`] ?? '').replaceAll('\n', '\r\n');
  files[`mark/${name}.ts`] = `\ufeff${files[`src/${name}.ts`] ?? ''}`;
}

const others = [
  { shape: 'Python', pat: 'print($$$A)', out: 'log(\n    $$$A\n)' },
  { shape: 'a tab in the rewrite', pat: 'return $A', out: 'return (\n\t$A\n)' },
  { shape: 'CRLF in the rewrite', pat: 'let $A = $B', out: 'const $A =\r\n  $B' },
  { shape: 'dollars that are no variables', pat: 'list.push($A)', out: '[$A, $1A, $$$, $$A, $Ab, $a, \\$A]' },
  { shape: 'a style', pat: 'color: $A', out: 'color: blue' },
  { shape: 'a kind of node', pat: '({ a: $A })', selector: 'pair', out: 'a: {\n  $A\n}' },
  { shape: 'a string', pat: "'a'", out: "'b'" },
];

/** See `PlainSource` for where Redline differs. */
describe('staged text and what the ast-grep CLI gives for the plain form of the sources', () => {
  const engine = startEngine();
  const napi = new AstGrepNapi(() => Promise.resolve({ grammars: installedGrammars() }));
  let folder = '';
  before(async () => {
    await napi.load();
    folder = folderWith(files);
  });
  after(() => {
    engine.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
    fs.rmSync(`${folder}-copy`, { recursive: true, force: true });
  });

  for (const rewrite of [...rewrites, ...others]) {
    it(`agree byte for byte: ${rewrite.shape}`, async () => {
      const { different, mixed } = await compare(
        engine,
        napi,
        folder,
        path.resolve(`${folder}-copy`),
        rewrite,
      );
      assert.deepEqual({ different, mixed }, { different: [], mixed: [] });
    });
  }

  it('are compared on real changes: most rewrites change files', async () => {
    let changing = 0;
    for (const rewrite of rewrites) {
      if ((await compare(engine, napi, folder, path.resolve(`${folder}-copy`), rewrite)).changed > 0)
        changing++;
    }
    assert.ok(changing >= 15, `${changing} rewrites changed files`);
  });
});
