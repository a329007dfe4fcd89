/** `npm run package`: builds the extension and packages it as out/redline.vsix. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { build } = await import('./stages/build.mjs');
process.exitCode = (await build()).failed;
