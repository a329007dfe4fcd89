import * as fs from 'node:fs';
import * as path from 'node:path';
import { sha256 } from '../../../src/agent/base/hash.ts';

/** A folder with the workspace, the storage of the extension, and files that nothing may touch. */
export interface Sandbox {
  readonly root: string;
  readonly workspace: string;
  readonly storage: string;
}

const linesOf = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i}`).join('\n');
const code =
  'export function add(a: number, b: number) {\n  if (a) { return foo(a, b); }\n  return a + b;\n}\n';

/** Contents by workspace path. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'a.txt': 'one\ntwo\nthree\n',
  'b.txt': linesOf(40),
  'empty.txt': '',
  'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
  'mixed.txt': 'one\r\ntwo\nthree\rfour',
  'bom.txt': '\uFEFFone\ntwo\n',
  'utf16le.txt': Buffer.from('\uFEFFone\ntwo\n', 'utf16le'),
  'utf16be.txt': Buffer.from('\uFEFFone\ntwo\n', 'utf16le').swap16(),
  'latin1.txt': Buffer.from('caf\u00E9\n', 'latin1'),
  'binary.bin': Uint8Array.from({ length: 300 }, (_, i) => i % 256),
  'nul.txt': 'a\0b\n',
  'surrogate.txt': Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62]),
  'src/app.ts': code,
  'src/deep/more.ts': code.repeat(20),
  'src/view.tsx': 'export const V = () => <div onClick={() => foo(1, 2)}>hi</div>;\n',
  'src/page.html': '<p class="x">hi</p>\n<script>foo(1, 2);</script>\n',
  'src/style.css': '.x { color: red; }\n',
  'src/broken.ts': 'function ( { if (\n',
  'src/nested.ts': `${'('.repeat(400)}1${')'.repeat(400)};\n`,
  '.gitignore': 'ignored/\n!ignored/kept.txt\n',
  'ignored/kept.txt': 'kept\n',
  '.vscode/settings.json': '{}\n',
  '.git/config': '[core]\n',
  'AGENTS.md': 'agents\n',
  '.envrc': 'export A=1\n',
  'tools/tool.ts': 'export default 1;\n',
  'caf\u00E9.txt': 'composed\n',
  'cafe\u0301-nfd.txt': 'decomposed\n',
  'Case.TXT': 'case\n',
  'bidi\u202Etxt.exe': 'bidi\n',
  'control\u0001.txt': 'control\n',
  'new\nline.txt': 'new line\n',
  'glob[1]{a,b}*.txt': 'glob\n',
  ' spaces .txt ': 'spaces\n',
  '-rf': 'dash\n',
  [`${'long'.repeat(50)}.txt`]: 'long\n',
};

/** Large files, which are slow to handle in any way that is not linear. */
const LARGE: Readonly<Record<string, () => string>> = {
  'large/one-char.txt': () => 'a'.repeat(400_000),
  'large/blanks.txt': () => ' '.repeat(60_000) + 'x\n',
  'large/lines.txt': () => linesOf(60_000),
  'large/one-line.txt': () => 'ab '.repeat(500_000),
  'large/max.txt': () => 'maximum\n'.repeat(600_000),
};

/** Links by workspace path, with their targets. */
const LINKS: Readonly<Record<string, string>> = {
  'link.txt': 'a.txt',
  'link-to-link': 'link.txt',
  'linked-src': 'src',
  outside: '../sentinel',
  'outside.txt': '../sentinel/secret.txt',
  absolute: '/etc/hostname',
  dangling: 'missing/target.txt',
  'dangling-outside': '../sentinel/new.txt',
  loop: 'loop',
  'loop-a': 'loop-b',
  'loop-b': 'loop-a',
  'src/up': '..',
  'settings-link': '.vscode',
  'CLAUDE.md': 'b.txt',
  hooks: '.git',
};

/** Workspace paths of all files and links that a sandbox begins with. */
export const PATHS: readonly string[] = [...Object.keys(FILES), ...Object.keys(LINKS)];
export const LARGE_PATHS: readonly string[] = Object.keys(LARGE);

export function makeSandbox(root: string): Sandbox {
  const workspace = path.join(root, 'workspace');
  const storage = path.join(root, 'storage');
  const write = (file: string, content: string | Uint8Array): void => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  };
  for (const [name, content] of Object.entries(FILES)) write(path.join(workspace, name), content);
  for (const [name, content] of Object.entries(LARGE)) write(path.join(workspace, name), content());
  for (const [name, target] of Object.entries(LINKS)) fs.symlinkSync(target, path.join(workspace, name));
  fs.chmodSync(path.join(workspace, '.envrc'), 0o400);
  fs.chmodSync(path.join(workspace, 'tools/tool.ts'), 0o755);
  for (const name of ['secret.txt', 'src/app.ts', '.vscode/settings.json', 'deep/er/file.txt'])
    write(path.join(root, 'sentinel', name), `sentinel ${name}\n`);
  write(path.join(root, 'beside.txt'), 'beside\n');
  fs.mkdirSync(storage);
  return { root, workspace, storage };
}

/** What a path of a tree is: its hash and permission bits, its target, or only that it is a folder. */
export type Tree = ReadonlyMap<string, string>;

/** Reads whole trees again and again, and only those files that have changed. */
export class TreeReader {
  readonly #known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  /** @param skip top-level names to leave out. */
  read(root: string, skip: readonly string[] = []): Tree {
    const tree = new Map<string, string>();
    const visit = (relative: string): void => {
      for (const name of fs.readdirSync(path.join(root, relative)).sort()) {
        if (relative === '' && skip.includes(name)) continue;
        const at = path.join(relative, name);
        const file = path.join(root, at);
        const stats = fs.lstatSync(file, { bigint: true });
        const mode = (Number(stats.mode) & 0o777).toString(8);
        if (stats.isSymbolicLink()) tree.set(at, `link ${fs.readlinkSync(file)}`);
        else if (stats.isDirectory()) {
          tree.set(at, `folder ${mode}`);
          visit(at);
        } else tree.set(at, `${this.#hashOf(file, stats)} ${mode}`);
      }
    };
    visit('');
    return tree;
  }

  #hashOf(file: string, { ino, size, mtimeNs, ctimeNs }: fs.BigIntStats): string {
    const stamp = [ino, size, mtimeNs, ctimeNs].join();
    const known = this.#known.get(file);
    if (known?.stamp === stamp) return known.hash;
    const hash = sha256(fs.readFileSync(file));
    this.#known.set(file, { stamp, hash });
    return hash;
  }
}

/** The paths in which two trees differ. */
export function differences(before: Tree, after: Tree): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(at => before.get(at) !== after.get(at))
    .sort();
}
