/** The most names that a text for the model lists. */
const MOST = 20;

/** Names for a text for the model: `a, b and 3 more`. It can ask for more, and thousands would fill its context. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST).join(', ');
  return names.length > MOST ? `${shown} and ${names.length - MOST} more` : shown;
}
