/** Names previews that land together: `p1–p3` where they follow each other, else `p1, p3`. */
export function chainText(previews: readonly { readonly id: string }[]): string {
  const numbers = previews.map(({ id }) => Number(id.slice(1)));
  const [first] = previews;
  const last = previews.at(-1);
  const follow = numbers.every((number, i) => i === 0 || number === (numbers[i - 1] ?? 0) + 1);
  if (first && last && previews.length > 2 && follow) return `${first.id}–${last.id}`;
  return previews.map(({ id }) => id).join(', ');
}
