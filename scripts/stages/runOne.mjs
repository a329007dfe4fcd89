/** Runs one stage, in a process of its own: `node runOne.mjs <module> <stage> <file for its counts> [grep]`. */
import * as fs from 'node:fs';
import { cleanUp } from '../lib/cleanup.mjs';

const [module, name, file, grep] = process.argv.slice(2);
const { [name]: stage } = await import(`./${module}.mjs`);
fs.writeFileSync(file, JSON.stringify(await stage({ grep })));
await cleanUp();
