import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { bundledPackages, noticesText } from '../../../scripts/lib/thirdPartyNotices.mjs';
import { TempFolder } from '../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());

async function givenPackage(name: string, manifest: object, files: Record<string, string>): Promise<string> {
  await temp.file(`${name}/package.json`, JSON.stringify({ name, version: '1.2.3', ...manifest }));
  for (const [file, text] of Object.entries(files)) await temp.file(`${name}/${file}`, text);
  return temp.at(name);
}

test('the packages of a bundle are told from its inputs, nested ones too', () => {
  const inputs = {
    'src/extension.ts': {},
    'node_modules/a/index.js': {},
    'node_modules/a/lib/deep.js': {},
    'node_modules/@s/b/index.js': {},
    'node_modules/a/node_modules/c/x.js': {},
  };
  assert.deepEqual(bundledPackages([{ inputs }, { inputs }]), [
    'node_modules/a',
    'node_modules/@s/b',
    'node_modules/a/node_modules/c',
  ]);
});

test('each package is listed with its version, licence and the texts of its licence files', async () => {
  const b = await givenPackage(
    'b',
    { license: 'MIT', homepage: 'https://b.example' },
    { LICENSE: 'Text of b\r\n' },
  );
  const a = await givenPackage(
    'a',
    { license: 'CC-BY-4.0' },
    { 'LICENSE.txt': 'Text of a', NOTICE: 'And this' },
  );
  const line = '-'.repeat(80);
  assert.equal(
    noticesText([b, a]),
    [
      'Redline contains the following third-party software, each under its own licence.',
      `${line}\n\na 1.2.3, CC-BY-4.0\n\nText of a\n\nAnd this`,
      `${line}\n\nb 1.2.3, MIT\nhttps://b.example\n\nText of b\n`,
    ].join('\n\n'),
  );
});

test('a package that names the MIT licence and its author needs no file with it', async () => {
  const bare = await givenPackage('bare', { license: 'MIT', author: 'Ada Example' }, {});
  assert.match(noticesText([bare]), /Copyright \(c\) Ada Example\n\nPermission is hereby granted/);
  const other = await givenPackage('other', { license: 'ISC', author: 'Ada Example' }, {});
  assert.throws(() => noticesText([other]), /contains no licence/);
});

test('a package without a licence is refused', async () => {
  const none = await givenPackage('none', { license: 'MIT' }, {});
  const silent = await givenPackage('silent', {}, { LICENSE: 'x' });
  for (const folder of [none, silent]) assert.throws(() => noticesText([folder]), /contains no licence/);
});
