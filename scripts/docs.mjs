/** `npm run docs`: writes the parts of docs/ that are made from the source. A unit test fails while they are stale. */
import * as fs from 'node:fs';
import { bootstrap } from './lib/bootstrap.mjs';
import { inRepo } from './lib/paths.mjs';

await bootstrap();
const { generatedPages, withGenerated } = await import('./pages/generatedPages.mjs');

for (const [page, makePart] of Object.entries(generatedPages)) {
  const before = fs.readFileSync(inRepo(page), 'utf8');
  const after = await withGenerated(before, makePart);
  if (after !== before) fs.writeFileSync(inRepo(page), after);
  console.log(`${page}: ${after === before ? 'is up to date' : 'written'}`);
}
