import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import { McpHttpServer } from '../../src/agent/clients/mcp/httpServer.ts';
import { announceWindow, windowsFolder } from '../../src/agent/clients/windowFiles.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import { openPreviewLog } from '../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../../src/agent/hold/preview/resolve/resolvePart.ts';
import { builtInTools } from '../../src/agent/session/tools/builtIn.ts';
import { DiskWorkspace } from '../support/diskWorkspace.ts';
import { resolvedText } from '../../src/agent/hold/preview/resolve/resolved.ts';

/** The core of Redline on a folder, with the MCP server of a window, which `redline-mcp` finds in `home`. */
export class ReviewedWorkspace {
  readonly folder: string;
  readonly store: PreviewStore;
  readonly #invoker: Invoker;
  readonly #rebaser: Rebaser;
  readonly #server: McpHttpServer;

  private constructor(
    folder: string,
    store: PreviewStore,
    invoker: Invoker,
    rebaser: Rebaser,
    server: McpHttpServer,
  ) {
    this.folder = folder;
    this.store = store;
    this.#invoker = invoker;
    this.#rebaser = rebaser;
    this.#server = server;
  }

  static async open(root: string, home: string): Promise<ReviewedWorkspace> {
    mkdirSync(path.join(root, 'workspace'), { recursive: true });
    const folder = realpathSync(path.join(root, 'workspace'));
    const workspace = new DiskWorkspace(folder);
    const store = new PreviewStore(openPreviewLog(path.join(root, 'previews.jsonl')), error =>
      assert.fail(String(error)),
    );
    const invoker = new Invoker(store, workspace, () => 'recommend');
    const rebaser = new Rebaser({ store, workspace, logger: silentLogger });
    const host = {
      store,
      invoker,
      workspace,
      overlay: new Overlay(store),
      tools: builtInTools({}),
      logger: silentLogger,
    };
    const server = await McpHttpServer.start(
      { ...host, l10n: english, authority: () => 'recommend', isPlanning: () => false },
      '0.0.0',
    );
    await announceWindow(windowsFolder(home), {
      ...server.address,
      pid: process.pid,
      folders: [folder],
      keepsPreviews: true,
      startedAt: new Date().toISOString(),
    });
    return new ReviewedWorkspace(folder, store, invoker, rebaser, server);
  }

  put(name: string, text: string): void {
    mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    writeFileSync(path.join(this.folder, name), text);
  }

  text(name: string): string {
    return readFileSync(path.join(this.folder, name), 'utf8');
  }

  /** The user types into a file and saves it. */
  async userWrites(name: string, text: string): Promise<void> {
    this.put(name, text);
    await this.#rebaser.filesChanged([name]);
  }

  preview(id: string): Preview {
    return this.store.get(id) ?? assert.fail(`there is no preview ${id}`);
  }

  async vote(id: string, action: 'apply' | 'discard', reason: string): Promise<string> {
    const { revision } = this.preview(id);
    return resolvedText(await this.#invoker.resolve({ id, revision, action, reason, actor: 'human' }));
  }

  async applyHunk(id: string, path: string, hunk: number): Promise<void> {
    const { revision } = this.preview(id);
    const request = {
      id,
      revision,
      action: 'apply' as const,
      reason: 'This one is right.',
      actor: 'human' as const,
    };
    await resolvePart({ store: this.store, invoker: this.#invoker }, request, { path, hunk });
  }

  async close(): Promise<void> {
    await this.#server.close();
    this.#rebaser.dispose();
    await this.store.close();
  }
}
