import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { ToolError } from '../../../src/agent/base/errors.ts';
import { isOpen, revisionsOf } from '../../../src/agent/hold/preview/preview.ts';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { undoAction } from '../../../src/agent/hold/preview/undo.ts';
import type { ScriptedTurn } from '../scriptedProvider.ts';
import { randomCall, randomPath, type Known } from './calls.ts';
import { EventLoopWatch, type Blockage } from './eventLoop.ts';
import { openWorld, type Workers } from './fuzzWorld.ts';
import { Random } from './random.ts';
import { differences, makeSandbox, TreeReader, type Sandbox, type Tree } from './sandbox.ts';

/** Blockages of the event loop up to this long, in milliseconds, count as none. */
export const LIMIT_MS = 50;

export interface FuzzReport {
  calls: number;
  applied: number;
  /** How many calls of each tool there were, and how many ended in an error for the model. */
  readonly tools: Map<string, { calls: number; errors: number }>;
  /** What must never happen, each with the seed of its world. */
  readonly violations: string[];
  readonly blockages: Blockage[];
}

export interface FuzzOptions {
  readonly seed: number;
  readonly calls: number;
  readonly workers: Workers;
  /** The folder of a VS Code whose ripgrep searches; otherwise files are searched in this process. */
  readonly appRoot?: string | undefined;
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Lets a model call all tools at random in one sandbox, while a user votes, undoes, reverts and edits files. */
export async function fuzz(
  { seed, calls, workers, appRoot }: FuzzOptions,
  report: FuzzReport,
): Promise<void> {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'redline-fuzz-')));
  const run = new FuzzRun(seed, makeSandbox(root), report);
  const onRejection = (error: unknown): void =>
    run.violate(`unhandled: ${String((error as Error)?.stack ?? error)}`);
  process.on('unhandledRejection', onRejection);
  try {
    await run.play(calls, workers, appRoot);
  } finally {
    process.off('unhandledRejection', onRejection);
    fs.rmSync(root, { recursive: true, force: true });
  }
}

export const emptyReport = (): FuzzReport => ({
  calls: 0,
  applied: 0,
  tools: new Map(),
  violations: [],
  blockages: [],
});

class FuzzRun {
  readonly #seed: number;
  readonly #random: Random;
  readonly #sandbox: Sandbox;
  readonly #report: FuzzReport;
  readonly #reader = new TreeReader();
  readonly #outside: Tree;
  readonly #watch = new EventLoopWatch(LIMIT_MS);
  #inside: Tree;
  /** How many entries of the ledger are accounted for. */
  #entries = 0;
  #paths: string[] = [];
  #left = 0;
  /** Turns of the model that come before the random ones. */
  #script: ScriptedTurn[] = [];

