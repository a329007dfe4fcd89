/**
 * What staging costs in a real VS Code: `ast_edit`, with chat and tree hidden, from the call to the result, beside the engine
 * alone in a plain process and the ast-grep CLI, in turn with them; and `edit_file` with both visible. Medians after a warm-up. `npm run bench -- staging`
 */
import { cpSync } from 'node:fs';
import { inRepo } from '../scripts/lib/paths.mjs';
import type { StagingFigures } from './host/staging.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { corpus } from './lib/corpus.ts';
import { measureInHost } from './lib/inHost.ts';

/** The most that a call may take, in searches of the engine alone. */
const RATIO = 1.3;
/** The most that it may take, in runs of the ast-grep CLI. */
const CLI_RATIO = 1.2;
/** The most that a call of `edit_file` may take, in milliseconds. */
const EDIT_FILE = 5;
/** The longest that the host may be blocked, in milliseconds. */
const BLOCK = 50;

export default async function staging(bench: Bench): Promise<void> {
  const { patterns, editFile, editFileAmongMany, blockAmongMany } = await measureInHost<StagingFigures>({
    script: 'staging.ts',
    rounds: bench.rounds,
    prepare: workspace => cpSync(corpus(bench.home).folder, workspace, { recursive: true }),
    env: {
      REDLINE_BENCH_NODE: process.execPath,
      REDLINE_BENCH_ENGINE: inRepo('bench', 'lib', 'engineProcess.ts'),
    },
  });
  for (const figures of patterns) reportPattern(bench, figures);
  bench.within('edit_file, from the call to the result', editFile, EDIT_FILE);
  bench.within('the same while 1,000 previews are pending', editFileAmongMany, EDIT_FILE);
  bench.within('  longest block of the extension host', [blockAmongMany], BLOCK);
}

function reportPattern(bench: Bench, { pat, label, ...samples }: StagingFigures['patterns'][number]): void {
  const engine = median(samples.engine);
  const part = median(samples.result) / engine;
  const value = `×${part.toFixed(2)} (${milliseconds(engine)}, ${milliseconds(median(samples.result))})`;
  const { staged, result, shown, first, engineFirst, block } = samples;
  bench.row({
    what: `${pat}: call → result, against the engine alone`,
    value,
    target: `≤ ×${RATIO}`,
    met: part <= RATIO,
    samples: { engine: samples.engine, result },
  });
  bench.say(`    ${label}`);
  if (samples.cli.length > 0)
    bench.against('  the same', result, { name: 'ast-grep CLI', times: samples.cli }, CLI_RATIO);
  const work = median(samples.engineCpu);
  const cpu = median(samples.cpu) / work;
  bench.row({
    what: '  the same, by processor time of the process',
    value: `×${cpu.toFixed(2)} (${milliseconds(work)}, ${milliseconds(median(samples.cpu))})`,
    target: `≤ ×${RATIO}`,
    met: cpu <= RATIO,
    samples: { engine: samples.engineCpu, call: samples.cpu },
  });
  if (shown.length > 0) {
    const whole = `×${(median(shown) / engine).toFixed(2)} (${milliseconds(median(shown))})`;
    bench.row({ what: '  the same with chat and tree visible', value: whole, samples: { shown } });
  }
  if (staged.length > 0) {
    bench.row({ what: '  call → staged', value: milliseconds(median(staged)), samples: { staged } });
    const early = `${milliseconds(median(first))} (the engine: ${milliseconds(median(engineFirst))})`;
    bench.row({ what: '  call → first files', value: early, samples: { first, engineFirst } });
  }
  bench.row({
    what: '  longest block of the extension host',
    value: milliseconds(median(block)),
    target: `≤ ${BLOCK} ms`,
    met: median(block) <= BLOCK,
    samples: { block },
  });
}
