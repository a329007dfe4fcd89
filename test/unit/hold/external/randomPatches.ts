import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import * as path from 'node:path';
import type { TestContext } from 'node:test';
import type { Random } from '../../../support/fuzz/random.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** What a tree has at a path, whose name is given as one character for each byte. */
export interface Blob {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  /** One character for each byte; the name of a commit for a submodule. */
  readonly bytes: string;
}
export type Tree = ReadonlyMap<string, Blob>;

/** A patch that git made, with the tree that it is for. */
export interface RandomPatch {
  readonly before: Tree;
  /** The trees that the diffs of a series are for, but the first. */
  readonly between: readonly Tree[];
  /** One character for each byte. */
  readonly patch: string;
  /** What git's own programs make of it; `undefined` if they refuse it. */
  readonly after: Tree | undefined;
  readonly how: readonly string[];
}

const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** Names that git quotes, names that look like prefixes, and two that look alike if bytes are misread. */
const NAMES = [
  ...['a.txt', 'b.txt', 'c.txt', 'd/e.txt', 'd/f/g.txt', 'a/a.txt', 'b/a.txt', 'x b/y.txt', 'src/main.ts'],
  ...[
    'two words.txt',
    'blank ',
    'q"uote',
    'tab\tname',
    'new\nline',
    'back\\slash',
    'ä.txt',
    '😀 1.txt',
    'i/c.txt',
  ],
].map(latin);
const MISREAD = ['\xff.txt', latin('\ufffd.txt')];

/** Makes random trees in a repository of its own, and lets git tell how one becomes the next. */
export class PatchMaker {
  readonly #folder: string;
  readonly #random: Random;

