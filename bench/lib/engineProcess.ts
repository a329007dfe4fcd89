/**
 * The engine alone in a plain process, or the ast-grep CLI: for each request that its parent sends, it searches and answers with the
 * figures. `bench/host/staging.ts` starts it.
 */
import { cliFind } from './astGrepCli.ts';
import { measure, requestFor, startEngine, type Measured } from './engine.ts';

export interface EngineRequest {
  readonly folder: string;
  readonly pat: string;
  readonly out: string;
  /** Whether the CLI searches. */
  readonly isCli: boolean;
}

/** With the processor time of the process meanwhile, in milliseconds. */
export type EngineAnswer = Measured & { readonly cpu: number };

const engine = startEngine();
process.on('message', ({ folder, pat, out, isCli }: EngineRequest) => {
  const before = process.cpuUsage();
  void (isCli ? measureCli(folder, pat, out) : measure(engine, requestFor(folder, pat, out))).then(
    measured => {
      const { user, system } = process.cpuUsage(before);
      process.send?.({ ...measured, cpu: (user + system) / 1e3 } satisfies EngineAnswer);
    },
  );
});
process.on('disconnect', () => engine.dispose());

async function measureCli(folder: string, pat: string, out: string): Promise<Measured> {
  const started = performance.now();
  await cliFind(pat, out, folder);
  return {
    total: performance.now() - started,
    first: undefined,
    files: Number.NaN,
    replacements: Number.NaN,
  };
}
