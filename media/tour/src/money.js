/** Cents as a price, such as `12.50`. */
export function format(cents) {
  return (cents / 100).toFixed(2);
}
