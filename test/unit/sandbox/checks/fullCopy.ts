import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { textIn } from '../../../support/changes.ts';

/** As the file `.gitignore` of the histories says it. Nothing of the product, nor what it asks, is asked. */
const IGNORED_FOLDERS = new Set(['.git', 'node_modules', 'out']);

/** How a check ends on a copy. */
export interface Truth {
  readonly outcome: 'passed' | 'failed' | 'changedFiles';
  readonly exitCode: number | null;
  readonly output: string;
  /** The files that it changed, without those that git ignores and nothing would be written to, sorted. */
  readonly changed: readonly string[];
}

/**
 * What a check must say, found without any of our code: a plain copy of the folder as it would be, and a plain shell in it. It is
 * copied at once, so that it is the folder of this moment, also if the check runs later.
 */
export class FullCopy {
  readonly #at: string;
  readonly #changes: readonly FileChange[];

  /** @param at where the copy is made; nothing is there */
  constructor(root: string, at: string, changes: readonly FileChange[]) {
    this.#at = at;
    this.#changes = changes;
    fs.mkdirSync(path.dirname(at), { recursive: true });
    execFileSync('cp', ['-a', root, at]);
    // What was installed with an absolute path is so, too.
    const [self, env] = [path.join(at, 'node_modules/self'), path.join(at, 'out/env/path')];
    if (fs.lstatSync(self, { throwIfNoEntry: false })?.isSymbolicLink()) {
      fs.unlinkSync(self);
      fs.symlinkSync(path.join(at, 'src'), self);
    }
    if (fs.existsSync(env)) fs.writeFileSync(env, `${at}\n`);
  }

  /** Writes the changes into it, each file in a later second than what it held there, and runs a command. */
  run(command: string): Truth {
    // As they are written together: only the last content of each path.
    for (const change of new Map(this.#changes.map(each => [each.path, each])).values()) this.#write(change);
    const before = this.#files();
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', `{ ${command}\n} 2>&1`], {
      cwd: this.#at,
      encoding: 'utf8',
    });
    const after = this.#files();
    const names = new Set([...before.keys(), ...after.keys()]);
    const changed = [...names].filter(name => before.get(name) !== after.get(name)).sort();
    const outcome = status !== 0 ? 'failed' : changed.length > 0 ? 'changedFiles' : 'passed';
    return { outcome, exitCode: status, output: stdout + stderr, changed };
  }

  remove(): void {
    removeAll(this.#at);
  }

  #write({ path: name, after }: FileChange): void {
    const file = path.join(this.#at, name);
    const text = textIn(after);
    if (text === undefined) return fs.rmSync(file, { force: true });
    const old = fs.statSync(file, { throwIfNoEntry: false });
    while (old && Math.floor(Date.now() / 1000) === Math.floor(old.mtimeMs / 1000))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    // In its place, as editors and Redline do: other names of the file get it, too.
    fs.writeFileSync(file, text);
  }

  /** Bits and content of what git does not ignore or would be written, by path. */
  #files(): ReadonlyMap<string, string> {
    const files = new Map<string, string>();
    const seen = new Set<number>();
    for (const name of [...this.#listed(''), ...this.#changes.map(({ path: each }) => each)]) {
      const at = path.join(this.#at, name);
      const stat = name === '' ? undefined : fs.lstatSync(at, { throwIfNoEntry: false });
      // A file with several names is one.
      const isKnown = stat && stat.nlink > 1 && seen.has(stat.ino);
      if (stat) seen.add(stat.ino);
      if (isKnown) continue;
      if (stat?.isFile()) files.set(name, `${stat.mode} ${fs.readFileSync(at, 'utf8')}`);
      else if (stat) files.set(name, `${stat.mode}`);
    }
    return files;
  }

  /** All files below a folder that the rules of the histories do not ignore. */
  #listed(folder: string): readonly string[] {
    return fs.readdirSync(path.join(this.#at, folder), { withFileTypes: true }).flatMap(each => {
      const name = path.posix.join(folder, each.name);
      if (each.isDirectory()) return IGNORED_FOLDERS.has(each.name) ? [] : this.#listed(name);
      return each.name === '.env' || each.name.endsWith('.log') ? [] : name;
    });
  }
}

/** Removes a file or folder, also what may not be looked into. */
export function removeAll(at: string): void {
  try {
    fs.rmSync(at, { recursive: true });
  } catch {
    execFileSync('sh', ['-c', 'chmod -R u+rwX "$0"; rm -r "$0"', at]);
  }
}
