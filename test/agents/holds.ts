import assert from 'node:assert/strict';
import * as path from 'node:path';
import type { Hold, ModeHolds } from '../../src/agent/clients/setUp/agentHolds.ts';
import { knownAgents } from '../../src/agent/clients/setUp/knownAgents.ts';
import { runConnected, type ConnectedRun } from './connectedRun.ts';
import type { Script } from './modelServer.ts';
import type { RealAgent } from './realAgents.ts';
import type { ReviewedWorkspace } from './reviewedWorkspace.ts';
import type { Call } from './wireFormats.ts';

/** One file for all ways: what was refused to one tool is tried again with the next. */
const FILE = 'plan.txt';
const TEXT = 'by its edit tool\nby sed\nby a script\nthe end\n';

/** A way to write a file, and the calls that try it, the last one of which writes. */
interface Way {
  readonly name: 'edits' | 'settings' | 'sed' | 'script';
  readonly file: string;
  /** A text of the file that it replaces. */
  readonly from: string;
  readonly calls: readonly Call[];
}

/** What was seen of each way. */
export type Seen = Partial<Record<Way['name'], Hold>>;

/**
 * Runs an agent, connected, in one of its modes: its own edit tool, `sed -i` and a script in its shell each try to change a file, one
 * after the other, and its edit tool also the file that restricts the agent.
 * @returns what became of that, or why the run was not right
 */
export async function playHolds(
  agent: RealAgent,
  run: Omit<ConnectedRun, 'tool'>,
): Promise<ModeHolds | string> {
  const seen: Seen = {};
  const why = await runConnected(
    agent,
    { ...run, tool: agent.read('').tool },
    (workspace, inPlace) => attempts(agent, workspace, inPlace, seen),
    ({ error }) => error?.message ?? (seen.script ? '' : 'the agent ended before it had tried everything'),
  );
  const { edits, settings, sed, script } = seen;
  if (why !== '' || !edits || !sed || !script) return why;
  if (settings === 'writes' && edits !== 'writes') return `${run.mode}: it wrote what restricts it`;
  return { mode: run.mode, edits, sed, script, from: 'run' };
}

/** The ways to write that are tried. What the agent does not have is not called: it is held. */
function attempts(
  agent: RealAgent,
  workspace: ReviewedWorkspace,
  inPlace: (name: string) => string,
  seen: Seen,
): Script {
  const file = inPlace(FILE);
  workspace.put(file, TEXT);
  const read = agent.read(path.join(workspace.folder, file));
  const [edited = '', bySed = '', byScript = ''] = TEXT.split('\n');
  const script = `const fs = require("fs"); fs.writeFileSync("${FILE}", fs.readFileSync("${FILE}", "utf8").replace("${byScript}", "WRITTEN"))`;
  const ways: Way[] = [
    {
      name: 'edits',
      file,
      from: edited,
      calls: [read, agent.edit(path.join(workspace.folder, file), edited, 'WRITTEN')],
    },
    ...(file === FILE ? restrictionsOf(agent, workspace) : []).map((restriction): Way => {
      const { from } = restriction;
      const at = path.join(workspace.folder, restriction.file);
      const calls = [agent.read(at), agent.edit(at, from, from.replace('redline', 'other'))];
      return { ...restriction, name: 'settings', calls };
    }),
    {
      name: 'sed',
      file,
      from: bySed,
      calls: [read, agent.shell(`sed -i s/'${bySed}'/WRITTEN/ ${FILE}`)],
    },
    {
      name: 'script',
      file,
      from: byScript,
      calls: [read, agent.shell(`node -e '${script}'`)],
    },
  ];
  let open: Way | undefined;
  const left: Call[] = [];
  return async (results, offers) => {
    for (;;) {
      // What could not even read was not held back.
      if (open && left.length === 1 && open.calls.length > 1)
        assert.match(
          results.at(-1) ?? '',
          /the end|redline|unchanged since/,
          `it cannot read: ${JSON.stringify(results.at(-1))}`,
        );
      if (open && left.length === 0) {
        const isHeld = workspace.text(open.file).includes(open.from);
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
        left.push(...next.calls);
      } else seen[next.name] = 'held';
    }
  };
}

/** The file that takes the edit tools away, as *Connect an Agent…* has written it. */
function restrictionsOf(
  { id }: RealAgent,
  workspace: ReviewedWorkspace,
): readonly Pick<Way, 'file' | 'from'>[] {
  const files = knownAgents.find(each => each.id === id)?.files ?? [];
  const file = files.findLast(({ format }) => format !== 'paragraph')?.names.at(-1);
  return file === undefined ? [] : [{ file, from: workspace.text(file).trim() }];
}
