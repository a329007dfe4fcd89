/**
 * The engine alone in a plain process: for each request that its parent sends, it searches and answers with the figures.
 * `bench/host/staging.ts` starts it.
 */
import { measure, requestFor, startEngine, type Measured } from './engine.ts';

export interface EngineRequest {
  readonly folder: string;
  readonly pat: string;
  readonly out: string;
}

/** With the processor time of the process meanwhile, in milliseconds. */
export type EngineAnswer = Measured & { readonly cpu: number };

const engine = startEngine();
process.on('message', ({ folder, pat, out }: EngineRequest) => {
  const before = process.cpuUsage();
  void measure(engine, requestFor(folder, pat, out)).then(measured => {
    const { user, system } = process.cpuUsage(before);
    process.send?.({ ...measured, cpu: (user + system) / 1e3 } satisfies EngineAnswer);
  });
});
process.on('disconnect', () => engine.dispose());
