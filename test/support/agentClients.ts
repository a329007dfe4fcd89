import assert from 'node:assert/strict';
import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import { AgentClient, type ClientHost, type ClientIdentity } from '../../src/agent/clients/agentClient.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from './testSession.ts';

/** A session of Redline, and what agents of other programs that connect to it work with. */
export interface AgentWorld extends TestSession {
  readonly host: ClientHost;
}

/** By default in Review, with a file `a.txt` of three lines. */
export function agentWorld(options: TestSessionOptions = {}): AgentWorld {
  const t = createTestSession({
    files: { 'a.txt': 'one\ntwo\nthree\n' },
    ...options,
    settings: { modelAuthority: 'recommend', ...options.settings },
  });
  const host: ClientHost = {
    ...t,
    overlay: new Overlay(t.store),
    l10n: english,
    logger: silentLogger,
    authority: () => t.settings.modelAuthority,
    isPlanning: () => t.session.planMode,
  };
  return { ...t, host };
}

/** An agent named `tester` that is connected, without a transport. */
export class TestAgent {
  readonly client: AgentClient;

  constructor({ host }: Pick<AgentWorld, 'host'>, identity: Partial<ClientIdentity> = {}) {
    this.client = new AgentClient(host, {
      id: 'agent-1',
      agent: { name: 'tester', version: '1.0' },
      ...identity,
    });
  }

  /** The text of a call that must succeed. */
  async ok(name: string, args: object = {}): Promise<string> {
    const { text, isError } = await this.client.call(name, args, new AbortController().signal);
    assert.equal(isError, false, text);
    return text;
  }

  /** The text of a call that must be refused. */
  async refused(name: string, args: unknown = {}): Promise<string> {
    const { text, isError } = await this.client.call(name, args, new AbortController().signal);
    assert.equal(isError, true, text);
    return text;
  }

  /** Proposes to replace a text in `a.txt`. */
  edit(old: string, replacement: string, path = 'a.txt'): Promise<string> {
    return this.ok('propose_edit', { path, edits: [{ old, new: replacement }] });
  }
}
