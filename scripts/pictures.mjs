/**
 * `npm run pictures`: packages Redline, and takes the pictures of the README and of the walkthrough in a headless VS Code
 * (Linux x64). `-- film` and `-- walkthrough` take only those.
 */
import * as fs from 'node:fs';
import { bootstrap } from './lib/bootstrap.mjs';
import { inRepo } from './lib/paths.mjs';

await bootstrap();
const { cleanUp, isEnding } = await import('./lib/cleanup.mjs');
const { build } = await import('./stages/build.mjs');
const { takeReviewFilm } = await import('./pictures/reviewFilm.mjs');
const { takeWalkthroughPictures } = await import('./pictures/walkthroughPictures.mjs');

const kinds = {
  film: async () => save('docs/images/review.gif', await takeReviewFilm()),
  walkthrough: async () => {
    for (const [name, picture] of await takeWalkthroughPictures()) save(`media/walkthrough/${name}`, picture);
  },
};
const wanted = process.argv.slice(2);

try {
  const unknown = wanted.filter(name => !Object.hasOwn(kinds, name));
  if (unknown.length > 0) throw new Error(`There are no pictures ${unknown.join(', ')}.`);
  if ((await build()).failed > 0) throw new Error('Redline could not be packaged.');
  for (const name of wanted.length > 0 ? wanted : Object.keys(kinds)) await kinds[name]();
} catch (error) {
  process.exitCode = 1;
  if (!isEnding()) console.error(error);
}
await cleanUp();
process.exit();

function save(file, bytes) {
  fs.writeFileSync(inRepo(file), bytes);
  console.log(`${file}: ${Math.round(bytes.length / 1000)} kB`);
}
