import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly vscode: string };
  readonly extensionKind: readonly string[];
  readonly enabledApiProposals?: readonly string[];
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly menus: {
      readonly commandPalette: readonly { readonly command: string; readonly when: string }[];
    };
    readonly keybindings: readonly {
      readonly command: string;
      readonly key: string;
      readonly mac?: string;
      readonly when?: string;
    }[];
  };
}

const root = path.resolve(import.meta.dirname, '../..');
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;
const manifest = manifestIn('.');

/** Major and minor version, without which patch it is. */
const release = (version: string): string => /^[~^]?(\d+\.\d+)\.\d+$/.exec(version)?.[1] ?? version;

test('the code is checked against the API of the oldest VS Code that it runs in', () => {
  const { engines, devDependencies } = manifest;
  assert.match(engines.vscode, /^\^\d+\.\d+\.0$/, 'from one release on');
  // `^` would take the types of a later release.
  assert.match(devDependencies['@types/vscode'] ?? '', /^~/);
  assert.equal(release(devDependencies['@types/vscode'] ?? ''), release(engines.vscode));
  assert.equal(release(manifestIn('node_modules/@types/vscode').version), release(engines.vscode));
});

test('the changelog begins with the version of the manifest, as does the lock file', () => {
  const [latest] = /(?<=^## )\S+/m.exec(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')) ?? [];
  assert.equal(latest, manifest.version);
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as Manifest;
  assert.equal(lock.version, manifest.version);
});

test('no proposed API is used, which only VS Code itself may be given', () => {
  assert.equal(manifest.enabledApiProposals, undefined);
  const declared = globSync('{src,test,scripts}/**/vscode.proposed*.d.ts', { cwd: root });
  assert.deepEqual(declared, []);
  const extended = globSync('src/**/*.ts', { cwd: root }).filter(file =>
    /declare module ['"]vscode['"]/.test(readFileSync(path.join(root, file), 'utf8')),
  );
  assert.deepEqual(extended, [], 'no file declares more of the API than the types do');
});

test('it runs where the files of the workspace are', () => {
  assert.deepEqual(manifest.extensionKind, ['workspace']);
});

test('what is Ctrl elsewhere is Cmd on macOS, and nothing else differs', () => {
  const { keybindings } = manifest.contributes;
  assert.ok(keybindings.length > 10);
  for (const { command, key, mac } of keybindings) {
    const expected = key.includes('ctrl') ? key.replaceAll('ctrl', 'cmd') : undefined;
    assert.equal(mac, expected, `${command}: ${key}`);
  }
});

test('the palette has at most 40 entries that are always there: what needs a row or a diff in front is not one of them', () => {
  const { commands, menus } = manifest.contributes;
  const bound = new Set(menus.commandPalette.map(({ command }) => command));
  assert.equal(bound.size, menus.commandPalette.length, 'each command has one entry');
  assert.ok(commands.filter(({ command }) => !bound.has(command)).length <= 40);
});

test('no key acts outside of previews, of the gap between two, and of the view of what is pending', () => {
  const places =
    /^(?:resourceScheme == redline-preview|focusedView == redline\.pending|redline\.goesOn && !textInputFocus && !editorFocus)/;
  for (const { command, key, when = '' } of manifest.contributes.keybindings)
    assert.match(when, places, `${command} by ${key}`);
});
