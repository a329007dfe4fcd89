/**
 * The conversation tree: appending, the trunk and reverts at several sizes, its rows in the History view, and loading a stored
 * session from its file.
 * Medians. `npm run bench -- tree`
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { silentLogger } from '../src/agent/base/logger.ts';
import { ConversationTree } from '../src/agent/session/conversation/conversationTree.ts';
import { renderTrunk } from '../src/agent/session/conversation/renderTrunk.ts';
import type { RevertRecord } from '../src/agent/session/conversation/revert.ts';
import type { SessionLogEntry } from '../src/agent/session/conversation/storage/sessionEntry.ts';
import { SessionLogs } from '../src/agent/session/conversation/storage/sessionLogs.ts';
import { validateRevert } from '../src/agent/session/conversation/validateRevert.ts';
import type { SessionMessage } from '../src/agent/session/model/messages.ts';
import { branchesOf } from '../src/views/chat/history/branches.ts';
import { median, type Bench } from './lib/bench.ts';
import { longestWait } from './lib/longestWait.ts';

/** The sizes that are compared, in nodes. */
const SMALL = 1_000;
const LARGE = 100_000;
const HUGE = 1_000_000;
/** The number of nodes that a measured revert abandons. */
const DISTANCE = 20;
/** An append or a revert may take at most this many times as long in a large tree as in a small one. */
const FLAT = 5;
const TRUNK_MS = 1;
const LOAD_MS = 100;
/** The longest that anything may block the extension host. */
const WAIT_MS = 50;

/** A message of a session: sometimes a prompt, otherwise a tool call or a result. */
function messageAt(i: number): SessionMessage {
  const turn = i % 20;
  if (turn === 0) return { role: 'user', text: `Please look at part ${i} of the code and make it better.` };
  if (turn % 2 === 0) {
    const content = `export const value${i} = compute(${i});\n`.repeat(3);
    return { role: 'tool', toolCallId: `c${i - 1}`, toolName: 'read_file', content, isError: false };
  }
  const toolCalls = [{ id: `c${i}`, name: 'read_file', arguments: `{"path":"src/file${i}.ts"}` }];
  if (turn === 19)
    return { role: 'assistant', text: `Part ${i} is done.`, toolCalls: [], stopReason: 'stop' };
  return { role: 'assistant', text: '', toolCalls, stopReason: 'toolCalls' };
}

function grown(count: number): ConversationTree {
  const tree = new ConversationTree();
  for (let i = 0; i < count; i++) tree.append(messageAt(i));
  return tree;
}

/** The time of one append at the end of a tree, in microseconds. */
function appendTime(tree: ConversationTree): number {
  const times = 2_000;
  const before = tree.size;
  const started = performance.now();
  for (let i = 0; i < times; i++) tree.append(messageAt(before + i));
  return ((performance.now() - started) * 1_000) / times;
}

/** The time of a revert that abandons a short branch, in microseconds. Growing the next branch is not counted. */
function revertTime(tree: ConversationTree): number {
  const times = 200;
  let spent = 0;
  for (let i = 0; i < times; i++) {
    const target = tree.idAt(tree.messages.length - 1 - DISTANCE) ?? 0;
    const started = performance.now();
    tree.apply(validateRevert(tree, { category: null, target, summary: null, actor: 'human' }));
    spent += performance.now() - started;
    for (let n = 0; n < DISTANCE; n++) tree.append(messageAt(n + 1));
  }
  return (spent * 1_000) / times;
}

/** The time to compute the trunk after a switch to another branch of full length, in milliseconds. */
function trunkTime(tree: ConversationTree): number {
  const tip = tree.active;
  const go = (target: number | null): RevertRecord =>
    validateRevert(tree, { category: null, target, summary: null, actor: 'human' });
  tree.apply(go(null));
  const back: RevertRecord = { ...go(tip), abandonedNodeIds: [] };
  const started = performance.now();
  tree.apply(back);
  const length = tree.messages.length;
  const spent = performance.now() - started;
  if (length !== tree.size) throw new Error('The trunk is incomplete');
  return spent;
}

/** The time to find the branches that the History view lists, in milliseconds. */
function rowsTime(tree: ConversationTree): number {
  const started = performance.now();
  const branches = branchesOf(tree);
  const spent = performance.now() - started;
  if (branches.length === 0) throw new Error('There are no branches');
  return spent;
}

