/** `npm run test:ui-long`: the long walks through the whole surface by the real buttons. Builds nothing: run `npm run package` first. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNodeTests } = await import('./lib/nodeTests.mjs');
const { failed } = await runNodeTests('ui-long', 'test/soak/{chatWork,exactChanges,reload,surface}.test.ts');
process.exitCode = failed === 0 ? 0 : 1;
