/** `npm run pictures`: packages Redline, and takes the pictures of the walkthrough in a headless VS Code (Linux x64). */
import * as fs from 'node:fs';
import { bootstrap } from './lib/bootstrap.mjs';
import { inRepo } from './lib/paths.mjs';

await bootstrap();
const { cleanUp } = await import('./lib/cleanup.mjs');
const { build } = await import('./stages/build.mjs');
const { takePictures } = await import('./pictures/walkthrough.mjs');

try {
  if ((await build()).failed > 0) throw new Error('Redline could not be packaged.');
  for (const [name, bytes] of await takePictures()) {
    fs.writeFileSync(inRepo('media', 'walkthrough', name), bytes);
    console.log(`${name}: ${Math.round(bytes.length / 1000)} kB`);
  }
} finally {
  await cleanUp();
}
