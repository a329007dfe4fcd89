/** Alternatives of a glob: those of `{src/**,*.md}`; else the glob alone. */
export function choicesOf(glob: string): readonly string[] {
  const chars = [...glob];
  const found = chars[0] === '{' ? choicesAt(chars, 0) : undefined;
  if (found?.end !== chars.length) return [glob];
  return found.choices.map(each => each.join('')).filter(each => each !== '');
}

/** The sequences of the braces that begin at a place; `undefined` if they do not end. */
export function choicesAt(
  glob: readonly string[],
  open: number,
): { readonly choices: readonly (readonly string[])[]; readonly end: number } | undefined {
  const choices: (readonly string[])[] = [];
  let [depth, start] = [0, open + 1];
  for (let at = open; at < glob.length; at++) {
    if (glob[at] === '[') at = (classEnd(glob, at) ?? at + 1) - 1;
    else if (glob[at] === '{') depth++;
    else if (glob[at] === ',' && depth === 1) {
      choices.push(glob.slice(start, at));
      start = at + 1;
    } else if (glob[at] === '}' && --depth === 0) {
      return { choices: [...choices, glob.slice(start, at)], end: at + 1 };
    }
  }
  return undefined;
}

/** End of the class that begins with a bracket; `undefined` if none does. */
export function classEnd(glob: readonly string[], at: number): number | undefined {
  const first = at + (glob[at + 1] === '!' || glob[at + 1] === '^' ? 2 : 1);
  const close = glob.indexOf(']', first + 1);
  return close < 0 || glob.slice(first, close).includes('/') ? undefined : close + 1;
}
