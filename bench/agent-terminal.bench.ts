/**
 * An agent terminal on a large repository: how soon the agent starts, and how soon its terminal ends after it has changed many files.
 * `npm run bench -- agent-terminal`
 */
import * as fs from 'node:fs';
import { viewPace } from '../src/agent/clients/view/liveView.ts';
import { mountFor, type MountFor } from '../src/agent/sandbox/view/sandboxes.ts';
import { ViewWorld } from '../test/support/viewWorld.ts';
import type { Bench } from './lib/bench.ts';

const FILES = 20_000;
const CHANGED = 1_500;
const [START_MS, END_MS] = [5_000, 10_000];
const LINES = 'export const value = 1;\n'.repeat(40);
const CHANGE = `i=0; while [ $i -lt ${CHANGED} ]; do echo x >> $((i / 100))/$((i % 100)).ts; i=$((i+1)); done`;

export default async function run(bench: Bench): Promise<void> {
  const files = Object.fromEntries(
    Array.from({ length: FILES }, (_, n) => [`${Math.floor(n / 100)}/${n % 100}.ts`, LINES]),
  );
  for (const engine of ['auto', 'copy'] as const) {
    const folders = (): { name: string; fsPath: string }[] => [{ name: 'w', fsPath: world.root }];
    const mount = (): Promise<MountFor> => mountFor(folders(), world.storage, engine);
    const world: ViewWorld = await ViewWorld.create(files, { pace: viewPace, mount });
    try {
      fs.mkdirSync(world.storage, { recursive: true });
      const where = engine === 'copy' ? 'on a copy' : 'in an overlay';
      const found = (await mount()).engine;
      if (engine === 'auto' && found !== 'overlay') bench.say('There is no overlay here.');
      else await measure(bench, world, where);
    } finally {
      await world.remove();
    }
  }
}

async function measure(bench: Bench, world: ViewWorld, where: string): Promise<void> {
  const [starts, ends]: [number[], number[]] = [[], []];
  for (let round = 0; round < bench.rounds; round++) {
    let began = performance.now();
    const agent = world.start();
    await agent.run('true');
    starts.push(performance.now() - began);
    await agent.run(CHANGE);
    began = performance.now();
    await agent.exit();
    ends.push(performance.now() - began);
    const { open } = world.store;
    const all = [...open].reduce((count, { changes }) => count + (changes?.length ?? 0), 0);
    if (all !== CHANGED) throw new Error(`${all} files are proposed: ${agent.output}`);
    for (const { id } of [...open]) await world.vote(id, 'discard');
  }
  const count = (of: number): string => of.toLocaleString('en');
  const limits = where === 'on a copy' ? [] : [START_MS, END_MS];
  bench.within(`an agent terminal ${where} of ${count(FILES)} files starts`, starts, limits[0]);
  bench.within(`  and ends with ${count(CHANGED)} changed files`, ends, limits[1]);
}
