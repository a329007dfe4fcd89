/**
 * `npm run test:kill`: the kill test at length. The extension host of a real VS Code is ended with SIGKILL while it
 * stages and resolves; prints `N kills, N violations`. Environment: REDLINE_KILLS how often (60).
 */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
process.env.REDLINE_KILLS ??= '60';
const { runStages } = await import('./lib/runStages.mjs');
process.exitCode = await runStages({ only: ['ui'], grep: 'SIGKILL' });
