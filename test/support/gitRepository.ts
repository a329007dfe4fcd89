import { execFileSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { Git } from '../../src/agent/hold/external/git.ts';
import { TempFolder } from './tempFolder.ts';

/** What a commit has at a path: a text, bytes, or something that is no plain file. */
export type Committed =
  string | Uint8Array | { readonly mode: '100755' | '120000' | '160000'; readonly content?: string };

/** A real repository in a folder of its own, which goes when the test ends. */
export class GitRepository {
  readonly folder: TempFolder;
  readonly git: Git;

  private constructor(folder: TempFolder) {
    this.folder = folder;
    this.git = new Git(folder.root);
  }

  static async create(t: TestContext): Promise<GitRepository> {
    const repository = new GitRepository(await TempFolder.create());
    t.after(() => repository.folder.remove());
    repository.run(['init', '-q', '-b', 'main']);
    repository.config('user.name', 'T');
    repository.config('user.email', 't@example.com');
    repository.config('core.autocrlf', 'false');
    repository.config('core.eol', 'lf');
    repository.config('core.safecrlf', 'false');
    return repository;
  }

  run(args: readonly string[], input: string | Uint8Array = ''): string {
    const options = { cwd: this.folder.root, input, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', args, options);
  }

  config(name: string, value: string): void {
    this.run(['config', name, value]);
  }

  /** Commits exactly these files, whatever is on disk. @returns the name of the commit. */
  commit(files: Readonly<Record<string, Committed>>, parent?: string): string {
    const names = new Map<string | Uint8Array, string>();
    const lines = Object.entries(files).map(([path, content]) => {
      const isPlain = typeof content === 'string' || content instanceof Uint8Array;
      const bytes = isPlain ? content : (content.content ?? 'x');
      const known = names.get(bytes) ?? this.run(['hash-object', '-w', '--stdin'], bytes).trim();
      names.set(bytes, known);
      return `${isPlain ? '100644' : content.mode} ${known}\t${path}\0`;
    });
    this.run(['read-tree', '--empty']);
    this.run(['update-index', '-z', '--index-info'], lines.join(''));
    const tree = this.run(['write-tree']).trim();
    const parents = parent === undefined ? [] : ['-p', parent];
    return this.run(['commit-tree', tree, ...parents, '-m', 'x']).trim();
  }

  /** Commits these files and checks them out. */
  checkedOut(files: Readonly<Record<string, Committed>>): string {
    const commit = this.commit(files);
    this.run(['reset', '-q', '--hard', commit]);
    return commit;
  }
}
