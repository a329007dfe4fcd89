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

const engine = startEngine();
process.on('message', ({ folder, pat, out }: EngineRequest) => {
  void measure(engine, requestFor(folder, pat, out)).then((measured: Measured) => process.send?.(measured));
});
process.on('disconnect', () => engine.dispose());
