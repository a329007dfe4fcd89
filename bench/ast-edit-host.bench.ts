/**
 * One replacement in each of 5,000 files in a real VS Code: how long preview and apply take when a user does them, and for
 * how long they block the extension host's thread at most. `npm run bench -- ast-edit-host`
 */
import { build } from 'esbuild';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { cleanUp, temporaryFolder } from '../scripts/lib/cleanup.mjs';
import { runNode } from '../scripts/lib/command.mjs';
import { runInExtensionHost } from '../scripts/lib/extensionHost.mjs';
import { inRepo } from '../scripts/lib/paths.mjs';
import type { HostFigures } from './host/structuralEdit.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { fiveThousandFiles } from './lib/fiveThousandFiles.ts';

export default async function astEditHost(bench: Bench): Promise<void> {
  if ((await runNode([inRepo('esbuild.mjs')])) !== 0) throw new Error('The build failed.');
  const scratch = temporaryFolder('redline-bench-');
  try {
    const workspace = path.join(scratch, 'workspace');
    await fiveThousandFiles(workspace);
    const figures = await measureInHost(scratch, workspace, bench.rounds);
    bench.say(`${figures.label}, chat and tree visible`);
    bench.row({ what: 'from /replace to the preview', value: milliseconds(median(figures.preview)) });
    bench.row({ what: 'from Apply to applied', value: milliseconds(median(figures.apply)) });
    const blocks = [
      ['while searching and staging', figures.previewBlock],
      ['while applying', figures.applyBlock],
    ] as const;
    for (const [when, samples] of blocks) {
      bench.row({
        what: `longest block of the extension host ${when}`,
        value: milliseconds(median(samples)),
        target: '≤ 50 ms',
        met: median(samples) <= 50,
        samples: { samples },
      });
    }
    bench.row({ what: 'the same while idle', value: milliseconds(median(figures.idleBlock)) });
  } finally {
    await cleanUp();
  }
}

async function measureInHost(scratch: string, workspace: string, rounds: number): Promise<HostFigures> {
  const suite = path.join(scratch, 'suite.cjs');
  const file = path.join(scratch, 'figures.json');
  await build({
    entryPoints: [inRepo('bench', 'host', 'structuralEdit.ts')],
    outfile: suite,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['vscode'],
  });
  await runInExtensionHost({
    suite,
    workspace,
    env: { REDLINE_BENCH_ROUNDS: String(rounds), REDLINE_BENCH_FIGURES: file },
  });
  return JSON.parse(fs.readFileSync(file, 'utf8')) as HostFigures;
}
