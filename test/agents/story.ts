import assert from 'node:assert/strict';
import type { ModelServer, Script } from './modelServer.ts';
import type { RealAgent } from './realAgents.ts';
import type { ReviewedWorkspace } from './reviewedWorkspace.ts';
import type { Step } from './wireFormats.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join('');
const withLine = (text: string, line: number, now: string): string =>
  text.replace(`line ${line}\n`, `${now}\n`);

const propose = (path: string, ...edits: readonly (readonly [number, string])[]): Step => ({
  tool: 'propose_edit',
  args: { path, edits: edits.map(([line, now]) => ({ old: `line ${line}\n`, new: `${now}\n` })) },
});

const PROPOSALS: readonly Step[] = [
  propose('a.txt', [2, 'TWO']),
  propose('b.txt', [3, 'THREE'], [27, 'TWENTY-SEVEN']),
  propose('c.txt', [4, 'FOUR']),
];

/** The reason with which the third proposal is discarded. */
const REASON = 'Leave c.txt alone, it is generated.';

/** What happened in a run, step by step, as it was found to be right. */
export interface Findings {
  /** Named in the order in which they were found. */
  readonly found: Set<'shell held' | 'staged' | 'disk unchanged' | 'decided' | 'edit survived' | 'told'>;
}

/**
 * An edit by the agent's own shell, which must not reach the disk, if it has a shell at all. Then three proposals, of which the user applies one, applies one hunk of another, and discards the third with a reason, after typing
 * into the first file. Then the agent asks for the status, and what its model is sent is compared with what was decided.
 */
export function story(
  workspace: ReviewedWorkspace,
  { shell }: Pick<RealAgent, 'shell'>,
  { found }: Findings,
): Script {
  for (const name of ['a.txt', 'b.txt', 'c.txt']) workspace.put(name, LINES);
  const write = shell('sed -i s/line/LINE/ a.txt');
  return async (all, offers) => {
    const hasShell = offers(write.tool);
    if (hasShell && all.length === 0) return write;
    const results = hasShell ? all.slice(1) : all;
    if (results.length === 0) {
      assert.equal(workspace.text('a.txt'), LINES, 'the shell wrote a.txt');
      found.add('shell held');
    }
    const proposal = PROPOSALS[results.length];
    if (proposal) {
      if (results.length > 0) assert.match(results.at(-1) ?? '', /not on disk, not decided yet/);
      return proposal;
    }
    if (results.length === PROPOSALS.length) {
      await decide(workspace, found);
      return { tool: 'status', args: {} };
    }
    if (results.length === PROPOSALS.length + 1) {
      assertTold(results.at(-1) ?? '');
      found.add('told');
    }
    return { text: 'Done.' };
  };
}

async function decide(workspace: ReviewedWorkspace, found: Findings['found']): Promise<void> {
  const open = [...workspace.store.open];
  assert.deepEqual(
    open.map(({ changes }) => changes?.map(({ path }) => path).join()),
    ['a.txt', 'b.txt', 'c.txt'],
  );
  found.add('staged');
  for (const name of ['a.txt', 'b.txt', 'c.txt'])
    assert.equal(workspace.text(name), LINES, `${name} changed`);
  found.add('disk unchanged');
  await workspace.userWrites('a.txt', withLine(LINES, 29, 'typed by the user'));
  await workspace.vote('p1', 'apply', 'Applied by the user.');
  await workspace.applyHunk('p2', 'b.txt', 0);
  await workspace.vote('p3', 'discard', REASON);
  assert.equal(workspace.text('b.txt'), withLine(LINES, 3, 'THREE'));
  assert.equal(workspace.text('c.txt'), LINES);
  found.add('decided');
  assert.equal(workspace.text('a.txt'), withLine(withLine(LINES, 29, 'typed by the user'), 2, 'TWO'));
  found.add('edit survived');
}

/** What the model is sent must tell each decision, with the reason, and what is still pending. */
function assertTold(result: string): void {
  assert.match(result, /Since your last call:/);
  assert.match(result, /p1 \([^\n]*\) was rebased onto the current file/);
  assert.match(result, /The user applied p1 \(/);
  assert.match(
    result,
    /The user applied p4 \([^\n]*b\.txt[^\n]*, hunk 1\), a part of p2\.[^\n]*This one is right\./,
  );
  assert.match(result, /The user discarded p3 \([^\n]*\)\.[^\n]*Leave c\.txt alone, it is generated\./);
  assert.match(result, /Pending:[^]*p2/);
}

/** Why a run is not right; empty if it is. */
export function failureOf({ found }: Findings, server: ModelServer): string {
  if (server.error) return server.error.message;
  return found.has('told') ? '' : 'the agent ended before its model was told what was decided';
}