  private constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
  }

  static async create(t: TestContext, random: Random): Promise<PatchMaker> {
    const { root } = await TempFolder.create();
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const maker = new PatchMaker(root, random);
    maker.#git(['init', '-q']);
    return maker;
  }

  next(): RandomPatch {
    const trees: Tree[] = [this.#firstTree()];
    const isSeries = this.#random.chance(0.2);
    for (let n = isSeries ? this.#int(2, 3) : 1; n > 0; n--)
      trees.push(this.#changed(trees.at(-1) ?? new Map()));
    const commits = this.#commit(trees);
    const { prefix, strip } = this.#prefix();
    const options = [
      ...this.#detection(),
      `-U${this.#random.pick([1, 3, 3, 3, 3, 3, 0, 3, 3, 1, 3, 5])}`,
      ...prefix,
    ];
    if (this.#random.chance(0.2)) options.push('--binary');
    const quotes = `core.quotePath=${String(!this.#random.chance(0.2))}`;
    const [first = '', last = ''] = [commits[0], commits.at(-1)];
    const patch = isSeries
      ? this.#git(['-c', quotes, 'format-patch', '--stdout', ...options, `${first}..${last}`])
      : this.#git(['-c', quotes, 'diff', '--full-index', ...options, first, last]);
    const before = trees[0] ?? new Map<string, Blob>();
    const how = [quotes, ...(isSeries ? ['format-patch'] : []), ...options];
    return {
      before,
      between: trees.slice(1, -1),
      patch,
      after: this.#applied(first, patch, strip, isSeries),
      how,
    };
  }

  #int(least: number, most: number): number {
    return least + this.#random.below(most - least + 1);
  }

  #prefix(): { readonly prefix: readonly string[]; readonly strip: number } {
    return this.#random.pick([
      { prefix: [], strip: 1 },
      { prefix: [], strip: 1 },
      { prefix: ['--no-prefix'], strip: 0 },
      { prefix: ['--src-prefix=i/', '--dst-prefix=w/'], strip: 1 },
      { prefix: ['--src-prefix=old/', '--dst-prefix=new/'], strip: 1 },
      { prefix: ['--src-prefix=x y/1/', '--dst-prefix=x y/2/'], strip: 2 },
    ]);
  }

  #detection(): readonly string[] {
    return this.#random.pick([
      ['-M'],
      ['-C'],
      ['-C', '-C'],
      ['-B', '-M'],
      ['-B', '-C', '-C'],
      ['-M30%', '-B20%/30%'],
      ['--no-renames'],
      ['-M', '-D'],
    ]);
  }

  #firstTree(): Map<string, Blob> {
    const tree = new Map<string, Blob>();
    for (let n = this.#int(3, 8); n > 0; n--) this.#put(tree, this.#freeName(tree), this.#file());
    return tree;
  }

  /** Puts something at a path, and removes what could not stand beside it. */
  #put(tree: Map<string, Blob>, name: string, blob: Blob): void {
    for (const other of tree.keys())
      if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) tree.delete(other);
    tree.set(name, blob);
  }

  #freeName(tree: Tree): string {
    const names = this.#random.chance(0.04) ? MISREAD : NAMES;
    const free = names.filter(name => !tree.has(name));
    if (free.length > 0) return this.#random.pick(free);
    return `more/${tree.size}.txt`;
  }

  #file(): Blob {
    const mode = this.#random.chance(0.15) ? '100755' : '100644';
    if (this.#random.chance(0.05)) return { mode, bytes: '' };
    if (this.#random.chance(0.02)) return { mode, bytes: `\0${this.#int(1, 9)}\n`.repeat(9) };
    if (this.#random.chance(0.02)) return { mode: '120000', bytes: this.#random.pick(NAMES) };
    if (this.#random.chance(0.01)) return { mode: '160000', bytes: `${this.#int(1, 9)}`.repeat(40) };
    const topic = this.#random.pick(['line', 'other', 'third']);
    const end = this.#random.chance(0.15) ? '\r\n' : '\n';
    const count = this.#int(1, 25);
    const lines = Array.from({ length: count }, (_, n) => `${topic} ${n}${end}`).join('');
    const mark = this.#random.chance(0.15) ? latin('\ufeff') : '';
    return { mode, bytes: mark + (this.#random.chance(0.15) ? lines.slice(0, -end.length) : lines) };
  }

  /** Changes a few lines of a file. */
  #edited(blob: Blob): Blob {
    if (blob.mode === '120000' || blob.mode === '160000' || blob.bytes.includes('\0')) return this.#file();
    const lines = blob.bytes.split('\n');
    for (let n = this.#int(1, 3); n > 0; n--) {
      const at = this.#int(0, lines.length - 1);
      const line = this.#random.pick([
        'new',
        '-- ',
        '-- a/x',
        '++ b/x',
        'diff --git a/a b/b',
        '',
        ' x',
        '@@ -1 +1 @@',
      ]);
      if (this.#random.chance(0.3)) lines.splice(at, 1);
      else if (this.#random.chance(0.5)) lines.splice(at, 0, line);
      else lines[at] = `${line}${n}`;
    }
    if (this.#random.chance(0.1))
      lines[0] = lines[0]?.startsWith(latin('\ufeff')) ? lines[0].slice(3) : `${latin('\ufeff')}${lines[0]}`;
    return { ...blob, bytes: lines.join('\n') };
  }

  #changed(from: Tree): Tree {
    const tree = new Map(from);
    for (let n = this.#int(1, 5); n > 0; n--) this.#change(tree);
    return tree;
  }

  #change(tree: Map<string, Blob>): void {
    const names = [...tree.keys()];
    const name = names.length > 0 ? this.#random.pick(names) : this.#freeName(tree);
    const blob = tree.get(name) ?? this.#file();
    const maybeEdited = (one: Blob): Blob => (this.#random.chance(0.6) ? this.#edited(one) : one);
    switch (this.#int(0, 8)) {
      case 0:
        return this.#put(tree, this.#freeName(tree), this.#file());
      case 1:
        return void tree.delete(name);
      case 2:
      case 3:
        return this.#put(tree, name, this.#edited(blob));
      case 4:
        tree.delete(name);
        return this.#put(tree, this.#freeName(tree), maybeEdited(blob));
      case 5:
        this.#put(tree, this.#freeName(tree), maybeEdited(blob));
        return this.#put(tree, name, maybeEdited(blob));
      case 6: {
        // They change places, or a third one takes part.
        const others = [...names].sort(() => this.#int(0, 2) - 1).slice(0, 3);
        const blobs = others.map(other => tree.get(other) ?? blob);
        for (const [n, other] of others.entries())
          this.#put(tree, other, maybeEdited(blobs[(n + 1) % blobs.length] ?? blob));
        return;
      }
      case 7: {
        if (this.#random.chance(0.6)) return this.#put(tree, name, this.#edited(blob));
        const mode = blob.mode === '100755' ? '100644' : '100755';
        return this.#put(tree, name, blob.mode.startsWith('100') ? { ...blob, mode } : this.#file());
      }
      default:
        return this.#put(tree, name, this.#file());
    }
  }

  /** @returns the names of the commits */
  #commit(trees: readonly Tree[]): readonly string[] {
    const lines = ['feature done\n'];
    for (const [n, tree] of trees.entries()) {
      lines.push(
        `commit refs/heads/made\nmark :${n + 1}\ncommitter T <t@example.com> ${1_000_000 + n} +0000\n`,
      );
      lines.push(`data ${7}\nChange${n}\n${n === 0 ? '' : `from :${n}\n`}deleteall\n`);
      for (const [name, { mode, bytes }] of tree) {
        const quoted = `"${Array.from(name, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')}"`;
        if (mode === '160000') lines.push(`M ${mode} ${bytes} ${quoted}\n`);
        else lines.push(`M ${mode} inline ${quoted}\ndata ${bytes.length}\n${bytes}\n`);
      }
    }
    lines.push(...trees.map((_, n) => `get-mark :${n + 1}\n`), 'done\n');
    this.#git(['update-ref', '-d', 'refs/heads/made']);
    return this.#git(['fast-import', '--quiet', '--force'], lines.join('')).trim().split('\n');
  }

  #applied(base: string, patch: string, strip: number, isSeries: boolean): Tree | undefined {
    this.#git(['read-tree', base]);
    const apply = ['apply', '--cached', '--unidiff-zero', '--whitespace=nowarn', `-p${strip}`];
    const one = (each: string): boolean => {
      if (!isSeries) return this.#run([...apply, '-'], each).status === 0;
      this.#git(['mailinfo', '/dev/null', '.git/patch'], each);
      return this.#run([...apply, '.git/patch'], '').status === 0;
    };
    for (const each of isSeries ? patch.split(/^(?=From [\da-f]{40} Mon Sep 17 00:00:00 2001$)/m) : [patch])
      if (!one(each)) return undefined;
    return this.#index();
  }

  /** What the index holds. */
  #index(): Tree {
    const entries = this.#git(['ls-files', '-s', '-z']).split('\0').filter(Boolean);
    const found = entries.map(entry => {
      const [, mode = '', name = '', at = ''] = /^(\d+) ([\da-f]+) 0\t([^]*)$/.exec(entry) ?? [];
      return { mode: mode as Blob['mode'], name, at };
    });
    const blobs = found.filter(({ mode }) => mode !== '160000');
    const told = this.#git(['cat-file', '--batch'], blobs.map(({ name }) => `${name}\n`).join(''));
    const tree = new Map<string, Blob>();
    let from = 0;
    for (const { mode, name, at } of found) {
      if (mode === '160000') {
        tree.set(at, { mode, bytes: name });
        continue;
      }
      const end = told.indexOf('\n', from);
      const size = Number(told.slice(from, end).split(' ')[2]);
      tree.set(at, { mode, bytes: told.slice(end + 1, end + 1 + size) });
      from = end + size + 2;
    }
    return tree;
  }

  #run(args: readonly string[], input: string) {
    const options = {
      cwd: this.#folder,
      input: Buffer.from(input, 'latin1'),
      maxBuffer: 1e8,
      encoding: 'latin1',
    } as const;
    const env = {
      ...process.env,
      GIT_CONFIG_GLOBAL: path.join(this.#folder, 'none'),
      GIT_CONFIG_NOSYSTEM: '1',
    };
    return spawnSync(
      'git',
      ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'diff.renameLimit=0', ...args],
      { ...options, env },
    );
  }

  #git(args: readonly string[], input = ''): string {
    const { status, stdout, stderr } = this.#run(args, input);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
}
