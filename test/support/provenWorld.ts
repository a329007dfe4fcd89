import * as fs from 'node:fs';
import { Emitter } from '../../src/agent/base/event.ts';
import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import { UNATTENDED } from '../../src/agent/sandbox/commands/commandPlan.ts';
import type { SandboxEngine } from '../../src/agent/sandbox/commands/sandbox.ts';
import type { Check } from '../../src/agent/sandbox/checks/check.ts';
import { Checks } from '../../src/agent/sandbox/checks/checks.ts';
import { folderState } from '../../src/agent/sandbox/checks/folderState.ts';
import type { CheckFact } from '../../src/agent/hold/preview/ledger.ts';
import type { FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import { Overlay, type PendingContents } from '../../src/agent/hold/preview/overlay.ts';
import { resultText, type AgentToolResult } from '../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { toolResult } from '../../src/agent/hold/preview/resolve/resolved.ts';
import { DiskWorkspace, withFaults } from './diskWorkspace.ts';
import { SandboxWorld } from './sandboxWorld.ts';
import { MemoryPreviewLog } from './testSession.ts';

/** How a vote of the model ended. */
export interface Voted {
  /** What the model is told. */
  readonly told: string;
  readonly state: Preview['state']['kind'] | undefined;
  /** What the ledger keeps of the checks. */
  readonly checks: readonly CheckFact[] | undefined;
}

/** *Auto if Checks Pass* on a real repository: real commands in a real sandbox decide what is written to the disk. */
export class ProvenWorld {
  readonly sandbox: SandboxWorld;
  readonly store = new PreviewStore(new MemoryPreviewLog(), error => {
    throw error;
  });
  readonly checks: Checks;
  /** Called when the files are looked at. */
  onLook: () => void = () => undefined;
  readonly rebaser: Rebaser;
  readonly #overlay = new Overlay(this.store);
  readonly #engine: SandboxEngine;
  readonly #invoker: Invoker;

  /** @param sandbox may have been used before */
  constructor(sandbox: SandboxWorld, engine: SandboxEngine, settings: readonly Partial<Check>[]) {
    this.sandbox = sandbox;
    this.#engine = engine;
    const roots = [{ name: 'workspace', fsPath: sandbox.root }];
    const disk = withFaults(new DiskWorkspace(sandbox.root), {});
    const workspace = Object.assign(disk, { unsaved: () => [] });
    this.checks = new Checks({
      store: this.store,
      workspace,
      sandboxes: sandbox.sandboxes,
      logger: silentLogger,
      stateOf: (except, signal) => {
        this.onLook();
        return folderState(roots, except, signal);
      },
      isTrusted: () => true,
      checks: () =>
        settings.map(each => ({ name: 'test', command: 'false', timeLimit: 60, isApproved: true, ...each })),
      plan: command =>
        Promise.resolve({
          command,
          folder: sandbox.root,
          shell: '/bin/sh',
          arguments: [],
          environment: UNATTENDED,
          timeLimit: 60,
        }),
      onDidChangeFiles: new Emitter<void>().event,
    });
    this.#invoker = new Invoker(this.store, workspace, () => 'checked', this.checks);
    this.rebaser = new Rebaser({ store: this.store, workspace, logger: silentLogger });
  }

  /** @param files those that are committed, all an hour old, as in a project that nobody has just cloned */
  static async create(
    engine: SandboxEngine,
    files: Readonly<Record<string, string>>,
    ...checks: readonly Partial<Check>[]
  ): Promise<ProvenWorld> {
    const sandbox = await SandboxWorld.create(engine, files);
    const old = new Date(Date.now() - 3_600_000);
    for (const name of ['.gitignore', ...Object.keys(files)]) fs.utimesSync(sandbox.at(name), old, old);
    return new ProvenWorld(sandbox, engine, checks);
  }

  /** Stages a preview of the conversation `s1`. */
  stage(...changes: readonly FileChange[]): Preview {
    return queueResolveHandler(
      { store: this.store, invoker: this.#invoker, overlay: this.#overlay, l10n: english },
      { label: 'Edit', sourceToolName: 'test', changes },
      { sessionId: 's1', asksModel: true },
    ).preview;
  }

  /** What is pending in the conversation. */
  get pending(): PendingContents {
    return this.#overlay.of('s1');
  }

  /** The model votes to apply; in a copy, which is not isolated, a person has run the checks before. */
  async vote({ id }: Preview): Promise<Voted> {
    const preview = this.store.get(id);
    if (this.#engine === 'copy' && preview) await this.checks.run(this.checks.withBase(preview), 'human');
    const told = resultText(await this.resolve(id, 'apply', 'model'));
    const { checks } = this.store.ledger().at(-1) ?? {};
    return { told, state: this.store.get(id)?.state.kind, checks };
  }

  async discard({ id }: Preview): Promise<void> {
    await this.resolve(id, 'discard', 'human');
  }

  /** Ends all but the sandbox. */
  close(): void {
    this.rebaser.dispose();
    this.checks.dispose();
  }

  async remove(): Promise<void> {
    this.close();
    await this.sandbox.remove();
  }

  async resolve(id: string, action: 'apply' | 'discard', actor: 'human' | 'model'): Promise<AgentToolResult> {
    return toolResult(await this.#invoker.resolve({ id, action, reason: 'ok', actor }));
  }
}
