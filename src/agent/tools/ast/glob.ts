/**
 * A glob as a regular expression over paths with forward slashes: `*` and `?` within one name, `**` for any number of
 * folders, `{a,b}` and `[a-z]`, `[!a]`. It has to match the whole path.
 */
export function globToRegExp(glob: string): RegExp {
  let source = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const char = glob.charAt(at);
    if (char === '*' && glob[at + 1] === '*') {
      const begins = at === 0 || glob[at - 1] === '/';
      while (glob[at + 1] === '*') at++;
      if (begins && glob[at + 1] === '/') {
        source += '(?:[^/]+/)*';
        at++;
      } else source += begins && at === glob.length - 1 ? '.+' : '.*';
    } else if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const end = glob.indexOf(']', at + 2);
      if (end < 0) source += '\\[';
      else {
        const body = glob
          .slice(at + 1, end)
          .replace(/^!/, '^')
          .replace(/[\\[]/g, '\\$&');
        source += `[${body}]`;
        at = end;
      }
    } else if (char === '{' && glob.includes('}', at)) {
      source += '(?:';
      depth++;
    } else if (char === '}' && depth > 0) {
      source += ')';
      depth--;
    } else if (char === ',' && depth > 0) source += '|';
    else source += char.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
  }
  while (depth-- > 0) source += ')';
  return new RegExp(`^${source}$`);
}

/** Whether a path holds characters that make it a glob. */
export function isGlob(path: string): boolean {
  return /[*?{[]/.test(path);
}

/** The folder that all paths matching a glob lie in; empty for the top one. */
export function globBase(glob: string): string {
  const parts = glob.split('/');
  const fixed = parts.slice(0, -1);
  const end = fixed.findIndex(isGlob);
  return (end < 0 ? fixed : fixed.slice(0, end)).join('/');
}
