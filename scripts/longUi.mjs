/**
 * `npm run test:ui-long`: the long walks by the real buttons: every button and command, looks in four themes, history, custom
 * tools, hostile texts, manners. Builds nothing: run `npm run package` first.
 */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNodeTests } = await import('./lib/nodeTests.mjs');
const { failed } = await runNodeTests('ui-long', 'test/ui/long/*.test.ts', { concurrency: 1 });
process.exitCode = failed === 0 ? 0 : 1;
