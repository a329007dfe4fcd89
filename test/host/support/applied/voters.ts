import * as assert from 'node:assert/strict';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { openWindows, windowsFolder } from '../../../../src/agent/clients/windowFiles.ts';
import type { RedlineApi } from '../../../../src/views/api.ts';
import { McpAgent } from '../../../support/mcpClients.ts';
import type { Reply } from '../../../support/scriptedServer.ts';
import { connect } from '../connect.ts';
import { setting } from '../redline.ts';
import type { Round } from './rounds.ts';

/** The change of one round. */
export interface Wanted {
  readonly what: Round['subject']['what'];
  readonly path: string;
  /** The new path of a rename. */
  readonly to: string;
  readonly old: string;
  readonly new: string;
}

/** Lets the vote begin. Settles with the id of the preview once that has ended, whatever came of it. */
export type Vote = () => Promise<string>;

const REASON = 'It is right.';
/** A vote on what a key has made stale is made again, as people do. */
const MAX_VOTES = 3;

/** What the model answers next. */
interface Model {
  answer: (isForced: boolean) => Reply | Promise<Reply>;
}

/** All who have changes applied: a person, the model in Auto, an agent of another program. */
export class Voters {
  readonly #api: RedlineApi;
  readonly #agent: McpAgent;
  readonly #close: () => Promise<void>;
  readonly #model: Model;

  private constructor(api: RedlineApi, agent: McpAgent, model: Model, close: () => Promise<void>) {
    this.#api = api;
    this.#agent = agent;
    this.#model = model;
    this.#close = close;
  }

  static async start(api: RedlineApi): Promise<Voters> {
    const model: Model = { answer: () => ({ text: 'Done.' }) };
    const server = await connect(request => model.answer(request.body.tool_choice !== undefined), {
      modelAuthority: 'apply',
    });
    await setting('preview.open', 'never');
    await setting('session.continueAfterReview', false);
    await setting('agents.enabled', true);
    const ownWindow = async () =>
      (await openWindows(windowsFolder(homedir()))).find(({ pid }) => pid === process.pid);
    const agent = await McpAgent.to(await polled('the window to be announced', ownWindow));
    return new Voters(api, agent, model, async () => {
      await agent.client.close();
      await server.close();
      assert.deepEqual(server.violations, []);
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Stages a change, and tells how it comes to its vote. */
  async prepare({ by }: Round['subject'], wanted: Wanted): Promise<Vote> {
    if (wanted.what === 'undo') return this.#undo(wanted);
    if (by === 'model') return this.#modelVotes(wanted);
    const id = await this.#staged(wanted);
    if (by === 'agent')
      return this.#votes(id, () => this.#agent.call('resolve', { id, action: 'apply', reason: REASON }));
    if (by === 'click')
      return this.#votes(id, () => vscode.commands.executeCommand('redline.preview.apply', id));
    this.#api.previews.push({
      label: 'beside',
      changes: [{ path: `${wanted.path}.beside`, before: null, after: 'beside\n' }],
    });
    return this.#votes(id, () => vscode.commands.executeCommand('redline.preview.applyAll'));
  }

  /** Makes a vote again while it fails. */
  #votes(id: string, vote: () => Thenable<unknown>): Vote {
    return async () => {
      for (let n = 0; n < MAX_VOTES && this.#api.previews.get(id)?.state === 'pending'; n++) {
        await this.#untilFresh(id);
        await Promise.resolve(vote()).catch(() => undefined);
      }
      return id;
    };
  }

  /** Settles once the preview fits its file again, or it seems that it never will. */
  async #untilFresh(id: string): Promise<void> {
    const isFresh = () => this.#api.previews.get(id)?.stale !== true;
    await polled('a fresh preview', isFresh, 300).catch(() => undefined);
  }

  /** Stages a change as an agent does. */
  async #staged({ what, path, to, old, new: next }: Wanted): Promise<string> {
    const edits = { path, edits: [{ old, new: next }] };
    const change = {
      modify: edits,
      undo: edits,
      rename: { path, renameTo: to },
      delete: { path, delete: true },
    }[what];
    await this.#agent.ok('propose_changes', { changes: [change] });
    return this.#newest(path, to);
  }

  #newest(path: string, to: string): string {
    const own = this.#api.previews
      .list()
      .filter(({ files }) => files.some(file => file.path === path || file.path === to));
    return own[0]?.id ?? assert.fail(`a preview of ${path} is pending`);
  }

  /** Applies the change while nobody types, so that it can be undone. */
  async #undo(wanted: Wanted): Promise<Vote> {
    const id = await this.#staged(wanted);
    await vscode.commands.executeCommand('redline.preview.apply', id);
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.path.endsWith(wanted.path));
    await polled('the editor to follow', () => document?.getText().includes(wanted.new));
    return async () => {
      const known = this.#api.previews.ledger().length;
      await Promise.resolve(vscode.commands.executeCommand('redline.preview.undo', id)).catch(
        () => undefined,
      );
      const [pending] = this.#api.previews.list();
      const undo =
        pending?.id ?? this.#api.previews.ledger().slice(known).at(-1)?.previewId ?? assert.fail('undone');
      return this.#votes(undo, () => vscode.commands.executeCommand('redline.preview.apply', undo))();
    };
  }

  async #modelVotes({ what, path, to, old, new: next }: Wanted): Promise<Vote> {
    const call = {
      modify: { name: 'edit_file', arguments: { path, edits: [{ old, new: next }] } },
      undo: { name: 'edit_file', arguments: { path, edits: [{ old, new: next }] } },
      rename: { name: 'rename_file', arguments: { from: path, to } },
      delete: { name: 'delete_file', arguments: { path } },
    }[what];
    let n = 0;
    let begin = (): void => undefined;
    const begun = new Promise<void>(resolve => (begin = resolve));
    let asked = (): void => undefined;
    const staged = new Promise<void>(resolve => (asked = resolve));
    this.#model.answer = async isForced => {
      if (n++ === 0) return { toolCalls: [call] };
      asked();
      await begun;
      return isForced
        ? { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: REASON } }] }
        : { text: 'Done.' };
    };
    const turn = this.#api.session.prompt('Change it.');
    await staged;
    const id = this.#newest(path, to);
    return async () => {
      begin();
      await turn;
      return id;
    };
  }
}
