/**
 * One replacement in each of 5,000 files in a real VS Code: how long preview and apply take when a user does them, and for
 * how long they block the extension host's thread at most. `npm run bench -- ast-edit-host`
 */
import type { HostFigures } from './host/structuralEdit.ts';
import { median, milliseconds, type Bench } from './lib/bench.ts';
import { fiveThousandFiles } from './lib/fiveThousandFiles.ts';
import { measureInHost } from './lib/inHost.ts';

export default async function astEditHost(bench: Bench): Promise<void> {
  const figures = await measureInHost<HostFigures>({
    script: 'structuralEdit.ts',
    rounds: bench.rounds,
    prepare: fiveThousandFiles,
  });
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
}
