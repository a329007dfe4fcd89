/** `node scripts/homeOfPackage.mjs <address>`: writes the addresses of the repository that publishes into package.json. */
import * as fs from 'node:fs';
import { inRepo } from './lib/paths.mjs';
import { withHome } from './packaging/homeOfPackage.mjs';

const file = inRepo('package.json');
const manifest = JSON.parse(fs.readFileSync(file, 'utf8'));
fs.writeFileSync(file, `${JSON.stringify(withHome(manifest, process.argv[2] ?? ''), null, 2)}\n`);
