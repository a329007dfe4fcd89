import assert from 'node:assert/strict';
import type { Hold, ModeHolds } from '../../src/agent/clients/setUp/agentHolds.ts';
import { runConnected, type ConnectedRun } from './connectedRun.ts';
import type { Script } from './modelServer.ts';
import type { RealAgent } from './realAgents.ts';
import type { ReviewedWorkspace } from './reviewedWorkspace.ts';
import type { Call } from './wireFormats.ts';

const TEXT = 'line 1\nline 2\n';

/** A way to write a file, and the calls that try it, the last one of which writes. */
interface Way {
  readonly name: 'edits' | 'sed' | 'script';
  readonly file: string;
  readonly calls: readonly Call[];
}

/** What was seen of each way. */
export type Seen = Partial<Record<Way['name'], Hold>>;

/**
 * Runs an agent, connected, in one of its modes: its own edit tool, `sed -i` and a script in its shell each try to change a file.
 * @returns what became of that, or why the run was not right
 */
export async function playHolds(
  agent: RealAgent,
  run: Omit<ConnectedRun, 'tool'>,
): Promise<ModeHolds | string> {
  const seen: Seen = {};
  const tried: Way['name'][] = [];
  const onAsked = (): void => void (seen[tried.at(-1) ?? 'edits'] = 'asks');
  const why = await runConnected(
    agent,
    { ...run, tool: agent.read('').tool, onAsked },
    workspace => attempts(agent, workspace, seen, tried),
    ({ error }) => error?.message ?? (seen.script ? '' : 'the agent ended before it had tried everything'),
  );
  const { edits, sed, script } = seen;
  if (why !== '' || !edits || !sed || !script) return why;
  return { mode: run.mode, edits, sed, script, from: 'run' };
}

/** The ways to write that are tried, each on a file of its own. What the agent does not have is not called: it is held. */
function attempts(agent: RealAgent, workspace: ReviewedWorkspace, seen: Seen, tried: Way['name'][]): Script {
  const at = (name: string): string => `${workspace.folder}/${name}`;
  const ways: Way[] = [
    {
      ...{ name: 'edits', file: 'edit.txt' },
      calls: [agent.read(at('edit.txt')), agent.edit(at('edit.txt'), 'line 2', 'LINE 2')],
    },
    {
      ...{ name: 'sed', file: 'sed.txt' },
      calls: [agent.read(at('sed.txt')), agent.shell('sed -i s/line/LINE/ sed.txt')],
    },
    {
      ...{ name: 'script', file: 'script.txt' },
      calls: [
        agent.read(at('script.txt')),
        agent.shell(`node -e 'require("fs").writeFileSync("script.txt", "written")'`),
      ],
    },
  ];
  for (const { file } of ways) workspace.put(file, TEXT);
  let open: Way | undefined;
  const left: Call[] = [];
  return async (results, offers) => {
    for (;;) {
      // What could not even read was not held back.
      if (open && left.length === 1 && open.calls.length > 1)
        assert.match(results.at(-1) ?? '', /line 1/, `it cannot read: ${JSON.stringify(results.at(-1))}`);
      if (open && left.length === 0) {
        const isHeld = workspace.text(open.file) === TEXT;
        const isAsked = agent.asks.test(results.at(-1) ?? '');
        seen[open.name] = !isHeld ? 'writes' : isAsked ? 'asks' : 'held';
        open = undefined;
      }
      const call = left.shift();
      if (call) return call;
      const next = ways.shift();
      if (!next) return { text: 'Done.' };
      if (next.calls.every(({ tool }) => offers(tool))) {
        open = next;
        tried.push(next.name);
        left.push(...next.calls);
      } else seen[next.name] = 'held';
    }
  };
}
