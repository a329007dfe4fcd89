/** Measurements that a script takes inside the extension host of a real VS Code. */
import { build } from 'esbuild';
import { mkdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { cleanUp, temporaryFolder } from '../../scripts/lib/cleanup.mjs';
import { runNode } from '../../scripts/lib/command.mjs';
import { runInExtensionHost } from '../../scripts/lib/extensionHost.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';

export interface HostMeasurement {
  /** The script in bench/host. It writes its figures as JSON to the file that `REDLINE_BENCH_FIGURES` names. */
  readonly script: string;
  /** How often it measures: its `REDLINE_BENCH_ROUNDS`. */
  readonly rounds: number;
  /** Makes the files of the workspace in its folder, which is empty. */
  readonly prepare?: (workspace: string) => unknown;
  /** Added to the environment of the host. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Builds Redline and the script, and runs it in a VS Code whose workspace is a temporary folder. Nothing of it is left behind.
 * @returns the figures
 * @throws when a build or the script fails
 */
export async function measureInHost<Figures>({
  script,
  rounds,
  prepare,
  env,
}: HostMeasurement): Promise<Figures> {
  if ((await runNode([inRepo('esbuild.mjs')])) !== 0) throw new Error('The build failed.');
  const scratch = temporaryFolder('redline-bench-');
  const [suite, file, workspace] = ['suite.cjs', 'figures.json', 'workspace'].map(name =>
    path.join(scratch, name),
  ) as [string, string, string];
  mkdirSync(workspace);
  try {
    await prepare?.(workspace);
    await build({
      entryPoints: [inRepo('bench', 'host', script)],
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
      env: { ...env, REDLINE_BENCH_ROUNDS: String(rounds), REDLINE_BENCH_FIGURES: file },
    });
    return JSON.parse(readFileSync(file, 'utf8')) as Figures;
  } finally {
    await cleanUp();
  }
}
