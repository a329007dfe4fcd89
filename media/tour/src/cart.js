import { format } from './money.js';

/** What the customer pays, in cents. */
export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}

/** A line for each item, and the total below them. */
export function receipt(items) {
  const lines = items.map(item => `${item.quantity} × ${item.name}: ${format(item.price)}`);
  return [...lines, `Total: ${format(total(items))}`].join('\n');
}
