import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type { CommandPlan } from '../../src/agent/sandbox/commands/commandPlan.ts';
import type { SandboxEnd, SandboxEngine, Sandboxes } from '../../src/agent/sandbox/commands/sandbox.ts';
import { createSandboxes, type SandboxesOptions } from '../../src/agent/sandbox/view/sandboxes.ts';
import type { FileContent } from '../../src/agent/hold/preview/workspace.ts';
import type { Blobs } from '../../src/agent/hold/preview/blobs.ts';
import type { PendingContents } from '../../src/agent/hold/preview/overlay.ts';
import { sideOfText, type FileSide } from '../../src/agent/hold/preview/fileChange.ts';
import { TempFolder } from './tempFolder.ts';
import { pendingSides } from './pendingSides.ts';

/** How a command of a test ended, with the changes as text: `path`, `old path → path` and what was there before and after. */
export interface Ran extends SandboxEnd {
  readonly output: string;
  readonly changes: readonly string[];
}

export interface RunOptions {
  /** What pending previews make of files, by workspace path. */
  readonly pending?: Readonly<Record<string, string | FileSide | null>>;
  /** The contents of binary ones. */
  readonly blobs?: Blobs;
  /** What is pending instead of that. */
  readonly contents?: PendingContents;
  readonly signal?: AbortSignal;
  /** Called with what the command has written so far. */
  readonly onOutput?: (output: string) => void;
  readonly plan?: Partial<CommandPlan>;
}

/** A repository on disk, and sandboxes on it. */
export class SandboxWorld {
  readonly temp: TempFolder;
  readonly root: string;
  readonly sandboxes: Sandboxes;

  private constructor(temp: TempFolder, options: Partial<SandboxesOptions>) {
    this.temp = temp;
    this.root = temp.at('work space');
    this.sandboxes = createSandboxes({
      folders: () => [{ name: 'work space', fsPath: this.root }],
      storage: temp.at('storage', 'sandbox'),
      engine: () => 'auto',
      limits: () => ({ bytes: 1e9, files: 100_000 }),
      variables: () => [],
      readable: () => [],
      logger: silentLogger,
      ...options,
    });
  }

  /** @param files by path, committed to git; `null` for a repository without git */
  static async create(
    engine: SandboxEngine | 'auto',
    files: Readonly<Record<string, string>> = {},
    options: Partial<SandboxesOptions> = {},
  ): Promise<SandboxWorld> {
    const temp = await TempFolder.create();
    const world = new SandboxWorld(temp, { engine: () => engine, ...options });
    fs.mkdirSync(world.root);
    world.write({ '.gitignore': 'node_modules/\nout/\n*.log\n', ...files });
    world.git('init', '-q', '--template=');
    world.git('add', '.');
    world.git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
    return world;
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.root, encoding: 'utf8' });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(this.at(name)), { recursive: true });
      fs.writeFileSync(this.at(name), text);
    }
  }

  at(name: string): string {
    return path.join(this.root, name);
  }

  read(name: string): string | undefined {
    return fs.existsSync(this.at(name)) ? fs.readFileSync(this.at(name), 'utf8') : undefined;
  }

  /** Runs a command in the sandbox of the conversation `s1`. */
  async run(command: string, options: RunOptions = {}): Promise<Ran> {
    const { pending = {}, blobs, signal, onOutput, plan } = options;
    const sandbox = await this.sandboxes.of('s1');
    if (!sandbox) throw new Error(`There is no sandbox: ${JSON.stringify(await this.sandboxes.status())}`);
    let output = '';
    const sides = Object.entries(pending).map(
      ([name, content]) => [name, typeof content === 'string' ? sideOfText(content) : content] as const,
    );
    const contents = options.contents ?? pendingSides(() => Object.fromEntries(sides), blobs);
    const end = await sandbox.run(
      {
        command,
        folder: this.root,
        shell: '/bin/sh',
        arguments: [],
        environment: {},
        timeLimit: 60,
        ...plan,
      },
      contents,
      {
        signal: signal ?? new AbortController().signal,
        add: chunk => {
          output += chunk;
          onOutput?.(output);
        },
      },
    );
    const text = (content: FileContent | null): string =>
      !content ? '∅' : 'link' in content ? `→ ${content.link}` : Buffer.from(content).toString().trim();
    const changes = end.effects.map(({ path: name, from, base, theirs, mode }) => {
      const bits = mode === undefined ? '' : ` ${mode.toString(8)}`;
      const moved = from === undefined ? name : `${from} → ${name}`;
      return `${moved}${bits}: ${text(base)} => ${text(theirs)}`;
    });
    return { ...end, output, changes: changes.sort() };
  }

  async remove(): Promise<void> {
    await this.sandboxes.dispose();
    await this.temp.remove();
  }
}

/** The engines that this machine has: a copy everywhere, an overlay where the system allows it. */
export async function enginesHere(): Promise<readonly SandboxEngine[]> {
  const world = await SandboxWorld.create('overlay');
  const { engine } = await world.sandboxes.status();
  await world.remove();
  return engine ? ['overlay', 'copy'] : ['copy'];
}

/** The bytes of a content, which must be a file; none where there is nothing. */
export function bytesIn(content: FileContent | null): Buffer {
  if (content && 'link' in content) throw new Error('It is a link.');
  return Buffer.from(content ?? []);
}