/** Writes a session with a revert after every hundred messages. */
function writeSession(folder: string, count: number): void {
  const entries: SessionLogEntry[] = [];
  const tree = new ConversationTree();
  for (let i = 0; tree.size < count; i++) {
    entries.push({ type: 'message', ...tree.append(messageAt(i)) });
    if (i % 100 !== 99) continue;
    const target = tree.idAt(tree.messages.length - 6) ?? 0;
    const record = validateRevert(tree, {
      category: 'tangent',
      target,
      summary: `Part ${i}.`,
      actor: 'human',
    });
    tree.apply(record);
    entries.push({ type: 'revert', record });
  }
  const lines = [{ log: 'redline.session', version: 1 }, ...entries].map(
    entry => `${JSON.stringify(entry)}\n`,
  );
  fs.writeFileSync(path.join(folder, `s${count}.jsonl`), lines.join(''));
}

export default async function run(bench: Bench): Promise<void> {
  // First, because a session is loaded by a process that has just started, with little else in memory.
  await measureLoading(bench);
  await measureTrees(bench);
}

async function measureLoading(bench: Bench): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-bench-'));
  try {
    for (const count of [LARGE, HUGE]) {
      writeSession(folder, count);
      const logs = new SessionLogs(folder);
      const size = fs.statSync(path.join(folder, `s${count}.jsonl`)).size;
      bench.fact(`bytes of ${count} nodes`, size);
      const worked: number[] = [];
      const load = async (): Promise<void> => {
        const { tree } = await logs.readAndRepair(`s${count}`, silentLogger);
        if (tree.size !== count) throw new Error(`${tree.size} nodes came back`);
      };
      const samples = await bench.interleaved(
        {
          load: async () => {
            const started = performance.now();
            const cpu = process.cpuUsage();
            await load();
            const { user, system } = process.cpuUsage(cpu);
            worked.push((user + system) / 1_000);
            return performance.now() - started;
          },
          wait: () => longestWait(load),
        },
        count === HUGE ? 2 : bench.rounds,
      );
      const limits = count === LARGE ? { load: LOAD_MS, wait: WAIT_MS } : {};
      bench.within(
        `load ${count} nodes from the file (${Math.round(size / 1e6)} MB)`,
        samples.load,
        limits.load,
      );
      bench.within(`CPU time of loading ${count} nodes`, worked);
      bench.within(`longest block while loading ${count} nodes`, samples.wait, limits.wait);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function measureTrees(bench: Bench): Promise<void> {
  const small = grown(SMALL);
  const large = grown(LARGE);
  const huge = grown(HUGE);
  for (const tree of [small, large]) appendTime(tree); // warms up
  const samples = await bench.interleaved({
    appendSmall: async () => appendTime(small),
    appendLarge: async () => appendTime(large),
    appendHuge: async () => appendTime(huge),
    revertSmall: async () => revertTime(small),
    revertLarge: async () => revertTime(large),
    revertHuge: async () => revertTime(huge),
    trunk: async () => trunkTime(grown(LARGE)),
    trunkAgain: async () => {
      const started = performance.now();
      const { length } = large.messages;
      if (length === 0) throw new Error('There is no trunk');
      return performance.now() - started;
    },
    rows: async () => rowsTime(large),
    request: async () => {
      const started = performance.now();
      renderTrunk(large, { markers: true });
      return performance.now() - started;
    },
  });
  const flat = (what: string, of: 'append' | 'revert'): void => {
    const at = (size: 'Small' | 'Large' | 'Huge'): number => median(samples[`${of}${size}`]);
    const ratio = at('Large') / at('Small');
    bench.row({
      what: `${what}, at ${LARGE} nodes`,
      value: `${at('Large').toFixed(2)} µs`,
      baseline: `at ${SMALL} nodes ${at('Small').toFixed(2)} µs`,
      ratio,
      limit: FLAT,
      met: ratio <= FLAT,
      samples: { small: samples[`${of}Small`], large: samples[`${of}Large`], huge: samples[`${of}Huge`] },
    });
  };
  flat('append', 'append');
  flat(`revert over ${DISTANCE} nodes`, 'revert');
  bench.within(`trunk of ${LARGE} nodes, cached`, samples.trunkAgain, TRUNK_MS);
  bench.within(`trunk of ${LARGE} nodes, recomputed after a switch`, samples.trunk);
  bench.within(`rows of the History view of ${LARGE} nodes`, samples.rows, WAIT_MS);
  bench.within(`request of ${LARGE} nodes with markers`, samples.request);
}
