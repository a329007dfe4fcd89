import assert from 'node:assert/strict';
import { english } from '../../src/agent/base/localiser.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { AgentToolResult, PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import type { Preview, PreviewState } from '../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { NO_CHECKS, type Prover } from '../../src/agent/hold/preview/resolve/proof.ts';
import {
  toolResult,
  type ResolveDetails,
  type ResolveRequest,
} from '../../src/agent/hold/preview/resolve/resolved.ts';
import type { ModelAuthority } from '../../src/agent/hold/preview/resolveSettings.ts';
import { modify } from './changes.ts';
import { MemoryWorkspace } from './memoryWorkspace.ts';
import { MemoryPreviewLog } from './testSession.ts';

/** An invoker on test doubles, without a session. Its methods can be destructured. */
export class InvokerHarness {
  readonly log = new MemoryPreviewLog();
  readonly logFailures: unknown[] = [];
  readonly store = new PreviewStore(this.log, error => this.logFailures.push(error));
  readonly workspace = new MemoryWorkspace({ 'a.txt': 'a' });
  /** What proves the votes of the model where checks must. */
  prover: Prover = NO_CHECKS;
  readonly invoker = new Invoker(this.store, this.workspace, () => this.authority, {
    prove: (...asked) => this.prover.prove(...asked),
    factsOf: previews => this.prover.factsOf(previews),
  });
  /** Ids of the previews that the store told of. */
  readonly reminded: string[] = [];
  authority: ModelAuthority;

  constructor(authority: ModelAuthority = 'apply') {
    this.authority = authority;
    this.store.onDidStage(({ id }) => this.reminded.push(id));
  }

  /** Stages a preview of the conversation `s1`: an opaque one if there is only `apply`, by default the edit of `a.txt` from `a` to `A`. */
  readonly stage = (action: Partial<PendingAction> = {}): Preview => {
    const { store, invoker } = this;
    const what = action.apply ? {} : { changes: [modify('a.txt', 'a', 'A')] };
    const pending = { label: 'Edit', sourceToolName: 'test', ...what, ...action };
    const origin = { sessionId: 's1', asksModel: true };
    return queueResolveHandler(
      { store, invoker, overlay: new Overlay(store), l10n: english },
      pending,
      origin,
    ).preview;
  };

  /** Resolves `p1`; by default a human applies it because `ok`. */
  readonly resolve = async (over: Partial<ResolveRequest> = {}): Promise<AgentToolResult> =>
    toolResult(
      await this.invoker.resolve({ id: 'p1', action: 'apply', reason: 'ok', actor: 'human', ...over }),
    );

  readonly state = (id = 'p1'): PreviewState => this.store.get(id)?.state ?? assert.fail(`no preview ${id}`);

  /** The ledger, one line for each attempt. */
  readonly outcomes = (): string[] =>
    this.store.ledger().map(entry => `${entry.previewId} ${entry.action} ${entry.outcome}`);
}

export const detailsOf = (result: AgentToolResult): ResolveDetails => result.details as ResolveDetails;
