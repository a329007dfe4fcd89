import { format } from './money';

export interface Item {
  name: string;
  price: number;
  quantity: number;
}

/** What the customer pays, in cents. */
export function total(items: Item[]): number {
  let total = 0;
  for (const item of items) {
    total += item.price;
  }
  return total;
}

export function receipt(items: Item[]): string {
  const lines = items.map(item => `${item.name}: ${format(item.price)}`);
  console.log('receipt', items.length);
  return [...lines, `Total: ${format(total(items))}`].join('\n');
}
