#!/usr/bin/env node
/**
 * The agent of the moving picture: a program that knows nothing of Redline. It is asked once, writes three files of the project of the
 * tour with Node's own functions, waits until REDLINE.md has the user's decision, and repeats it.
 */
import * as fs from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;
const RECEIPT_TEST = `
test('the receipt ends with the total, in euros', () => {
  const cup = { name: 'cup', price: 950, quantity: 1 };
  assert.match(receipt([cup]), /€ 9\\.50$/);
});
`;

const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: 'agent › ' });
lines.prompt();
await new Promise(resolve => lines.once('line', resolve));

edit('src/cart.js', text =>
  text
    .replace('sum += item.price;', 'sum += item.price * item.quantity;')
    .replace('`Total: ', '`Grand total: '),
);
edit('src/money.js', text =>
  text.replace('return (cents / 100).toFixed(2);', 'return `€ ${(cents / 100).toFixed(2)}`;'),
);
edit('test/cart.test.js', text =>
  text.replace('import { total }', 'import { receipt, total }').concat(RECEIPT_TEST),
);
console.log('\nDone: 3 files.');

const refused = await told(/: refused\. Reason: (.+)$/m);
console.log(`\nYou refused a part: “${refused}” I leave it as it was.`);
// It stays, as an agent does that waits for the next task.
await new Promise(resolve => lines.once('close', resolve));

function edit(file, change) {
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));
  console.log(`● edited ${file}`);
}

/** Waits until REDLINE.md says it. */
async function told(pattern) {
  for (;;) {
    const text = fs.existsSync('REDLINE.md') ? fs.readFileSync('REDLINE.md', 'utf8') : '';
    const [, found] = pattern.exec(text) ?? [];
    if (found !== undefined) return found;
    await delay(POLL_MS);
  }
}