  constructor(seed: number, sandbox: Sandbox, report: FuzzReport) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#sandbox = sandbox;
    this.#report = report;
    this.#outside = this.#readOutside();
    this.#inside = this.#reader.read(sandbox.workspace);
  }

  violate(sentence: string): void {
    this.#report.violations.push(`[SEED=${this.#seed}] ${sentence}`);
  }

  async play(calls: number, workers: Workers, appRoot = '/nowhere'): Promise<void> {
    const random = this.#random;
    let turns = 0;
    const world = await openWorld(this.#sandbox, {
      workers,
      appRoot,
      script: () => {
        const fixed = this.#script.shift();
        if (fixed) return fixed;
        if (turns-- <= 0) return { text: 'Done.' };
        const toolCalls = random.list(1, 8, () => randomCall(random, this.#known(world)));
        this.#left -= toolCalls.length;
        this.#watch.during = JSON.stringify(toolCalls.map(call => [call.name, call.arguments])).slice(
          0,
          3_000,
        );
        return { toolCalls };
      },
    });
    world.session.onDidEmit(event => {
      if (event.type !== 'tool_end') return;
      const { name } = event.call;
      const tool = this.#report.tools.get(name) ?? { calls: 0, errors: 0 };
      tool.calls++;
      if (event.result.isError) tool.errors++;
      this.#report.tools.set(name.slice(0, 20), tool);
      this.#report.calls++;
    });
    await this.#warmUp(world);
    await this.#watch.open();
    this.#left = calls;
    try {
      for (let round = 0; this.#left > 0; round++) {
        if (round % 12 === 11) await this.#watched('new', () => world.session.new());
        turns = 1 + random.below(4);
        await this.#watched('prompt', () => world.session.prompt(`Prompt ${round}`));
        this.#check(world, 'a turn');
        for (let deeds = random.below(4); deeds > 0; deeds--) await this.#deed(world);
        if (round % 40 === 39)
          await this.#watched('forget', () => world.store.forgetResolved(new Date(Date.now() + 1_000)));
      }
    } finally {
      world.dispose();
      this.#report.blockages.push(...(await this.#watch.finish()));
    }
    this.#report.applied += world.store.ledger().filter(({ outcome }) => outcome === 'applied').length;
  }

  /** Loads what is loaded on first use, which takes longer from source than from the bundle. */
  async #warmUp({ session, store, invoker, rebaser, settings }: World): Promise<void> {
    const calls = [
      { name: 'write_file', arguments: { path: 'new/warm.ts', content: 'foo(1, 2)\nb\nc\nd\ne\nf\ng\nh\n' } },
      {
        name: 'edit_file',
        arguments: {
          path: 'b.txt',
          edits: [
            { old: 'line 7\n', new: 'x\n' },
            { old: 'line 27\n', new: '' },
          ],
        },
      },
      { name: 'edit_file', arguments: { path: 'b.txt', edits: [{ old: 'line', new: 'x' }] } },
      { name: 'ast_edit', arguments: { ops: [{ pat: 'foo($A, $B)', out: 'bar($B)' }], paths: ['src'] } },
      { name: 'search_text', arguments: { query: 'l.ne', isRegex: true, glob: '**/*.txt' } },
      { name: 'list_files', arguments: { glob: '**/*.ts' } },
      { name: 'read_file', arguments: { path: 'utf16le.txt' } },
      { name: 'read_file', arguments: { path: 'latin1.txt' } },
    ];
    this.#script = [{ toolCalls: calls }];
    await session.prompt('Warm up.');
    const human = { reason: 'r', actor: 'human' } as const;
    const parts = store.all().find(({ label }) => label.startsWith('Edit b.txt'));
    if (parts) {
      const vote = { ...human, id: parts.id, revision: parts.revision, action: 'discard' as const };
      await resolvePart({ store, invoker }, vote, { path: 'b.txt', hunk: 0 });
    }
    for (const { id } of store.list('oldestFirst'))
      await invoker.resolve({ ...human, id, action: 'discard' });
    await session.revert({ category: null, target: null, summary: null });
    await rebaser.refresh([]);
    settings.modelAuthority = 'apply';
    this.#entries = store.ledger().length;
  }

  /** What the user does between turns. */
  async #deed(world: World): Promise<void> {
    const random = this.#random;
    const { store, invoker, session, settings, rebaser } = world;
    const open = store.list('oldestFirst').filter(isOpen);
    const one = open.length > 0 ? random.pick(open) : undefined;
    const human = { reason: 'r', actor: 'human' } as const;
    const kind = random.below(12);
    const deed = async (): Promise<unknown> => {
      switch (kind) {
        case 0:
        case 1:
        case 2:
        case 3:
          if (!one) return;
          return invoker.resolve({
            ...human,
            id: one.id,
            action: 'apply',
            chain: revisionsOf(store.open.blockersOf(one)),
          });
        case 4:
          return one && invoker.resolve({ ...human, id: one.id, action: 'discard' });
        case 5:
          for (const { id } of open) await invoker.resolve({ ...human, id, action: 'discard' });
          return;
        case 6: {
          const change = one?.changes && random.pick(one.changes);
          if (!one || !change) return;
          const { id, revision } = one;
          const vote = { ...human, id, revision, action: random.pick(['apply', 'discard'] as const) };
          const part = { path: change.path, ...(random.chance(0.7) ? { hunk: random.below(3) } : {}) };
          return resolvePart(world, { ...vote, chain: revisionsOf(store.open.blockersOf(one)) }, part);
        }
        case 7: {
          const applied = store.all().filter(({ state }) => state.kind === 'applied');
          const action = applied.length > 0 ? undoAction(random.pick(applied)) : undefined;
          return action && session.stageForUser(action);
        }
        case 8: {
          const target = random.chance(0.1) ? null : random.below(session.tree.nextId + 1);
          const category = target === null ? null : random.pick([null, 'failure', 'completion'] as const);
          return session.revert({ category, target, summary: random.chance(0.3) ? 'sum' : null });
        }
        case 9:
          return session.setPlanMode(random.chance(0.3));
        case 10:
          settings.modelAuthority = random.pick(['apply', 'apply', 'recommend', 'none'] as const);
          settings.forcing = random.pick(['forced', 'off'] as const);
          return;
        default:
          return;
      }
    };
    await this.#watched(`deed ${kind} ${one?.label.slice(0, 200) ?? ''}`, async () => {
      try {
        await deed();
      } catch (error) {
        if (!(error instanceof ToolError)) this.violate(`deed ${kind}: ${String((error as Error).stack)}`);
      }
      await rebaser.refresh([]);
    });
    this.#check(world, `deed ${kind}`);
    if (kind === 11) {
      this.#editByUser();
      await this.#watched('files changed', () => rebaser.filesChanged(['a.txt', 'b.txt', 'src/app.ts']));
      this.#check(world, 'a rebase');
    }
  }

  /** The user changes a file outside of Redline. */
  #editByUser(): void {
    const file = path.join(this.#sandbox.workspace, this.#random.pick(['a.txt', 'b.txt', 'src/app.ts']));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (fs.existsSync(file) && !fs.statSync(file).isFile()) return;
    fs.writeFileSync(
      file,
      `${fs.existsSync(file) ? fs.readFileSync(file, 'utf8').slice(0, 2_000) : ''}typed\n`,
    );
    this.#inside = this.#reader.read(this.#sandbox.workspace);
  }

  async #watched(what: string, work: () => Promise<unknown>): Promise<void> {
    this.#watch.during = what;
    this.#watch.start();
    try {
      await work();
    } finally {
      this.#watch.stop();
    }
  }

  #known({ store, session }: World): Known {
    const ids = store.all().map(({ id }) => id);
    const known = {
      folder: this.#sandbox.workspace,
      previewIds: ids.slice(-12),
      nodes: session.tree.nextId,
      paths: this.#paths,
    };
    if (this.#random.chance(0.2)) this.#paths = [...this.#paths, randomPath(this.#random, known)].slice(-10);
    return known;
  }

  #readOutside(): Tree {
    return this.#reader.read(this.#sandbox.root, ['workspace', 'storage']);
  }

  /** Everything that has changed on disk must be in the ledger, and nothing outside may have changed. */
  #check({ store, errors }: World, after: string): void {
    const { workspace } = this.#sandbox;
    for (const error of errors.splice(0)) this.violate(`logged after ${after}: ${error.slice(0, 1_500)}`);
    const now = this.#reader.read(workspace);
    const entries = store.ledger().slice(this.#entries);
    this.#entries = store.ledger().length;
    const explained = new Map<string, Set<string | null>>();
    for (const { outcome, actor, files, previewId } of entries) {
      if (outcome !== 'applied') continue;
      for (const file of files) {
        const real = realPlace(workspace, file.path);
        if (actor === 'model' && isProtectedPlace(real))
          this.violate(
            `the model applied ${previewId} in the protected place ${JSON.stringify(real)} after ${after}`,
          );
        explained.set(real, (explained.get(real) ?? new Set()).add(file.after));
      }
    }
    for (const at of differences(this.#inside, now)) {
      const [content] = now.get(at)?.split(' ') ?? [];
      const isFolder = [...[this.#inside, now]].every(tree => tree.get(at)?.startsWith('folder') ?? true);
      const isAbove = [...explained.keys()].some(known => known.startsWith(`${at}/`));
      // Where a file was moved into a folder of its own name, it is gone, and the folder is above it.
      const isMovedBelow = isAbove && content === 'folder' && explained.get(at)?.has(null) === true;
      const isExplained = isFolder
        ? isAbove
        : isMovedBelow || explained.get(at)?.has(content ?? null) === true;
      if (!isExplained)
        this.violate(
          `${JSON.stringify(at)} changed without a ledger line after ${after}: ${this.#inside.get(at)} to ${now.get(at)}`,
        );
    }
    this.#inside = now;
    for (const at of differences(this.#outside, this.#readOutside()))
      this.violate(`${JSON.stringify(at)} outside the workspace changed after ${after}`);
  }
}

/** Written down again here, for the places that a sandbox has: the rule of the extension is what is tested. */
function isProtectedPlace(real: string): boolean {
  const folded = real.normalize('NFKC').toLowerCase();
  // `CLAUDE.md` is a link to the first one, the other two are settings.
  if (folded === 'b.txt' || folded === 'src/style.css' || folded.startsWith('tools/')) return true;
  return folded
    .split('/')
    .some(name =>
      /^(\.git.*|\.vscode|\.redline|\.husky|\.envrc|agents\.md|claude\.md|.*\.code-workspace)$/.test(name),
    );
}

/** Where the bytes of a workspace path are, relative to the workspace. */
function realPlace(workspace: string, name: string): string {
  const file = path.join(workspace, name);
  for (let at = file; at.length > workspace.length; at = path.dirname(at)) {
    try {
      return path.relative(workspace, path.join(fs.realpathSync(at), path.relative(at, file)));
    } catch {
      // It does not exist: look further up.
    }
  }
  return name;
}
