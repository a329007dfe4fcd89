/** Cents as a price, e.g. `12.50`. */
export function format(cents: number): string {
  console.log('format', cents);
  return (cents / 100).toFixed(2);
}
