/**
 * One turn of a session: from the model's call of `read_file` to the next request, beside a loop that is written with nothing
 * but the `openai` package, on the same server. Then a session of thousands of turns: time, memory and handles. Medians.
 * `npm run bench -- turn`
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { english } from '../src/agent/base/localiser.ts';
import { silentLogger } from '../src/agent/base/logger.ts';
import { SessionLogs } from '../src/agent/session/conversation/storage/sessionLogs.ts';
import { createOpenAiProvider } from '../src/agent/session/model/openai/provider.ts';
import { ToolChoiceLadder } from '../src/agent/session/model/toolChoiceLadder.ts';
import { Overlay } from '../src/agent/hold/preview/overlay.ts';
import { openPreviewLog } from '../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../src/agent/hold/preview/resolve/invoker.ts';
import { Session } from '../src/agent/session/session.ts';
import { builtInTools } from '../src/agent/session/tools/builtIn.ts';
import { DiskWorkspace } from '../test/support/diskWorkspace.ts';
import { bareSession } from './lib/bareSession.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import type { TurnServer } from './lib/turnClient.ts';
import { startTurnServer } from './lib/turnServer.ts';

/** How many turns one sample consists of. */
const TURNS = 100;
/** The most that a turn may take, in turns of the bare client. */
const RATIO = 1.5;
/** How many turns the long session has, and the number of turns of one prompt of it. */
const LONG = 10_000;
const PER_PROMPT = 20;
/** The context window of the long session, in tokens: its requests stay below it, however long it lasts. */
const WINDOW = 16_000;
/** The last turns may take at most this many times as long as the first. */
const FLAT = 1.3;
/** The conversation itself is kept in memory. One turn of it may take at most this much, in KB. */
const PER_TURN_KB = 4;
const CONTENT = 'export const value = compute();\n'.repeat(30);

export default async function run(bench: Bench): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-bench-'));
  const server = await startTurnServer();
  try {
    await compare(bench, root, server);
    await last(bench, root, server);
  } finally {
    await server.close();
    fs.rmSync(root, { recursive: true });
  }
}

async function compare(bench: Bench, root: string, server: TurnServer): Promise<void> {
  const folder = workspaceIn(root);
  let n = 0;
  const sample = async (work: () => Promise<unknown>): Promise<number> => {
    await server.expect(TURNS);
    await work();
    const turns = await server.turns();
    if (turns.length !== TURNS) throw new Error(`${turns.length} turns instead of ${TURNS}`);
    return median(turns);
  };
  const ours = async (): Promise<number> => {
    const session = sessionIn(root, folder, server, `s${++n}`);
    const result = await sample(() => session.prompt('Read it.'));
    session.dispose();
    return result;
  };
  const bare = (): Promise<number> => sample(() => bareSession(folder, server.baseUrl));
  await bare(); // both load their code first
  await ours();
  const samples = await bench.interleaved({ bare, ours }, bench.rounds * 5);
  const openai = { name: 'bare openai', times: samples.bare };
  bench.against('a turn with one read_file', samples.ours, openai, RATIO);
}

async function last(bench: Bench, root: string, server: TurnServer): Promise<void> {
  const session = sessionIn(root, workspaceIn(root), server, 'long', WINDOW);
  const times: number[] = [];
  let heap = 0;
  let handles = 0;
  for (let turn = 0; turn < LONG; turn += PER_PROMPT) {
    await server.expect(PER_PROMPT);
    await session.prompt(`Read it again, please: part ${turn}.`);
    times.push(median(await server.turns()));
    if (turn !== LONG / 10) continue;
    heap = await heapUsed();
    handles = process.getActiveResourcesInfo().length;
  }
  const part = times.length / 10;
  const [first, end] = [median(times.slice(part, 2 * part)), median(times.slice(-part))];
  bench.row({
    what: `a turn at the end of ${LONG} turns`,
    value: milliseconds(end),
    baseline: `after ${LONG * 0.1} turns ${milliseconds(first)}`,
    ratio: end / first,
    limit: FLAT,
    met: end / first <= FLAT,
    samples: { all: times },
  });
  const grown = ((await heapUsed()) - heap) / (LONG * 0.9) / 1_000;
  bench.row({
    what: 'memory that a turn leaves, its conversation',
    value: `${grown.toFixed(1)} KB`,
    target: `≤ ${PER_TURN_KB} KB`,
    met: grown <= PER_TURN_KB,
  });
  const more = process.getActiveResourcesInfo().length - handles;
  bench.row({
    what: 'handles and timers that are left of them',
    value: `${Math.max(0, more)}`,
    target: '0',
    met: more <= 0,
  });
  session.dispose();
}

/** The heap after everything that can be freed is. */
async function heapUsed(): Promise<number> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  return process.memoryUsage().heapUsed;
}

function workspaceIn(root: string): string {
  const folder = path.join(root, 'workspace');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'a.ts'), CONTENT);
  return folder;
}

/** A session as in the extension, with its logs on disk. */
function sessionIn(root: string, folder: string, server: TurnServer, name: string, window = 0): Session {
  const fail = (error: unknown): never => {
    throw error;
  };
  const store = new PreviewStore(openPreviewLog(path.join(root, name, 'previews.jsonl')), fail);
  const workspace = new DiskWorkspace(folder);
  const invoker = new Invoker(store, workspace, () => 'recommend');
  const logs = new SessionLogs(path.join(root, name));
  const provider = createOpenAiProvider({
    baseUrl: server.baseUrl,
    apiKey: () => Promise.resolve('key'),
    model: 'm',
    logger: silentLogger,
    contextWindow: () => window,
  });
  return new Session({
    store,
    invoker,
    tools: builtInTools(),
    workspace,
    overlay: new Overlay(store),
    l10n: english,
    ladder: new ToolChoiceLadder(new Map()),
    logger: silentLogger,
    settings: () => ({
      modelAuthority: 'recommend',
      order: 'newestFirst',
      forcing: 'forced',
      continueAfterReview: true,
      revertEnabled: false,
    }),
    providerFor: () => provider,
    readInstructions: () => Promise.resolve([]),
    logFor: id => logs.open(id),
  });
}
